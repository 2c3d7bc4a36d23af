"""E323: a wheel in the project that no Mac can install."""

import re
from collections.abc import Iterator

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import listed
from analyzers.documents.requirements import requirement
from analyzers.environment import requirement_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MAC = re.compile(r"any\Z|macosx_.*_(?:arm64|universal2)\Z")
_CUDA_BUILD = re.compile(r"cu(?:da)?\d")


def find(document: BinaryDocument) -> Iterator[Match]:
    """The wheel, once, with what keeps it from a Mac."""
    try:
        name, version, _build, tags = parse_wheel_filename(document.path.rpartition("/")[2])
    except InvalidWheelFilename:
        return
    platforms = sorted({tag.platform for tag in tags})
    foreign = [] if any(_MAC.match(platform) for platform in platforms) else platforms
    asked = [*_unmet(f"{name}=={version}"), *_needs(document)]
    if _CUDA_BUILD.match(version.local or "") and not asked:
        asked.append(f"{name}=={version}")
    if asked:
        message = _("This wheel is for CUDA ({evidence}): on a Mac it cannot be used.")
        evidence, severity = listed(asked), Severity.BLOCKS
    elif foreign:
        message = _("pip on a Mac refuses this wheel: it is made for {evidence} alone.")
        evidence, severity = listed(foreign), Severity.DEGRADES
    else:
        return
    yield Match(0, 0, message.format(evidence=evidence), severity, text=evidence)


def _needs(document: BinaryDocument) -> Iterator[str]:
    """What it requires that no Mac can have, where the marker of the requirement holds there."""
    for text in document.all("requires"):
        yield from _unmet(text)


def _unmet(text: str) -> Iterator[str]:
    wanted = requirement(text)
    trouble = requirement_trouble(wanted) if wanted is not None else None
    if trouble is not None and trouble.severity is Severity.BLOCKS:
        yield text


RULE = Rule(
    code="E323",
    name="unusable-wheel",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"kind wheel",),
    what=N_("A wheel that lies in the project is for CUDA, or for another system than macOS."),
    why=N_(
        "pip installs a wheel only where one of its platform tags fits; one that fits everywhere "
        "still fails when it requires packages that exist for Linux alone."
    ),
    advice=N_(
        "Install the package from the index where it has a macOS wheel, or build it there; keep "
        'this file behind a marker such as sys_platform == "linux".'
    ),
    source="https://packaging.python.org/en/latest/specifications/binary-distribution-format/",
    find=find,
    examples=(
        Example(
            path="wheels/torch-2.1.0+cu118-cp310-cp310-linux_x86_64.whl",
            text="kind wheel\nrequires filelock\n",
            finds=("torch==2.1.0+cu118",),
        ),
        Example(
            path="wheels/mine-1.0-py3-none-any.whl",
            text="kind wheel\nrequires nvidia-cublas-cu12==12.4.5.8\nrequires numpy\n",
            finds=("nvidia-cublas-cu12==12.4.5.8",),
        ),
        Example(
            path="wheels/fast_ops-0.3-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            text="kind wheel\n",
            finds=("manylinux2014_x86_64, manylinux_2_17_x86_64",),
        ),
        Example(
            path="wheels/mine-1.0-py3-none-any.whl",
            text='kind wheel\nrequires nvidia-cublas-cu12; platform_system == "Linux"\nrequires torch\n',
        ),
        Example(path="wheels/mine-1.0-cp311-cp311-macosx_11_0_arm64.whl", text="kind wheel\n"),
        Example(
            path="wheels/barracuda-1.0-py3-none-any.whl", text="kind wheel\nrequires torch>=2\n"
        ),
    ),
)
