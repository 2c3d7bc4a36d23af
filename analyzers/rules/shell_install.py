"""E312: a command that installs what a Mac has not."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import ShellDocument
from analyzers.documents.shell_carriers import Carrier
from analyzers.environment import Trouble
from analyzers.installs import troubles
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"(?i:\bpip\w*|\b(?:uv|poetry|pdm|pipenv|conda|mamba|micromamba)\b)")


def find(document: ShellDocument) -> Iterator[Match]:
    """What pip, uv, poetry and conda are told to install, except behind a test for the machine."""
    for command in document.commands(_WORDS):
        wanted = list(troubles(command))
        if wanted and not document.guarded(command.start, command.end):
            for one in wanted:
                message, severity = _graded(document.carrier, one.trouble)
                yield Match(one.start, one.end, message, severity)


def _graded(carrier: Carrier, trouble: Trouble) -> tuple[str, Severity]:
    """Nothing stops a program where the step is only read, or runs inside a container or in CI."""
    milder = Severity.DEGRADES if trouble.severity is Severity.BLOCKS else Severity.COSMETIC
    if carrier is Carrier.INSTRUCTIONS:
        message = _("{trouble} These instructions need a variant for a Mac.")
        return message.format(trouble=trouble.message), milder
    if carrier is Carrier.CONTAINER:
        message = _("{trouble} In a container, which reaches no MPS on a Mac, it changes nothing.")
        return message.format(trouble=trouble.message), milder
    if carrier is Carrier.WORKFLOW:
        message = _("{trouble} Here a service's machine runs it.")
        return message.format(trouble=trouble.message), Severity.COSMETIC
    return trouble.message, trouble.severity


RULE = Rule(
    code="E312",
    name="shell-install",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(b"install", b"add", b"create", b"update"),
    what=N_("A command installs packages or builds that exist for CUDA alone."),
    why=N_(
        "pip and conda find nothing for a Mac under such a name, version or index; what comes as "
        "source stops for want of nvcc."
    ),
    advice=N_(
        "On a Mac install torch from the usual index, and leave the packages for CUDA to the CUDA "
        "machine. The index /whl/cpu is no trap: for a Mac it serves the usual wheel with MPS. If "
        "MPS is built but not available, look at the version of macOS, at Rosetta, and at the "
        "session (sandbox, virtual machine), not at the index."
    ),
    source="https://github.com/pytorch/pytorch/issues/167679",
    find=find,
    examples=(
        Example(
            path="setup.sh",
            text="""\
                pip install torch==2.1.0 --index-url https://download.pytorch.org/whl/cu121
                python3 -m pip install 'torch==2.0.1+cu118' -f https://download.pytorch.org/whl/torch_stable.html
                conda install -y pytorch pytorch-cuda=11.8 -c pytorch -c nvidia
                uv pip install flash-attn --no-build-isolation
                """,
            finds=(
                "--index-url https://download.pytorch.org/whl/cu121",
                "'torch==2.0.1+cu118'",
                "pytorch-cuda=11.8",
                "-c nvidia",
                "flash-attn",
            ),
        ),
        Example(
            path="Dockerfile",
            text="""\
                FROM python:3.11
                RUN pip install --no-cache-dir \\
                    # the build for the server
                    torch==2.1.0+cu121
                """,
            finds=("torch==2.1.0+cu121",),
        ),
        Example(
            path="README.md",
            text="""\
                pip install cupy-cuda12x
                ```
                pip install cupy-cuda12x
                ```
                """,
            finds=("cupy-cuda12x",),
        ),
        Example(
            path="setup.sh",
            text="""\
                python -m pip install torch --index-url https://download.pytorch.org/whl/cpu
                pip install torch==2.0.1+cpu torchvision -r requirements-cu118.txt
                python -c "import torch; print(torch.backends.mps.is_available())"
                """,
        ),
        Example(
            path="setup.sh",
            text="""\
                if [ "$DEVICE" = cuda ]; then
                  pip install torch --index-url https://download.pytorch.org/whl/cu121
                fi
                """,
        ),
        Example(
            path="setup.sh",
            text="""\
                pip uninstall -y triton
                echo pip install flash-attn
                # pip install flash-attn
                pip install "$CUDA_PACKAGE" ./nvidia-cu12
                """,
        ),
        Example(path="README.md", text="```python\npip install flash-attn\n```\n"),
    ),
)
