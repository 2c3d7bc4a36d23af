"""The one way to git.

A repository's configuration names programs that git would run: a file system monitor, filters,
hooks, text converters, diff tools, pagers. None of them may run while a project is only looked
at, so every call goes through :func:`_execute`, which takes them out of play.
"""

import os
import re
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from project.errors import UserError
from project.paths import inside, visible
from project.state import shown
from project.translation import _

#: What a caller's environment may say about git. Everything else there that begins with `GIT_`
#: is dropped: it could turn a call to another repository, index, configuration or program.
_KEPT = frozenset(
    {
        "GIT_CEILING_DIRECTORIES",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EXEC_PATH",
    }
)

#: Settings that outrank the repository's own.
_SETTINGS = (
    ("core.fsmonitor", "false"),
    ("core.hooksPath", os.devnull),
    ("core.attributesFile", os.devnull),
    ("core.pager", "cat"),
    ("core.editor", ":"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", ""),
    ("credential.helper", ""),
    ("commit.gpgSign", "false"),
    ("gpg.program", "false"),
    ("diff.external", ""),
    ("diff.ignoreSubmodules", "dirty"),
    ("diff.submodule", "short"),
    ("protocol.allow", "never"),
    ("status.submoduleSummary", "false"),
    ("submodule.recurse", "false"),
    # A commit is by whom the user's configuration names, not by a guess from the machine's name.
    ("user.useConfigOnly", "true"),
    ("i18n.commitEncoding", "UTF-8"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
)

_ENVIRONMENT = {
    "LC_ALL": "C",
    # Outranks `protocol.NAME.allow`, which the repository could set for itself.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
}

_PRIVATE = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

#: Commands that could call a diff tool or a text converter take these options.
_DIFFS = frozenset({"diff", "diff-files", "diff-index", "diff-tree", "log", "show"})

_DIFF = ("diff", "--no-index", "--no-prefix", "--no-color", "--no-renames", "--text")

#: What is switched off one by one, since only the repository knows the names. A submodule whose
#: content git looks into has settings of its own, which nothing here could reach.
_NAMED = {
    b"filter": (("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")),
    b"submodule": (("ignore", "dirty"),),
}
_NAMED_KEY = re.compile(rb"(filter|submodule)\.(.+)\.[^.]+", re.DOTALL)
_GITLINK = b"160000"


@dataclass(frozen=True)
class _Answer:
    status: int
    output: bytes
    complaint: str


@dataclass(frozen=True)
class Git:
    """A work tree and the git directory that belongs to it.

    ``top`` is the work tree's top level and ``directory`` its git directory (each linked work
    tree has its own), both absolute and resolved.
    """

    top: Path
    directory: Path

    @classmethod
    def discover(cls, path: Path) -> "Git | None":
        """The work tree that ``path`` lies in.

        None when git is not installed, when the path lies in no work tree, or when the work tree
        around it ignores it: then it is a project of its own that only happens to lie there.

        Raises:
            UserError: git refuses the repository (it belongs to another user, it is damaged).
        """
        if not _installed():
            return None
        path = path.resolve()
        answer = _execute(path, ["rev-parse", "--is-inside-work-tree", "--show-toplevel"])
        if answer.status:
            if _MISSING.search(answer.complaint):
                return None
            raise _complaint(path, answer)
        top = _path(answer.output.partition(b"\n")[2])
        # `core.worktree` could name any place, with or without the path inside.
        if not (path.is_relative_to(top) and os.path.lexists(top / ".git")):
            return None
        git = cls(top, _path(_ask(path, ["rev-parse", "--absolute-git-dir"])))
        return None if path != top and git._ignores(path) else git

    def _ignores(self, path: Path) -> bool:
        relative = path.relative_to(self.top).as_posix()
        return _execute(self.top, ["check-ignore", "--quiet", "--", f"./{relative}"]).status == 0

    @classmethod
    def create(cls, path: Path) -> "Git":
        """Make a repository of the directory ``path``, with one commit of all that is in it.

        Nothing of the user's own git configuration takes part.

        Raises:
            UserError: git is not installed, or fails.
        """
        _need_git()
        git = cls(path.resolve(), path.resolve() / ".git")
        identity = [("user.name", "cuda2mps"), ("user.email", "cuda2mps@example.invalid")]
        for arguments in (
            ["init", "--quiet", "--template=", "--initial-branch=main"],
            ["add", "--all"],
            ["commit", "--quiet", "--no-verify", "--allow-empty", "--message=Start"],
        ):
            _ask(git.top, arguments, settings=identity, environment=_PRIVATE)
        return git

    def run(
        self,
        *arguments: str,
        stdin: bytes | None = None,
        accept: tuple[int, ...] = (0,),
        index: Path | None = None,
    ) -> bytes:
        """Run a git command at the top of the work tree and return what it printed.

        Name the paths that `add` and `commit` are about: with `--all` or `--update` they look
        into submodules whatever the settings say, and so would run filters that those configure.

        Args:
            arguments: the command and its arguments; pass paths after ``--``.
            stdin: what it reads.
            accept: the exit statuses that are answers rather than errors.
            index: a file to use in place of the work tree's index.

        Raises:
            UserError: any other exit status, in git's own words.
        """
        if index is None:
            return _ask(self.top, arguments, stdin=stdin, accept=accept)
        return _ask(
            self.top,
            arguments,
            stdin=stdin,
            accept=accept,
            # A split index would leave a part of itself in the git directory.
            settings=[("core.splitIndex", "false")],
            environment={"GIT_INDEX_FILE": str(index)},
        )

    def files(self) -> list[str]:
        """The files that git tracks and those that are untracked and not ignored.

        Paths are relative to the top, sorted, without submodules, without repositories that lie
        inside this one, and without what is no longer there.
        """
        tracked, others = self._listing()
        found = {path for path, mode in tracked.items() if mode != _GITLINK}
        found.update(path for path in others if not path.endswith(b"/"))
        present = _Presence(self.top)
        return [os.fsdecode(path) for path in sorted(found) if present(os.fsdecode(path))]

    def submodules(self) -> list[str]:
        """The submodules, and untracked repositories inside this one."""
        tracked, others = self._listing()
        found = {path for path, mode in tracked.items() if mode == _GITLINK}
        found.update(path.rstrip(b"/") for path in others if path.endswith(b"/"))
        return [os.fsdecode(path) for path in sorted(found)]

    def _listing(self) -> tuple[dict[bytes, bytes], list[bytes]]:
        """Modes of tracked paths, and untracked paths (a repository's ends in a slash)."""
        tracked = {}
        for line in _records(self.run("ls-files", "-z", "--cached", "--stage")):
            facts, _tab, path = line.partition(b"\t")
            tracked[path] = facts.split(b" ", 1)[0]
        others = _records(self.run("ls-files", "-z", "--others", "--exclude-standard"))
        return tracked, others

    def head(self) -> str | None:
        """The commit that is checked out; None before the first one."""
        found = self.run("rev-parse", "--verify", "--quiet", "HEAD^{commit}", accept=(0, 1))
        return found.decode("ascii").strip() or None

    def branch(self) -> str | None:
        """The branch that is checked out; None when HEAD is detached."""
        found = self.run("symbolic-ref", "--quiet", "--short", "HEAD", accept=(0, 1))
        return os.fsdecode(found).strip() or None

    def is_dirty(self) -> bool:
        """Whether a tracked file differs from the last commit.

        No clean filter runs. A file that has one (Git LFS, say) and was touched since git last
        looked at it is therefore compared as it lies there, and counts as changed. Of a submodule
        only its commit counts.
        """
        return bool(
            self.run(
                "status",
                "-z",
                "--porcelain",
                "--no-renames",
                "--untracked-files=no",
                "--ignore-submodules=dirty",
            )
        )


def diff_trees(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    modes: Mapping[str, int],
    context: int = 3,
) -> bytes:
    """A git patch from one set of files to another, with paths in order.

    Args:
        before: the files, by path relative to the repository's top.
        after: the same afterwards; a path in one of them alone was added or removed.
        modes: file modes, of which only "may be executed" shows; without one it may not.
        context: how many unchanged lines to show around a change.

    git makes it in a private directory, so that no repository and no configuration has a say.
    Bytes are compared as they are, whatever they hold.

    Raises:
        UserError: git is not installed, or a path is not one that a repository can have.
    """
    _need_git()
    paths = before.keys() | after.keys()
    changed = sorted(os.fsencode(path) for path in paths if before.get(path) != after.get(path))
    if not changed:
        return b""
    with tempfile.TemporaryDirectory(prefix="cuda2mps-") as name:
        folder = Path(name).resolve()
        for side, files in (("a", before), ("b", after)):
            (folder / side).mkdir()
            for path in map(os.fsdecode, changed):
                if path in files:
                    _lay(folder / side, path, files[path], modes.get(path, 0o644))
        patch = _ask(
            folder,
            [*_DIFF, f"--unified={context}", "--", "a", "b"],
            accept=(0, 1),
            environment={**_PRIVATE, "GIT_CEILING_DIRECTORIES": str(folder.parent)},
        )
    return _tidied(patch, changed)


def _lay(folder: Path, path: str, data: bytes, mode: int) -> None:
    target = inside(folder, path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        target.chmod(0o755 if mode & 0o111 else 0o644)
    except (OSError, ValueError) as error:
        raise UserError(
            _("No patch can be made for {path}: {reason}.").format(
                path=visible(path), reason=visible(str(error))
            )
        ) from None


def _tidied(patch: bytes, paths: Sequence[bytes]) -> bytes:
    """Give the patch the form that it has in a repository.

    Without one, git goes directory by directory, which puts `a/b` before `a-b`, and names an added
    or removed file twice by the side on which it lies.
    """
    # No line of a hunk begins like this: each has a mark in front.
    parts = re.split(rb"(?m)^(?=diff --git )", patch)[1:]
    walked = sorted(paths, key=lambda path: path.split(b"/"))
    if len(parts) != len(walked):  # a file became a directory, or the other way round
        return patch
    ordered = sorted(zip(walked, parts, strict=True))
    return b"".join(_TWICE.sub(rb"\1a/\3\4b/\3", part, count=1) for _path, part in ordered)


_TWICE = re.compile(rb'\A(diff --git "?)([ab]/)(.+)( "?)\2\3$', re.MULTILINE)


class _Presence:
    """Whether a path is there, without a symbolic link on the way to it."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._folders = {"": True}

    def __call__(self, path: str) -> bool:
        return os.path.lexists(f"{self._top}/{path}") and self._folder(path.rpartition("/")[0])

    def _folder(self, path: str) -> bool:
        unknown = []
        while path not in self._folders:
            unknown.append(path)
            path = path.rpartition("/")[0]
        there = self._folders[path]
        for below in reversed(unknown):
            there = there and not (self._top / below).is_symlink()
            self._folders[below] = there
        return there


_MISSING = re.compile(r"not a git repository|must be run in a work tree|xcrun: error|xcode-select:")


def _installed() -> str | None:
    return shutil.which("git")


def _need_git() -> None:
    if not _installed():
        raise UserError(_("git is needed to make a patch: install it and put it on the PATH."))


def _path(output: bytes) -> Path:
    return Path(os.fsdecode(output.removesuffix(b"\n"))).resolve()


def _records(output: bytes) -> list[bytes]:
    return output.split(b"\0")[:-1]


def _ask(
    folder: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes | None = None,
    accept: tuple[int, ...] = (0,),
    settings: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> bytes:
    answer = _execute(folder, arguments, stdin=stdin, settings=settings, environment=environment)
    if answer.status not in accept:
        raise _complaint(folder, answer)
    return answer.output


def _complaint(folder: Path, answer: _Answer) -> UserError:
    if "dubious ownership" in answer.complaint:
        return UserError(
            _(
                "git refuses {path} because it belongs to another user: if you trust it, run "
                "git config --global --add safe.directory {path}"
            ).format(path=visible(str(folder)))
        )
    words = next(
        (line for line in answer.complaint.splitlines() if line.startswith(("fatal:", "error:"))),
        answer.complaint.strip() or f"exit status {answer.status}",
    )
    return UserError(
        _("git fails in {path}: {words}.").format(
            path=shown(folder), words=visible(words.split(": ", 1)[-1].rstrip("."))
        )
    )


def _execute(
    folder: Path,
    arguments: Sequence[str],
    *,
    stdin: bytes | None = None,
    settings: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> _Answer:
    """Run git in ``folder`` with everything that it could run for the repository switched off."""
    program = _installed()
    if program is None:
        raise UserError(_("git is not installed, or not on the PATH."))
    private = environment or {}
    command = [arguments[0], *(_no_tools(arguments[0])), *arguments[1:]]
    listing = ["config", "-z", "--name-only", "--get-regexp", r"^(filter|submodule)\."]
    names = _call(program, folder, listing, _SETTINGS, private, None).output
    if (folder / ".gitmodules").is_file():
        listing[1:1] = ["--file", ".gitmodules"]
        names += _call(program, folder, listing, _SETTINGS, private, None).output
    return _call(
        program, folder, command, [*_SETTINGS, *_switched_off(names), *settings], private, stdin
    )


def _no_tools(command: str) -> list[str]:
    return ["--no-ext-diff", "--no-textconv"] if command in _DIFFS else []


def _switched_off(names: bytes) -> list[tuple[str, str]]:
    """Settings that switch off every filter, and every look into a submodule, that is named."""
    matches = map(_NAMED_KEY.fullmatch, _records(names))
    found = {(match.group(1), match.group(2)) for match in matches if match}
    return [
        (f"{kind.decode()}.{os.fsdecode(name)}.{key}", value)
        for kind, name in sorted(found)
        for key, value in _NAMED[kind]
    ]


def _call(
    program: str,
    folder: Path,
    arguments: Sequence[str],
    settings: Sequence[tuple[str, str]],
    environment: Mapping[str, str],
    stdin: bytes | None,
) -> _Answer:
    # The import looks for git and would raise when there is none.
    os.environ.setdefault("GIT_PYTHON_REFRESH", "quiet")
    from git.cmd import Git as Runner

    variables = {**_ENVIRONMENT, **environment, "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        variables[f"GIT_CONFIG_KEY_{number}"] = key
        variables[f"GIT_CONFIG_VALUE_{number}"] = value
    # GitPython can add to the environment but take nothing away.
    known = _KEPT | variables.keys()
    dropped = [name for name in os.environ if name.startswith("GIT_") and name not in known]
    clean = ["env", *(word for name in dropped for word in ("-u", name))] if dropped else []
    with tempfile.TemporaryFile() as given:
        given.write(stdin or b"")
        given.seek(0)
        # `-C`, since GitPython would quietly run elsewhere when it may not enter the folder.
        status, output, complaint = Runner().execute(
            [*clean, program, "--no-pager", "-C", str(folder), *arguments],
            istream=given,
            env=variables,
            with_extended_output=True,
            with_exceptions=False,
            stdout_as_string=False,
            strip_newline_in_stdout=False,
        )
    return _Answer(status, output, str(complaint))
