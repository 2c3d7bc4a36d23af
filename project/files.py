"""Which files a project consists of, and reading one of them."""

import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from project.errors import Refused
from project.paths import checked
from project.translation import N_, _
from project.vocabulary import Skipped

if TYPE_CHECKING:
    from project.workspace import Workspace

#: Directories that hold other people's code.
VENDORED = frozenset(
    {
        "_vendor",
        "bower_components",
        "dist-packages",
        "node_modules",
        "site-packages",
        "third-party",
        "third_party",
        "thirdparty",
        "vendor",
        "vendored",
    }
)
_ENVIRONMENTS = frozenset({".conda", ".nox", ".tox", ".venv", "venv", "virtualenv"})
_CACHES = frozenset(
    {
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        "__pycache__",
    }
)
#: What is no part of the project and not worth a word.
_HIDDEN = frozenset({".bzr", ".cuda2mps", ".git", ".hg", ".jj", ".svn"})

_HEAD = 8192
#: Directories within each other that are looked at. What makes and removes directories calls
#: itself for each, and fails at a thousand.
_DEEPEST = 200
_REPOSITORY = N_("a repository of its own, such as a submodule")


def listed(workspace: "Workspace") -> tuple[list[str], list[Skipped]]:
    """The files to look at, and what was left out and why.

    Inside a git work tree: what git tracks and what is untracked and not ignored; elsewhere the
    whole directory. Only what lies in the workspace's scope, sorted. Trees that are left out
    (submodules, vendored code, virtual environments, excluded ones) are named once each; a scope
    inside a vendored tree is looked at all the same, since it was asked for.

    Raises:
        UserError: git fails.
    """
    left_out: dict[str, str] = {}
    paths: Sequence[str]
    if workspace.git is not None:
        paths = workspace.git.files()
        left_out.update((path, _(_REPOSITORY)) for path in workspace.git.submodules())
        environments = {
            folder for path in paths if (folder := path.removesuffix("/pyvenv.cfg")) != path
        }
        chosen = _Chooser(workspace.scope, workspace.config.exclude, environments)
    else:
        chosen = _Chooser(workspace.scope, workspace.config.exclude, set())
        paths = sorted(_walk(str(workspace.root), chosen, left_out))
    found = []
    for path in paths:
        skipped = chosen.tree(path) or _kind(workspace.root, path)
        if skipped is None:
            if chosen.in_scope(path):
                found.append(path)
        else:
            left_out.setdefault(skipped.path, skipped.reason)
    return found, [
        Skipped(path, reason) for path, reason in sorted(left_out.items()) if chosen.in_scope(path)
    ]


class _Chooser:
    """Which paths belong to what was asked for."""

    def __init__(self, scope: str, exclude: Sequence[str], environments: set[str]) -> None:
        self._scope = scope
        self._environments = environments
        self._exclude = _pattern(tuple(exclude)) if exclude else None
        self._trees: dict[str, Skipped | None] = {"": None}

    def in_scope(self, path: str) -> bool:
        return not self._scope or path == self._scope or path.startswith(self._scope + "/")

    def tree(self, path: str) -> Skipped | None:
        """The tree that the path is left out with, or itself when the settings exclude it."""
        known = self.folder(path.rpartition("/")[0])
        if known is None and self._exclude and self._exclude.fullmatch(path):
            return Skipped(path, _("excluded by the configuration"))
        return known

    def folder(self, path: str) -> Skipped | None:
        """The tree that a directory is left out with: itself or one above it."""
        unknown = []
        while path not in self._trees:
            unknown.append(path)
            path = path.rpartition("/")[0]
        found = self._trees[path]
        for below in reversed(unknown):
            found = self._trees[below] = found or self._judge(below)
        return found

    def _judge(self, path: str) -> Skipped | None:
        if self._exclude and self._exclude.fullmatch(path):
            return Skipped(path, _("excluded by the configuration"))
        if self._scope == path or self._scope.startswith(path + "/"):
            return None
        if path.count("/") >= _DEEPEST:
            return Skipped(path, _("nested too deeply"))
        name = path.rpartition("/")[2].lower()
        if path in self._environments or name in _ENVIRONMENTS:
            return Skipped(path, _("a virtual environment"))
        if name in VENDORED:
            return Skipped(path, _("a vendored tree"))
        if name in _CACHES:
            return Skipped(path, _("a cache"))
        return None


def _kind(root: Path, path: str) -> Skipped | None:
    """Why a path is no file to look at; None when it is one."""
    try:
        mode = os.lstat(f"{root}/{path}").st_mode
    except OSError as error:
        return _unreadable(path, error)
    if stat.S_ISLNK(mode):
        return Skipped(path, _("a symbolic link"))
    return None if stat.S_ISREG(mode) else Skipped(path, _("not a regular file"))


def _walk(root: str, chosen: _Chooser, left_out: dict[str, str]) -> Iterator[str]:
    """Every file below a directory that git knows nothing of, following no link.

    What is left out is not even searched; it is added to ``left_out``.
    """
    # os.walk calls itself for every level, and a tree may have thousands.
    waiting = [""]
    while waiting:
        here = waiting.pop()
        try:
            with os.scandir(f"{root}/{here}") as entries:
                folders = {one.name: one.is_dir(follow_symlinks=False) for one in entries}
        except OSError as error:
            left_out[here] = _unreadable(here, error).reason
            continue
        reason = _own_tree(folders) if here else None
        if reason:
            left_out[here] = reason
            continue
        lead = f"{here}/" if here else ""
        for name, is_folder in folders.items():
            if name in _HIDDEN:
                continue
            skipped = chosen.folder(lead + name) if is_folder else None
            if skipped:
                left_out[skipped.path] = skipped.reason
            elif is_folder:
                waiting.append(lead + name)
            else:
                yield lead + name


def _own_tree(entries: Mapping[str, bool]) -> str | None:
    """Why a directory with these entries, and whether each is one, is no part of the project."""
    if ".git" in entries:
        return _(_REPOSITORY)
    if entries.get("pyvenv.cfg") is False or entries.get("conda-meta"):
        return _("a virtual environment")
    return None


@contextmanager
def opened(root: Path, path: str) -> Iterator[BinaryIO | Skipped]:
    """A file of the project, open for reading; or why it is not.

    Args:
        root: the project's directory.
        path: the file, relative to it.

    Never follows a link, and never waits on a pipe.
    """
    descriptor = _opened(root, path)
    if isinstance(descriptor, Skipped):
        yield descriptor
        return
    try:
        with open(descriptor, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(descriptor)


def read(root: Path, path: str, limit: int = 2_000_000) -> bytes | Skipped:
    """The content of a file of the project, read as :func:`opened` opens it.

    A file that is too large, binary (a NUL byte near its start, the test that git makes) or
    unreadable comes back as skipped, with the reason.
    """
    descriptor = _opened(root, path)
    if isinstance(descriptor, Skipped):
        return descriptor
    try:
        size = os.fstat(descriptor).st_size
        if size > limit:
            reason = _("larger than the limit: {size} of {limit} bytes")
            return Skipped(path, reason.format(size=size, limit=limit))
        # A system may give less than it was asked for, and a file may grow.
        data = os.read(descriptor, size)
        while len(data) < limit and (more := os.read(descriptor, min(limit - len(data), _HEAD))):
            data += more
    except OSError as error:
        return _unreadable(path, error)
    finally:
        os.close(descriptor)
    if data.find(b"\0", 0, _HEAD) >= 0:
        return Skipped(path, _("binary, or text in UTF-16"))
    return data


def _opened(root: Path, path: str) -> int | Skipped:
    """The descriptor of a regular file of the project."""
    try:
        descriptor = os.open(
            checked(os.fspath(root), path),
            os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC,
        )
    except Refused:
        return Skipped(path, _("outside the project, in .git or behind a symbolic link"))
    except OSError as error:
        return _unreadable(path, error)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return Skipped(path, _("not a regular file"))


def _unreadable(path: str, error: OSError) -> Skipped:
    return Skipped(path, _("unreadable: {reason}").format(reason=error.strerror))


@lru_cache(maxsize=8)
def _pattern(globs: tuple[str, ...]) -> re.Pattern[str]:
    """One expression for patterns of paths.

    `*` and `?` stay within a name, `**` crosses names, and a pattern without a slash in it means
    that name anywhere.
    """
    return re.compile("|".join(f"(?:{_translated(glob)})" for glob in globs), re.DOTALL)


_TOKEN = re.compile(r"(?:\*\*/)+|\*\*+|\*|\?|\[!?\]?[^\]/]*\]|.", re.DOTALL)


def _translated(glob: str) -> str:
    plain = glob.removeprefix("./").strip("/")
    if "/" not in plain:
        plain = "**/" + plain
    expression = "".join(_part(token.group()) for token in _TOKEN.finditer(plain))
    try:
        re.compile(expression)
    except re.error:  # a range such as [z-a]
        return re.escape(plain)
    return expression


def _part(token: str) -> str:
    if token.startswith("**"):
        return "(?:.*/)?" if token.endswith("/") else ".*"
    if token in ("*", "?"):
        return "[^/]" + token.replace("?", "")
    if len(token) > 1:
        inner = token[1:-1].replace("\\", r"\\").replace("[", r"\[")
        return f"(?!/)[{'^' + inner[1:] if inner.startswith('!') else inner}]"
    return re.escape(token)
