"""E332: an unofficial build of a framework with CUDA for macOS."""

import re
from collections.abc import Iterator

from analyzers.documents.prose import ProseDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_CLUES = re.compile(
    rb"(?i:(?:https?://)?(?:www\.)?github\.com/TomHeaven/(?:pytorch|tensorflow)-osx-build[\w./-]{0,80}|"
    rb"\bTomHeaven/(?:pytorch|tensorflow)-osx-build\b|"
    rb"\b(?:torch|tensorflow)[\w.+-]{0,40}cu(?:da)?\d+[\w.+-]{0,40}macosx[\w.]{1,40}\.whl|"
    rb"\b(?:torch|tensorflow)[\w.+-]{0,40}macosx[\w.+-]{0,40}cu(?:da)?\d+[\w.+-]{0,20}\.whl|"
    rb"\bpytorch-osx-build\b)|"
    rb"\bMACOSX_DEPLOYMENT_TARGET=10\.\d+[ \t]+CC=clang[ \t]+CXX=clang\+\+[ \t]+python[ \t]+setup\.py[ \t]+(?:install|develop)"
)


def find(document: ProseDocument) -> Iterator[Match]:
    """Links to such builds, their wheels, and the command that made them."""
    for clue in _CLUES.finditer(document.text):
        yield Match(
            clue.start(),
            clue.end(),
            _(
                "This is a build of its own for Intel Macs with an NVIDIA card, years older than "
                "MPS. On Apple silicon it does not run, and it brings no CUDA: install PyTorch "
                "from the usual index."
            ),
        )


RULE = Rule(
    code="E332",
    name="unofficial-cuda-build",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ProseDocument,
    triggers=(b"osx-build", b"macosx"),
    what=N_("Instructions point to an unofficial build of a framework with CUDA for macOS."),
    why=N_(
        "PyTorch never published a wheel for macOS with CUDA. Such builds come from one person, "
        "for x86_64, and need drivers that no current macOS loads."
    ),
    advice=N_("Name the official wheel, which has MPS from 1.12 on."),
    source="https://github.com/TomHeaven/pytorch-osx-build",
    find=find,
    examples=(
        Example(
            path="README.md",
            text="""\
                Get it from https://github.com/TomHeaven/pytorch-osx-build/releases or build it:
                MACOSX_DEPLOYMENT_TARGET=10.9 CC=clang CXX=clang++ python setup.py install
                """,
            finds=(
                "https://github.com/TomHeaven/pytorch-osx-build/releases",
                "MACOSX_DEPLOYMENT_TARGET=10.9 CC=clang CXX=clang++ python setup.py install",
            ),
        ),
        Example(
            path="install.sh",
            text="pip install torch-1.4.0+cu101-cp37-cp37m-macosx_10_9_x86_64.whl\n",
            finds=("torch-1.4.0+cu101-cp37-cp37m-macosx_10_9_x86_64.whl",),
        ),
        Example(path="README.md", text="torch-2.1.0-cp311-none-macosx_11_0_arm64.whl\n"),
        Example(path="README.md", text="torch-2.1.0+cu121-cp310-cp310-linux_x86_64.whl\n"),
        Example(
            path="build.sh", text="export MACOSX_DEPLOYMENT_TARGET=11.0\npython setup.py install\n"
        ),
    ),
)
