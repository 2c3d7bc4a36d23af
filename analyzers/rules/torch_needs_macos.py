"""E307: a release of PyTorch that asks for a newer macOS than the file names."""

import re
from collections.abc import Iterator

from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

from analyzers.documents.packages import PackagesDocument
from analyzers.documents.requirements import Entry
from analyzers.environment import is_older
from analyzers.markers import wanted_on_mac
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MACOS = re.compile(rb"(?i)\bmac\s?os(?:\s+(?:x|>=|[a-z]+))?\s+(\d{2})(?:\.(\d{1,9}))?\b")
#: Release of PyTorch, and the first macOS that its wheels run on.
_NEEDS = (("2.9", (14, 0)), ("2.5", (13, 0)), ("1.12", (12, 3)))


def find(document: PackagesDocument) -> Iterator[Match]:
    """Pins of torch whose wheel wants a newer macOS than one that the file speaks of."""
    named = [(int(one[1]), int(one[2] or 99)) for one in _MACOS.finditer(document.text)]
    named = [version for version in named if version >= (11, 0)]
    if not named:
        return
    oldest = min(named)
    for line in document.lines:
        if not isinstance(line, Entry) or canonicalize_name(line.requirement.name) != "torch":
            continue
        if not wanted_on_mac(line.requirement.marker):
            continue
        for release, needs in _NEEDS:
            floor = any(one.operator in ("==", ">=", "~=") for one in line.requirement.specifier)
            if floor and not _allows_older(line, release):
                if oldest < needs:
                    yield Match(line.start, line.end, _message(release, needs))
                break


def _allows_older(line: Entry, release: str) -> bool:
    below = [
        one
        for one in line.requirement.specifier
        if one.operator in ("==", ">=", "~=") and is_older(_pin(one.version), release)
    ]
    return bool(below)


def _pin(version: str) -> SpecifierSet:
    return SpecifierSet(f"=={version.partition('+')[0].removesuffix('.*')}")


def _message(release: str, needs: tuple[int, int]) -> str:
    return _(
        "From PyTorch {release} on the wheels want macOS {major}.{minor}, and this file speaks of "
        "an older one, where MPS is built and not available. The number in PyTorch's own message lags behind: take the newest release "
        "that fits (2.4 for macOS 12, 2.8 for macOS 13), or update macOS."
    ).format(release=release, major=needs[0], minor=needs[1])


RULE = Rule(
    code="E307",
    name="torch-needs-macos",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PackagesDocument,
    triggers=(b"macos", b"mac os"),
    what=N_("PyTorch is pinned to a release that wants a newer macOS than the file names."),
    why=N_(
        "The wheels of 1.12 to 2.4 run from macOS 12.3 on, those of 2.5 to 2.8 from 13.0, and "
        "those of 2.9 and later from 14.0; on an older one MPS is built and not available."
    ),
    advice=N_("Give a Mac the newest release that its macOS takes, by a line with a marker."),
    source="https://github.com/pytorch/pytorch/issues/139425",
    find=find,
    examples=(
        Example(
            path="requirements.txt",
            text="# tested on macOS 12.7.6, arm64\ntorch==2.5.1\n",
            finds=("torch==2.5.1",),
        ),
        Example(
            path="requirements.txt", text="# macOS 13.6\ntorch==2.9.0\n", finds=("torch==2.9.0",)
        ),
        Example(path="requirements.txt", text="# macOS 12.7\ntorch==2.4.1\n"),
        Example(path="requirements.txt", text="torch==2.9.0\n"),
        Example(path="requirements.txt", text="# macOS 14.2\ntorch==2.9.0\ntorchvision==0.24\n"),
        Example(path="requirements.txt", text="# macOS 12\ntorch>=1.13\n"),
    ),
)
