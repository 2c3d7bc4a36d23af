"""E309: a lock file that gives a Mac a package for CUDA."""

from collections.abc import Iterator

from analyzers.documents.locks import LockDocument
from analyzers.documents.requirements import requirement
from analyzers.environment import requirement_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: LockDocument) -> Iterator[Match]:
    """Locked packages that are reached on a Mac and that no Mac can use, each once."""
    for one in document.locked():
        wanted = requirement(f"{one.name}=={one.version}" if one.version else one.name)
        trouble = requirement_trouble(wanted) if wanted is not None else None
        if trouble is not None:
            message = _("{trouble} The lock file gives it to a Mac, too.")
            yield Match(
                one.start, one.end, message.format(trouble=trouble.message), trouble.severity
            )


RULE = Rule(
    code="E309",
    name="locked-cuda-package",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=LockDocument,
    triggers=(
        b"cu",
        b"triton",
        b"gpu",
        b"nvidia",
        b"flash",
        b"formers",
        b"tensorrt",
        b"apex",
        b"mamba",
        b"nvml",
        b"speed",
        b"torch",
        b"vllm",
    ),
    what=N_("A lock file holds a package or a build for CUDA, and no marker keeps it from a Mac."),
    why=N_(
        "The lock was made on Linux, or for Linux alone; installing from it on a Mac stops at the "
        "first package without a wheel."
    ),
    advice=N_(
        "Put a marker on the requirement that brings it, and lock again for all platforms, or keep "
        "a lock for each machine."
    ),
    source="https://docs.astral.sh/uv/concepts/resolution/#universal-resolution",
    find=find,
    examples=(
        Example(
            path="uv.lock",
            text="""\
                version = 1

                [[package]]
                name = "mine"
                version = "0.1.0"
                source = { editable = "." }
                dependencies = [
                    { name = "torch" },
                    { name = "flash-attn" },
                ]

                [[package]]
                name = "flash-attn"
                version = "2.7.0"

                [[package]]
                name = "torch"
                version = "2.6.0"
                dependencies = [
                    { name = "triton", marker = "sys_platform == 'linux'" },
                ]

                [[package]]
                name = "triton"
                version = "3.2.0"
                """,
            finds=("flash-attn",),
        ),
        Example(
            path="poetry.lock",
            text="""\
                [[package]]
                name = "torch"
                version = "2.1.0+cu118"

                [package.dependencies]
                filelock = "*"

                [[package]]
                name = "filelock"
                version = "3"
                """,
            finds=("torch",),
        ),
        Example(
            path="Pipfile.lock",
            text='{"default": {\n  "triton": {"version": "==3.1.0"},\n'
            '  "nvidia-nccl-cu12": {"markers": "sys_platform == \'linux\'", "version": "==2"}}}\n',
            finds=("triton",),
        ),
        Example(
            path="poetry.lock",
            text="""\
                [[package]]
                name = "torch"
                version = "2.1.0"

                [package.dependencies]
                triton = {version = "2.1.0", markers = "platform_system == \\"Linux\\""}

                [[package]]
                name = "triton"
                version = "2.1.0"
                """,
        ),
        Example(
            path="pdm.lock",
            text='[[package]]\nname = "triton"\nversion = "3"\nmarker = "sys_platform == \'linux\'"\n',
        ),
        Example(path="uv.lock", text='[[package]]\nname = "torch"\nversion = "2.1.0"\n'),
        Example(path="poetry.lock", text="this is no TOML: triton\n"),
    ),
)
