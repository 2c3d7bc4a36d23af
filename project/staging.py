"""What git keeps of a file: in its index, in trees and on branches.

Everything here is plumbing, through :class:`~project.git.Git`: no hook, filter or editor takes
part, and a change of the index or of a branch is one step that happens or does not.
"""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from project.errors import Refused, UserError
from project.git import Git
from project.paths import visible
from project.translation import _

_REGULAR = ("100644", "100755")


@dataclass(frozen=True, slots=True)
class Staged:
    """A regular file as git keeps it: its mode, and the blob that holds its content."""

    mode: str
    blob: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit to be made: its message, and the files it changes."""

    message: str
    files: Mapping[str, bytes]


def in_index(git: Git, paths: Iterable[str]) -> dict[str, Staged]:
    """What the index holds of these files; those that it lacks, or holds unmerged, are missing."""
    return _found(git.run("ls-files", "-z", "--stage"), paths, kept=b"0")


def in_commit(git: Git, commit: str, paths: Iterable[str]) -> dict[str, Staged]:
    """What a commit holds of these files; those that it lacks are missing."""
    return _found(git.run("ls-tree", "-r", "-z", "--full-tree", commit), paths, kept=None)


def _found(listing: bytes, paths: Iterable[str], kept: bytes | None) -> dict[str, Staged]:
    """Entries of `ls-files --stage` (mode, blob, stage) or `ls-tree` (mode, type, blob)."""
    # Asking for all of them leaves nothing of a path to be taken for a pattern.
    wanted = set(paths)
    found = {}
    for record in listing.split(b"\0")[:-1]:
        facts, _tab, name = record.partition(b"\t")
        path = name.decode("utf-8", "surrogateescape")
        if path not in wanted:
            continue
        mode, second, third = facts.split(b" ")
        if kept is None:
            second, third = third, second
        if mode.decode() in _REGULAR and (kept is None or third == kept):
            found[path] = Staged(mode.decode(), second.decode())
    return found


def blob(git: Git, path: str, data: bytes, *, write: bool = False) -> str:
    """The blob that git makes of a file's content, line ends converted as the project says.

    Filter programs do not run: what such a filter would have changed has another blob here.
    """
    store = ["-w"] if write else []
    made = git.run("hash-object", *store, "--stdin", f"--path={path}", stdin=data)
    return made.decode("ascii").strip()


def stage(git: Git, entries: Mapping[str, Staged], index: Path | None = None) -> None:
    """Put entries into the index of the work tree, or into another, in one step."""
    lines = "".join(f"{one.mode} {one.blob}\t{path}\0" for path, one in sorted(entries.items()))
    git.run(
        "update-index",
        "-z",
        "--index-info",
        stdin=lines.encode("utf-8", "surrogateescape"),
        index=index,
    )


def kept(git: Git, contents: Mapping[str, bytes], where: Mapping[str, Staged], place: str) -> None:
    """Refuse files whose content in the work tree is not what ``where`` has.

    Args:
        git: the repository.
        contents: the files as they lie in the work tree.
        where: what the index, or a commit, holds of them.
        place: its name, for the message.
    """
    for path, data in sorted(contents.items()):
        if path not in where:
            raise Refused(
                _("{path} is not in {place}: add and commit it, or apply to the worktree.").format(
                    path=visible(path), place=place
                )
            )
        if blob(git, path, data) != where[path].blob:
            raise Refused(
                _("{path} differs from {place}: commit or stash it; nothing was changed.").format(
                    path=visible(path), place=place
                )
            )


# -- branches ------------------------------------------------------------------------------


def ref(git: Git, name: str) -> str:
    """The full name of a branch; raises Refused when git would not take it."""
    full = f"refs/heads/{name}"
    refused = name.startswith("-") or name == "HEAD"
    if not refused:
        try:
            git.run("check-ref-format", full)
        except UserError:
            refused = True
    if refused:
        raise Refused(
            _("{name} is no name for a branch: choose another.").format(name=visible(name))
        )
    return full


def tip(git: Git, name: str) -> tuple[str, str] | None:
    """The commit of a branch and the work tree that has it checked out, if any; None without it."""
    listing = git.run(
        "for-each-ref", "--format=%(refname)%00%(objectname)%00%(worktreepath)", "refs/heads/"
    )
    wanted = f"refs/heads/{name}".encode("utf-8", "surrogateescape")
    for line in listing.splitlines():
        full, _zero, rest = line.partition(b"\0")
        if full == wanted:
            commit, _zero, tree = rest.partition(b"\0")
            return commit.decode("ascii"), tree.decode("utf-8", "replace")
    return None


def require_new(git: Git, name: str, commit: str) -> None:
    """Raise Refused when a branch of this name cannot be made; tries it, and changes nothing."""
    full = ref(git, name)
    if tip(git, name) is not None:
        raise Refused(
            _("There is a branch {name} already: choose another name.").format(name=visible(name))
        )
    trial = f"start\0create {full}\0{commit}\0prepare\0abort\0"
    try:
        git.run("update-ref", "-z", "--stdin", stdin=trial.encode("utf-8", "surrogateescape"))
    except UserError as error:
        raise Refused(str(error)) from None


def create(git: Git, name: str, commit: str) -> None:
    """Make a branch that was not there."""
    git.run("update-ref", "--no-deref", ref(git, name), commit, "0" * len(commit))


def delete(git: Git, name: str, commit: str) -> None:
    """Delete a branch that points at ``commit``."""
    git.run("update-ref", "--no-deref", "-d", ref(git, name), commit)


def require_identity(git: Git) -> None:
    """Raise UserError when the user's configuration does not say who commits."""
    for who in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        try:
            git.run("var", who)
        except UserError:
            raise UserError(
                _(
                    "git does not know who you are: set user.name and user.email with "
                    "`git config --global` and try again."
                )
            ) from None


def require_untouched(git: Git, name: str, commit: str) -> None:
    """Raise Refused unless a branch still points at ``commit`` and no work tree uses it."""
    found = tip(git, name)
    if found is None:
        raise Refused(
            _("The branch {name} is no longer there: nothing to undo.").format(name=visible(name))
        )
    if found[0] != commit:
        raise Refused(
            _("The branch {name} has moved since: delete it yourself if you mean to.").format(
                name=visible(name)
            )
        )
    if found[1]:
        raise Refused(
            _("The branch {name} is checked out in {path}: switch to another first.").format(
                name=visible(name), path=visible(found[1])
            )
        )


def chain(git: Git, parent: str, commits: Iterable[Commit]) -> str:
    """Make one commit on top of the other, and return the last; no branch and no index moves.

    The files are in the first parent and keep their modes.
    """
    with tempfile.TemporaryDirectory(prefix="cuda2mps-") as folder:
        index = Path(folder) / "index"
        git.run("read-tree", parent, index=index)
        for one in commits:
            entries = {
                path: Staged(found.mode, blob(git, path, one.files[path], write=True))
                for path, found in in_commit(git, parent, one.files).items()
            }
            stage(git, entries, index)
            # The objects of the other files may still be where they were cloned from.
            tree = git.run("write-tree", "--missing-ok", index=index).decode("ascii").strip()
            made = git.run(
                "commit-tree", tree, "-p", parent, "-F", "-", stdin=one.message.encode("utf-8")
            )
            parent = made.decode("ascii").strip()
    return parent
