"""E302: an index of CUDA builds."""

from collections.abc import Iterator

from analyzers.documents.packages import PackagesDocument
from analyzers.documents.requirements import Option
from analyzers.environment import index_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_
from project.vocabulary import Fix, Severity


def find(document: PackagesDocument) -> Iterator[Match]:
    """Options that name an index or a page of builds for CUDA."""
    for line in document.lines:
        trouble = index_trouble(line) if isinstance(line, Option) else None
        if trouble is not None:
            yield Match(line.start, line.end, trouble.message, trouble.severity)


RULE = Rule(
    code="E302",
    name="cuda-wheel-index",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PackagesDocument,
    triggers=(b"cu1", b"cu8", b"cu9", b"cu-1", b"cu_1", b"cuda", b"nvidia"),
    what=N_("Packages are taken from an index that holds builds for CUDA."),
    why=N_(
        "Such an index has no wheel for a Mac. Beside the usual index it is only slow; in its "
        "place, or with a version that only it has, the installation fails."
    ),
    advice=N_(
        "Move the option into a requirements file for the CUDA machine. The index /whl/cpu is no "
        "trap on a Mac: it serves the usual wheel, MPS included."
    ),
    source="https://pytorch.org/get-started/locally/",
    find=find,
    examples=(
        Example(
            path="requirements.txt",
            text="""\
                --extra-index-url https://download.pytorch.org/whl/cu118
                -f https://data.pyg.org/whl/torch-2.1.0+cu121.html
                --index-url=https://pypi.nvidia.com
                torch
                """,
            finds=(
                "--extra-index-url https://download.pytorch.org/whl/cu118",
                "-f https://data.pyg.org/whl/torch-2.1.0+cu121.html",
                "--index-url=https://pypi.nvidia.com",
            ),
        ),
        Example(
            path="requirements.txt",
            text="--extra-index-url https://download.pytorch.org/whl/cpu\ntorch==2.0.1+cpu\n",
        ),
        Example(
            path="pyproject.toml",
            text="""\
                [[tool.uv.index]]
                name = "pytorch-cu121"
                url = "https://download.pytorch.org/whl/cu121"
                explicit = true
                [[tool.poetry.source]]
                name = "torch"
                url = "https://download.pytorch.org/whl/cu118"
                """,
            finds=(
                "https://download.pytorch.org/whl/cu121",
                "https://download.pytorch.org/whl/cu118",
            ),
        ),
        Example(
            path="pyproject.toml",
            text="""\
                [tool.uv.sources]
                torch = [{ index = "gpu", marker = "sys_platform == 'linux'" }]
                [[tool.uv.index]]
                name = "gpu"
                url = "https://download.pytorch.org/whl/cu121"
                explicit = true
                """,
        ),
        Example(path="requirements.txt", text="# -f https://download.pytorch.org/whl/cu113\n"),
        Example(path="requirements.txt", text="-f https://example.org/wheels/recu118d/\n"),
        Example(path="requirements.txt", text="-r requirements-cu118.txt\n"),
    ),
)
