"""Lock files: which packages a Mac would get from them.

A lock for every platform names packages that only Linux installs; what is asked is whether a
package is reached on a Mac, along the dependencies whose markers hold there.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from packaging.utils import canonicalize_name

from analyzers.documents import toml
from analyzers.documents.base import Document, name_of
from analyzers.documents.requirements import requirement
from analyzers.markers import marker_holds, wanted_on_mac
from project.translation import _


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of a lock that a Mac gets, and where its name stands."""

    name: str
    version: str
    start: int
    end: int


@dataclass(slots=True)
class _Package:
    name: str
    version: str
    wanted: bool = True
    root: bool = False
    #: Names that this package asks for on a Mac, and all that it asks for anywhere.
    needs: set[str] = field(default_factory=set)
    asks: set[str] = field(default_factory=set)


class LockDocument(Document):
    """A lock file of uv, Poetry, PDM, Pipenv, or of the standard."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """By its name."""
        return name_of(path) in _READERS

    @cached_property
    def _read(self) -> list[_Package] | None:
        name = name_of(self.path)
        try:
            text = self.text.decode("utf-8")
            data = json.loads(text) if name == "pipfile.lock" else toml.loads(text)
            return list(_READERS[name](data))
        except (ValueError, RecursionError, AttributeError, TypeError, KeyError):
            return None

    def locked(self) -> Iterator[Locked]:
        """The packages that a Mac gets, one of each name and version."""
        packages = self._read or []
        reached = _reached(packages)
        places = self._places()
        seen: set[tuple[str, str]] = set()
        for one in packages:
            key = (one.name, one.version)
            if one.name in reached and one.wanted and key not in seen and one.name in places:
                seen.add(key)
                start, end = places[one.name]
                yield Locked(one.name, one.version, start, end)

    def _places(self) -> dict[str, tuple[int, int]]:
        pattern = rb'(?m)^[ \t]*"([\w.-]+)":[ \t]*\{|^name = "([\w.-]+)"'
        found: dict[str, tuple[int, int]] = {}
        for match in re.finditer(pattern, self.text):
            group = 1 if match[1] is not None else 2
            found.setdefault(canonicalize_name(match[group].decode()), match.span(group))
        return found

    def problems(self) -> Sequence[str]:
        """That the lock could not be read, if so."""
        return (
            (_("This lock file is not in the form that its name says."),)
            if self._read is None
            else ()
        )


def _reached(packages: Sequence[_Package]) -> set[str]:
    """The names that are asked for on a Mac, from the roots on."""
    asked = {name for one in packages for name in one.asks}
    marked = any(one.root for one in packages)
    pending = [one.name for one in packages if (one.root if marked else one.name not in asked)]
    needs: dict[str, set[str]] = {}
    for one in packages:
        if one.wanted:
            needs.setdefault(one.name, set()).update(one.needs)
    reached = set(pending)
    while pending:
        for name in needs.get(pending.pop(), ()):
            if name not in reached:
                reached.add(name)
                pending.append(name)
    return reached


def _uv(data: Mapping[str, Any]) -> Iterator[_Package]:
    for row in data["package"]:
        source = row.get("source", {})
        markers = row.get("resolution-markers", [])
        one = _Package(
            canonicalize_name(row["name"]),
            row.get("version", ""),
            wanted=not markers or any(map(marker_holds, markers)),
            root=any(kind in source for kind in ("editable", "virtual", "directory")),
        )
        groups = [row.get("dependencies", [])]
        for kind in ("optional-dependencies", "dev-dependencies"):
            groups.extend(row.get(kind, {}).values())
        for dependency in (member for group in groups for member in group):
            _ask(one, dependency["name"], marker_holds(dependency.get("marker", "")))
        yield one


def _poetry(data: Mapping[str, Any]) -> Iterator[_Package]:
    for row in data["package"]:
        markers = row.get("markers", "")
        several = list(markers.values()) if isinstance(markers, dict) else [markers]
        one = _Package(
            canonicalize_name(row["name"]),
            row.get("version", ""),
            wanted=any(map(marker_holds, several)),
        )
        for name, wanted in row.get("dependencies", {}).items():
            choices = wanted if isinstance(wanted, list) else [wanted]
            holds = any(
                marker_holds(choice.get("markers", "")) if isinstance(choice, dict) else True
                for choice in choices
            )
            _ask(one, name, holds)
        yield one


def _pdm(data: Mapping[str, Any]) -> Iterator[_Package]:
    for row in data["package"]:
        one = _Package(
            canonicalize_name(row["name"]),
            row.get("version", ""),
            wanted=marker_holds(row.get("marker", "")),
        )
        for text in row.get("dependencies", []):
            wanted = requirement(text)
            if wanted is not None:
                _ask(one, wanted.name, wanted_on_mac(wanted.marker))
        yield one


def _standard(data: Mapping[str, Any]) -> Iterator[_Package]:
    for row in data["packages"]:
        yield _Package(
            canonicalize_name(row["name"]),
            row.get("version", ""),
            wanted=marker_holds(row.get("marker", "")),
        )


def _pipenv(data: Mapping[str, Any]) -> Iterator[_Package]:
    for group in ("default", "develop"):
        for name, row in data.get(group, {}).items():
            yield _Package(
                canonicalize_name(name),
                row.get("version", "").removeprefix("=="),
                wanted=marker_holds(row.get("markers", "")),
            )


def _ask(one: _Package, name: str, holds: bool) -> None:
    name = canonicalize_name(name)
    if name == one.name:
        return
    one.asks.add(name)
    if holds:
        one.needs.add(name)


_READERS: dict[str, Callable[[Mapping[str, Any]], Iterator[_Package]]] = {
    "uv.lock": _uv,
    "poetry.lock": _poetry,
    "pdm.lock": _pdm,
    "pylock.toml": _standard,
    "pipfile.lock": _pipenv,
}
