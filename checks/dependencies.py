"""What a project says that it depends on, read from its files and never by running them."""

import hashlib
import importlib
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from analyzers.documents.base import Source
from analyzers.documents.conda import CondaDocument
from analyzers.documents.requirements import Entry, Line, RequirementsDocument, parse
from project import files
from project.vocabulary import Skipped
from project.workspace import Workspace

_INSTALL_SCRIPTS = re.compile(
    r"(setup\.py|setup\.cfg|makefile|cmakelists\.txt|.*\.cmake|dockerfile(\..*)?|.*\.dockerfile"
    r"|(install|setup|build|env)[^/]*\.sh)$",
    re.IGNORECASE,
)
_LOCK_FILES = frozenset(
    {
        "conda-lock.yml",
        "pdm.lock",
        "pipfile.lock",
        "pixi.lock",
        "poetry.lock",
        "pylock.toml",
        "uv.lock",
    }
)
_NOT_PACKAGES = frozenset({"python", "pip"})
# Conda's name for a package whose distribution is called otherwise.
_CONDA_NAMES = {"pytorch": "torch"}
# What markers are asked about: a Mac, wherever this runs.
_MAC = {
    "os_name": "posix",
    "platform_machine": "arm64",
    "platform_system": "Darwin",
    "sys_platform": "darwin",
}


@dataclass(frozen=True, slots=True)
class Listing:
    """What was listed: package names as they are looked up, and the files that they come from."""

    packages: tuple[str, ...]
    files: tuple[str, ...]
    scripts: tuple[str, ...]
    locks: tuple[tuple[str, str], ...]


def listing(workspace: Workspace) -> Listing:
    """List the direct dependencies, install scripts and lock files (with their SHA-256).

    Requirement files, `[project]` in ``pyproject.toml`` and conda environments are read; an
    install script is named, not read. What a marker keeps away from a Mac is left out, and so
    are constraints, which ask for nothing.

    Raises:
        UserError: git fails.
    """
    packages: set[str] = set()
    read: list[str] = []
    scripts: list[str] = []
    locks: list[tuple[str, str]] = []
    for path in files.listed(workspace)[0]:
        name = PurePosixPath(path).name.lower()
        if name in _LOCK_FILES:
            data = files.read(workspace.root, path, limit=50_000_000)
            if not isinstance(data, Skipped):
                locks.append((path, hashlib.sha256(data).hexdigest()))
        elif _INSTALL_SCRIPTS.match(name):
            scripts.append(path)
        elif _speaks_of_packages(path, name):
            data = files.read(workspace.root, path)
            if not isinstance(data, Skipped):
                packages.update(map(canonicalize_name, _named(path, name, data)))
                read.append(path)
    return Listing(
        tuple(sorted(packages - _NOT_PACKAGES)), tuple(read), tuple(scripts), tuple(locks)
    )


def _speaks_of_packages(path: str, name: str) -> bool:
    return "constraint" not in name and (
        name == "pyproject.toml"
        or RequirementsDocument.accepts(path)
        or CondaDocument.accepts(path)
    )


def _wanted(requirements: Iterable[Requirement]) -> Iterator[str]:
    """The names that are asked for on a Mac; a marker that makes no sense keeps nothing away."""
    for one in requirements:
        try:
            wanted = one.marker is None or one.marker.evaluate({**_MAC, "extra": ""})
        except ValueError:
            wanted = True
        if wanted:
            yield one.name


def _named(path: str, name: str, data: bytes) -> Iterator[str]:
    """The packages that one file names; none from what cannot be read."""
    if name == "pyproject.toml":
        yield from _pyproject(data)
    elif RequirementsDocument.accepts(path):
        yield from _wanted(_requirements(parse(data)))
    else:
        try:
            document = CondaDocument(Source.of(path, data))
        except ValueError:
            return
        for package in document.packages():
            match = re.match(r"(?:[^:]*::)?([A-Za-z0-9._-]+)", package.value)
            if match is not None:
                yield _CONDA_NAMES.get(match[1].lower(), match[1])
        yield from _wanted(_requirements(document.pip_lines()))


def _requirements(lines: Iterable[Line]) -> Iterator[Requirement]:
    return (line.requirement for line in lines if isinstance(line, Entry))


def _pyproject(data: bytes) -> Iterator[str]:
    # The standard library has it from Python 3.11 on.
    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        project: Any = toml.loads(data.decode("utf-8")).get("project", {})
        texts = project.get("dependencies", [])
        yield from list(_wanted(map(Requirement, texts)))
    except (ValueError, RecursionError, AttributeError, TypeError, InvalidRequirement):
        return
