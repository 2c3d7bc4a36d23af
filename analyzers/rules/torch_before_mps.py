"""E306: a release of PyTorch that has no MPS yet."""

from collections.abc import Iterator

from packaging.utils import canonicalize_name

from analyzers.documents.packages import PackagesDocument
from analyzers.documents.requirements import Entry
from analyzers.environment import is_older
from analyzers.markers import wanted_on_mac
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PackagesDocument) -> Iterator[Match]:
    """Requirements that allow nothing but releases before 1.12."""
    for line in document.lines:
        if not isinstance(line, Entry) or canonicalize_name(line.requirement.name) != "torch":
            continue
        wanted = line.requirement
        if wanted_on_mac(wanted.marker) and is_older(wanted.specifier, "1.12"):
            yield Match(
                line.start,
                line.end,
                _(
                    "{wanted} predates MPS, which came with PyTorch 1.12: on a Mac the program "
                    "runs on the CPU, if this release installs at all."
                ).format(wanted=f"torch{wanted.specifier}"),
            )


RULE = Rule(
    code="E306",
    name="torch-before-mps",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PackagesDocument,
    triggers=(b"torch",),
    what=N_("PyTorch is pinned to a release without MPS."),
    why=N_(
        "torch.backends.mps came with 1.12, and most operators, autocast and bfloat16 later still."
    ),
    advice=N_(
        "Raise the pin, at least for a Mac (torch>=2.4; sys_platform == 'darwin'), and compare "
        "the numbers of both releases on the CUDA machine first."
    ),
    source="https://pytorch.org/blog/introducing-accelerated-pytorch-training-on-mac/",
    since="1.12",
    find=find,
    examples=(
        Example(
            path="requirements.txt",
            text="torch==1.7.1\nTorch<1.12\ntorch>=1.8,<=1.10.2\n",
            finds=("torch==1.7.1", "Torch<1.12", "torch>=1.8,<=1.10.2"),
        ),
        Example(
            path="pyproject.toml",
            text='[project]\ndependencies = ["torch==1.9.*"]\n',
            finds=("torch==1.9.*",),
        ),
        Example(path="requirements.txt", text="torch\ntorch>=1.7\ntorch==1.12.0\n"),
        Example(path="requirements.txt", text="torch==1.7.1; sys_platform == 'linux'\n"),
        Example(path="requirements.txt", text="torchmetrics==0.9\n# torch==1.7\ntorch!=1.7\n"),
    ),
)
