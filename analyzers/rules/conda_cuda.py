"""E303: a conda environment that asks for CUDA."""

import re
from collections.abc import Iterator

from analyzers.documents.conda import CondaDocument
from analyzers.documents.requirements import Option
from analyzers.environment import conda_trouble, index_trouble, line_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_PYTORCH = re.compile(r"(?:[\w./-]+::)?pytorch(?:-cpu)?\s*(?:<|=+)\s*(\d{1,9})\.(\d{1,9})")
_PLATFORMS = re.compile(rb"(?m)^[ \t]*(platforms):[ \t]*\r?\n((?:[ \t]*-[ \t]*[\w-]+[ \t]*\r?\n)+)")
#: What pixi locked for each platform; the first one is in the group.
_LOCKED = re.compile(rb"(?m)^[ \t]+(packages):[ \t]*\r?\n[ \t]+([\w-]+):[ \t]*\r?$")
_MAC = re.compile(rb"(?m)^[ \t]+osx-arm64:")
_CUDA = re.compile(rb"cuda|nvidia")
_PYTHON = re.compile(r"python\s*=+\s*(\d{1,9})\.(\d{1,9})(?:\.(\d{1,9}))?")


def find(document: CondaDocument) -> Iterator[Match]:
    """The channel of NVIDIA, CUDA packages, and pip's lines among the dependencies."""
    matches = [*_of_cuda(document), *_platforms(document)]
    for package in document.packages():
        message = _too_old(package.value, beside_cuda=bool(matches))
        if message is not None:
            matches.append(Match(package.start, package.end, message, Severity.DEGRADES))
    yield from sorted(matches, key=lambda match: match.start)


def _too_old(spec: str, beside_cuda: bool) -> str | None:
    """Pins that keep a Mac from MPS; an old Python is news only where the file is for CUDA."""
    pytorch = _PYTORCH.match(spec)
    if pytorch is not None and (int(pytorch[1]), int(pytorch[2])) < (1, 12):
        return _(
            "{spec} predates MPS, which came with PyTorch 1.12: where it installs at all, it runs "
            "on the CPU."
        ).format(spec=spec)
    python = _PYTHON.match(spec) if beside_cuda else None
    if python is None:
        return None
    version = int(python[1]), int(python[2]), int(python[3] or 99)
    if version >= (3, 8, 6):
        return None
    return _("{spec} has no build for osx-arm64: take Python 3.10 or newer on a Mac.").format(
        spec=spec
    )


def _platforms(document: CondaDocument) -> Iterator[Match]:
    """The list of platforms that a lock, or a file to be locked, is for, without Macs."""
    listed = _PLATFORMS.search(document.text) or _LOCKED.search(document.text)
    if listed is None or not document.says(_CUDA):
        return
    if b"osx-arm64" in listed[2] or (listed.re is _LOCKED and document.says(_MAC)):
        return
    yield Match(
        listed.start(1),
        listed.end(1),
        _(
            "This is locked with CUDA's packages and not for osx-arm64: nothing of it is installed "
            "on a Mac. Add the platform, and ask for CUDA's packages on Linux alone."
        ),
    )


def _of_cuda(document: CondaDocument) -> Iterator[Match]:
    for channel in document.channels():
        if channel.value.rstrip("/").rpartition("/")[2].lower() == "nvidia":
            yield Match(
                channel.start,
                channel.end,
                _("The channel nvidia serves CUDA's own packages: a Mac needs none of them."),
                Severity.COSMETIC,
            )
    for package in document.packages():
        trouble = conda_trouble(package.value)
        if trouble is not None:
            yield Match(package.start, package.end, trouble.message, trouble.severity)
    for line in document.pip_lines():
        trouble = index_trouble(line) if isinstance(line, Option) else line_trouble(line)
        if trouble is not None:
            yield Match(line.start, line.end, trouble.message, trouble.severity)


RULE = Rule(
    code="E303",
    name="conda-cuda",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=CondaDocument,
    triggers=(
        b"cuda",
        b"nvidia",
        b"cudnn",
        b"nccl",
        b"gpu",
        b"cutensor",
        b"libcu",
        b"libnv",
        b"libnpp",
        b"pip",
        b"pytorch",
    ),
    what=N_("A conda environment names CUDA's packages, builds or channel."),
    why=N_(
        "For osx-arm64 there are no such packages: the solver stops. Where somebody has loosened "
        "a pin until it resolves, the program stops at its first CUDA call instead."
    ),
    advice=N_(
        "Keep a file for the CUDA machine and one without these lines for a Mac, or use the "
        "selectors of conda-lock."
    ),
    source="https://docs.conda.io/projects/conda/en/stable/user-guide/tasks/manage-environments.html",
    find=find,
    examples=(
        Example(
            path="environment.yml",
            text="""\
                channels:
                  - pytorch
                  - nvidia
                dependencies:
                  - python=3.10
                  - pytorch=2.1
                  - pytorch-cuda=12.1
                  - conda-forge::cudatoolkit=11.3  # GPU
                  - "pytorch=1.13=py3.9_cuda11.7_cudnn8_0"
                  - pip:
                    - --extra-index-url https://download.pytorch.org/whl/cu118
                    - torch==2.0.1+cu118
                    - 'flash-attn'
                """,
            finds=(
                "nvidia",
                "pytorch-cuda=12.1",
                "conda-forge::cudatoolkit=11.3",
                "pytorch=1.13=py3.9_cuda11.7_cudnn8_0",
                "--extra-index-url https://download.pytorch.org/whl/cu118",
                "torch==2.0.1+cu118",
                "flash-attn",
            ),
        ),
        Example(
            path="environment.yaml",
            text="""\
                name: ldm
                dependencies:
                  - python=3.8.5
                  - pip=20.3
                  - cudatoolkit=9.0
                  - pytorch=1.11.0
                """,
            finds=("python=3.8.5", "cudatoolkit=9.0", "pytorch=1.11.0"),
        ),
        Example(
            path="conda-lock.yml",
            text="""\
                metadata:
                  platforms:
                  - linux-64
                package:
                - name: cudatoolkit
                  platform: linux-64
                """,
            finds=("platforms",),
        ),
        Example(
            path="pixi.lock",
            text="""\
                version: 6
                environments:
                  default:
                    channels:
                    - url: https://conda.anaconda.org/conda-forge/
                    packages:
                      linux-64:
                      - conda: https://conda.anaconda.org/conda-forge/noarch/cuda-version-12.6.conda
                """,
            finds=("packages",),
        ),
        Example(
            path="pixi.lock",
            text="""\
                environments:
                  default:
                    packages:
                      linux-64:
                      - conda: https://conda.anaconda.org/conda-forge/noarch/cuda-version-12.6.conda
                      osx-arm64:
                      - conda: https://conda.anaconda.org/conda-forge/osx-arm64/python-3.12.conda
                """,
        ),
        Example(
            path="conda-lock.yml",
            text="metadata:\n  platforms:\n  - linux-64\n  - osx-arm64\npackage:\n- name: cuda\n",
        ),
        Example(
            path="environment.yml",
            text="dependencies:\n  - python=3.8.5\n  - pytorch=1.13\n  - pytorch-lightning=1.6\n",
        ),
        Example(
            path="environment.yaml",
            text="""\
                channels: [conda-forge]
                dependencies:
                  - cudatoolkit=11.3  # [linux]
                  - pytorch
                  - pip:
                    - triton; sys_platform == "linux"
                    - bitsandbytes
                """,
        ),
        Example(
            path="environment.yml",
            text="""\
                name: cuda-nvidia
                # - cudatoolkit=11.3
                variables:
                  NOTE: cudatoolkit
                dependencies:
                  - numpy
                """,
        ),
        Example(path="conda.yml", text="dependencies:\n  - barracuda\n  - pip\n"),
    ),
)
