"""Changing several files, all of them or none.

The journal is an append-only log. A transaction begins with a line that names the files and the
hashes of what they hold before and after, once those bytes are safely kept; only then is the
first file touched. It ends with a line that says whether it was done or taken back. A transaction
without an end was cut short, and :meth:`Journal.recover` ends it.
"""

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from project import blobs, staging, swap, transactions
from project.decisions import now
from project.errors import Refused, UserError
from project.git import Git
from project.lock import held
from project.paths import inside, visible
from project.staging import Commit, Staged
from project.transactions import FileChange, Transaction
from project.translation import _


@dataclass(frozen=True)
class Change:
    """A file's content before and after, byte for byte."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Entry:
    """An apply: its id, when and why it was made, the files and the findings it was about.

    ``to`` is where it went: ``worktree``, ``index`` (which means both) or ``branch:NAME``.
    """

    id: str
    at: str
    label: str
    paths: tuple[str, ...]
    findings: tuple[str, ...]
    undone: bool
    to: str = "worktree"


class Journal:
    """The changes that were made to a project's files.

    Every method that changes something holds the project's lock, which the caller may hold
    already. Reading writes nothing.
    """

    def __init__(self, root: Path, state: Path, git: Git | None = None) -> None:
        self._root = root
        self._state = state
        self._git = git
        self._file = state / "journal.jsonl"
        self._blobs = state / "journal"

    def apply(
        self,
        changes: Sequence[Change],
        label: str,
        findings: Sequence[str] = (),
        *,
        index: bool = False,
    ) -> Entry:
        """Make the changes, all of them or none.

        Args:
            changes: at most one a file; the files exist.
            label: what they are for, as a person would say it.
            findings: the findings they are about.
            index: make them in git's index too.

        Raises:
            Refused: a file is no longer what it was, may not be written, or must not be touched;
                or the index has something else than the work tree. Nothing is changed.
            UserError: the state cannot be written. Nothing is changed.
        """
        changes = [change for change in changes if change.before != change.after]
        if not changes:
            raise Refused(_("There is nothing to apply: no file would change."))
        twice = {one.path for one in changes if sum(one.path == c.path for c in changes) > 1}
        if twice:
            raise Refused(
                _("{path} is to be changed twice at once: combine the changes first.").format(
                    path=visible(min(twice))
                )
            )
        with held(self._state):
            self._clear_the_way()
            id = secrets.token_hex(4)
            self._carry_out(id, id, label, findings, changes, self._staged(changes, index))
            return self._entry(id)

    def commit(
        self, name: str, commits: Sequence[Commit], changes: Sequence[Change], label: str
    ) -> Entry:
        """Make a branch of commits on top of HEAD; work tree, index and HEAD stay as they are.

        Args:
            name: the branch; there is none of that name.
            commits: what to commit, in order.
            changes: what they come to, together.
            label: what they are for, as a person would say it.

        Raises:
            Refused: there is such a branch, the name is none for a branch, or a file differs from
                HEAD. No branch is made.
            UserError: git does not know who the user is, or fails. No branch is made.
        """
        with held(self._state):
            self._clear_the_way()
            head = self.check_commit(name, changes)
            tip = staging.chain(self._repository(), head, commits)
            files = tuple(
                FileChange(one.path, blobs.digest(one.before), blobs.digest(one.after))
                for one in changes
            )
            id = secrets.token_hex(4)
            self._move_branch(Transaction(id, id, now(), label, (), files, name, tip))
            return self._entry(id)

    def check_commit(self, name: str, changes: Sequence[Change]) -> str:
        """Raise what ``commit`` would raise now; returns the commit that HEAD is."""
        git = self._repository()
        head = git.head()
        if head is None:
            raise Refused(_("There is no commit yet to start a branch from: commit first."))
        staging.require_new(git, name, head)
        contents = {change.path: change.before for change in changes}
        staging.kept(git, contents, staging.in_commit(git, head, contents), "HEAD")
        staging.require_identity(git)
        return head

    def _move_branch(self, this: Transaction) -> None:
        """Make the branch, or delete it again."""
        transactions.begin(self._file, this)
        move = staging.delete if this.is_undo else staging.create
        try:
            move(self._repository(), this.branch, this.commit)
        except UserError as error:
            self._end(this, transactions.TAKEN_BACK)
            raise Refused(str(error)) from None
        self._end(this, transactions.DONE)

    def undo(self, id: str | None = None) -> Entry:
        """Give the files of an apply back what they held before it.

        Args:
            id: the apply, or the beginning of its id; without one the last that still stands.

        Raises:
            Refused: there is no such apply, it was undone before, or a file no longer holds what
                it wrote. Nothing is changed.
        """
        with held(self._state):
            self._clear_the_way()
            entry = self._chosen(id)
            done = next(one for one in self._read() if one.id == entry.id)
            if done.branch:
                staging.require_untouched(self._repository(), done.branch, done.commit)
                self._move_branch(replace(done, id=secrets.token_hex(4), at=now(), end=""))
                return self._entry(entry.id)
            files = done.files
            self._refuse_overlap(entry)
            staged = {file.path: Staged(file.mode, file.old_blob) for file in files if file.mode}
            self._require_staged(files)
            changes = [
                Change(
                    file.path,
                    blobs.load(self._blobs, file.new),
                    blobs.load(self._blobs, file.old),
                )
                for file in files
            ]
            undo = secrets.token_hex(4)
            self._carry_out(undo, entry.id, entry.label, entry.findings, changes, staged)
            return self._entry(entry.id)

    def entries(self) -> list[Entry]:
        """Every apply that was done, oldest first, those undone since included."""
        done = [one for one in self._read() if one.end == transactions.DONE]
        undone = {one.of for one in done if one.is_undo}
        return [
            Entry(
                one.id,
                one.at,
                one.label,
                tuple(file.path for file in one.files),
                one.findings,
                one.id in undone,
                one.to,
            )
            for one in done
            if not one.is_undo
        ]

    def recover(self) -> list[str]:
        """End what a crash cut short: finish it if every file was changed, else take it back.

        Returns sentences that say what was done, and which files are left alone because they hold
        neither version. Without anything to recover it writes nothing and needs no lock. When it
        cannot be done now (another instance is at work, the state is read-only) a sentence says
        so.
        """
        if all(one.end for one in self._read()):
            return []
        try:
            with held(self._state):
                return [
                    sentence
                    for one in self._read()
                    if not one.end
                    for sentence in self._recover(one)
                ]
        except UserError as error:
            return [str(error)]

    # -- before ----------------------------------------------------------------------------

    def _clear_the_way(self) -> None:
        """End what another instance left unfinished; somebody must read what came of it first."""
        sentences = [text for one in self._read() if not one.end for text in self._recover(one)]
        if sentences:
            raise Refused(" ".join([*sentences, _("Look at it and try again.")]))

    def _chosen(self, id: str | None) -> Entry:
        entries = self.entries()
        if id is None:
            standing = [entry for entry in entries if not entry.undone]
            if not standing:
                raise Refused(_("There is nothing to undo: no apply stands."))
            return standing[-1]
        named = [entry for entry in entries if id and entry.id.startswith(id)]
        if len(named) != 1:
            raise Refused(
                _("There is no apply {id}: `cuda2mps undo --list` shows them.").format(
                    id=visible(id)
                )
            )
        if named[0].undone:
            raise Refused(_("The apply {id} was undone before.").format(id=named[0].id))
        return named[0]

    def _refuse_overlap(self, entry: Entry) -> None:
        """Refuse to undo an apply whose files a later one changed again."""
        entries = self.entries()
        later = entries[[one.id for one in entries].index(entry.id) + 1 :]
        for other in reversed(later):
            shared = set(other.paths) & set(entry.paths)
            if shared and not other.undone and not other.to.startswith("branch:"):
                raise Refused(
                    _("{path} was changed again by the apply {id}: undo that one first.").format(
                        path=visible(min(shared)), id=other.id
                    )
                )

    def check(self, changes: Sequence[Change], *, index: bool = False) -> None:
        """Raise what ``apply`` would raise now, and change nothing."""
        for change in changes:
            self._check(change)
        if index:
            self._require_same(changes)

    def _require_same(self, changes: Sequence[Change]) -> dict[str, Staged]:
        """What the index has of the files; Refused when that is not what the work tree has."""
        git = self._repository()
        contents = {change.path: change.before for change in changes}
        entries = staging.in_index(git, contents)
        staging.kept(git, contents, entries, _("the index"))
        return entries

    def _staged(self, changes: Sequence[Change], index: bool) -> dict[str, Staged]:
        """The entries that the index is to have; none when it is left alone."""
        if not index:
            return {}
        git = self._repository()
        entries = self._require_same(changes)
        return {
            one.path: Staged(
                entries[one.path].mode, staging.blob(git, one.path, one.after, write=True)
            )
            for one in changes
        }

    def _require_staged(self, files: Sequence[FileChange]) -> None:
        """Refuse to take back what the index no longer has."""
        wanted = {file.path: Staged(file.mode, file.new_blob) for file in files if file.mode}
        entries = staging.in_index(self._repository(), wanted) if wanted else {}
        for path in sorted(wanted):
            if entries.get(path) != wanted[path]:
                raise Refused(
                    _("{path} was changed in the index since: nothing was taken back.").format(
                        path=visible(path)
                    )
                )

    def _repository(self) -> Git:
        if self._git is None:
            raise Refused(_("This is no git repository: apply to the worktree."))
        return self._git

    def _check(self, change: Change) -> None:
        """Refuse a change that cannot be made, while nothing has been changed yet."""
        path = inside(self._root, change.path)
        name = visible(change.path)
        try:
            facts = path.lstat()
            data = path.read_bytes() if stat.S_ISREG(facts.st_mode) else None
        except (FileNotFoundError, NotADirectoryError):
            raise Refused(_("{path} is no longer there: scan again.").format(path=name)) from None
        except OSError as error:
            raise Refused(
                _("{path} cannot be read ({reason}): make it readable and try again.").format(
                    path=name, reason=error.strerror
                )
            ) from None
        if data is None:
            raise Refused(_("{path} is not a regular file: left alone.").format(path=name))
        if data != change.before:
            raise Refused(transactions.changed(change.path))
        folder = path.parent
        for place, shown in ((path, name), (folder, visible(str(folder)))):
            # The mode too, since the superuser may write where nobody is meant to.
            if not (place.lstat().st_mode & 0o222 and os.access(place, os.W_OK)):
                raise Refused(
                    _("{path} is read-only: make it writable and try again.").format(path=shown)
                )

    # -- making the change -----------------------------------------------------------------

    def _carry_out(
        self,
        id: str,
        of: str,
        label: str,
        findings: Sequence[str],
        changes: Sequence[Change],
        staged: Mapping[str, Staged],
    ) -> None:
        for change in changes:
            self._check(change)
        before = staging.in_index(self._repository(), staged) if staged else {}
        files = tuple(
            FileChange(
                change.path,
                blobs.keep(self._blobs, change.before),
                blobs.keep(self._blobs, change.after),
                *(
                    (staged[change.path].mode, before[change.path].blob, staged[change.path].blob)
                    if staged
                    else ()
                ),
            )
            for change in changes
        )
        this = Transaction(id, of, now(), label, tuple(findings), files)
        transactions.begin(self._file, this)
        try:
            for number, change in enumerate(changes):
                with swap.place(self._root, change.path, f"{id}-{number}") as at:
                    swap.replace(at, change.before, change.after)
            if self._stage(this):
                raise Refused(_("The index was changed meanwhile: nothing was changed; try again."))
        except BaseException as error:
            self._take_back(this)
            if isinstance(error, swap.Changed):
                raise Refused(transactions.changed(change.path)) from None
            if isinstance(error, OSError):
                raise Refused(
                    _("{path} cannot be written ({reason}): nothing was changed.").format(
                        path=visible(change.path), reason=error.strerror or error
                    )
                ) from None
            raise
        self._end(this, transactions.DONE)

    def _stage(self, this: Transaction, *, back: bool = False) -> list[str]:
        """Bring the index to where the files are; returns sentences about what it leaves alone.

        Doing it twice does no more than once, so that recovery may do it again.
        """
        old = {file.path: Staged(file.mode, file.old_blob) for file in this.files if file.mode}
        new = {file.path: Staged(file.mode, file.new_blob) for file in this.files if file.mode}
        if not old:
            return []
        source, target = (new, old) if back else (old, new)
        git = self._repository()
        now = staging.in_index(git, old)
        foreign = [path for path in old if now.get(path) not in (source[path], target[path])]
        turned = {path: target[path] for path in old if now.get(path) == source[path]}
        if turned:
            staging.stage(git, turned)
        return [
            _("{path} was changed in the index by something else meanwhile: look at it.").format(
                path=visible(path)
            )
            for path in foreign
        ]

    def _end(self, this: Transaction, result: str) -> None:
        transactions.end(self._file, this, result)

    def _take_back(self, this: Transaction) -> list[str]:
        """Give the files their old content again; returns sentences about those left alone.

        Raises:
            UserError: one of them cannot be given back now; the transaction stays without an end.
        """
        sentences = self._settle(this)
        for number, file in enumerate(this.files):
            with self._place(this, number, "back") as at:
                standing = _standing(at)
                if standing == file.old:
                    continue
                if at is None or standing != file.new:
                    sentences.append(transactions.foreign(file.path))
                    continue
                old, new = (blobs.load(self._blobs, name) for name in (file.old, file.new))
                try:
                    swap.replace(at, new, old)
                except swap.Changed:
                    sentences.append(transactions.foreign(file.path))
                except OSError as error:
                    raise UserError(
                        _(
                            "{path} cannot be given back its old content ({reason}): make it "
                            "writable and start again."
                        ).format(path=visible(file.path), reason=error.strerror or error)
                    ) from None
        sentences += self._stage(this, back=True)
        self._end(this, transactions.TAKEN_BACK)
        return sentences

    def _settle(self, this: Transaction) -> list[str]:
        """Clear temporary files away; returns sentences about those that had to stay."""
        kept = []
        for number, file in enumerate(this.files):
            folder = file.path.rpartition("/")[0]
            for direction, old, new in (("", file.old, file.new), ("back", file.new, file.old)):
                with self._place(this, number, direction) as at:
                    name = at and swap.settle(at, old, new)
                if name:
                    kept.append(
                        transactions.kept(f"{folder}/{name}" if folder else name, file.path)
                    )
        return kept

    @contextlib.contextmanager
    def _place(
        self, this: Transaction, number: int, direction: str = ""
    ) -> Iterator[swap.Place | None]:
        """The place of one of a transaction's files; None when it can no longer be reached."""
        path = this.files[number].path
        with contextlib.ExitStack() as stack:
            at = None
            with contextlib.suppress(OSError, Refused):
                inside(self._root, path)
                mark = f"{this.id}-{number}{direction}"
                at = stack.enter_context(swap.place(self._root, path, mark))
            yield at

    # -- after a crash ---------------------------------------------------------------------

    def _recover(self, this: Transaction) -> list[str]:
        if this.branch:
            tip = staging.tip(self._repository(), this.branch)
            there = tip is not None and tip[0] == this.commit
            done = there != this.is_undo
            self._end(this, transactions.DONE if done else transactions.TAKEN_BACK)
            return [transactions.finished(this) if done else transactions.taken_back(this)]
        sentences = self._settle(this)
        standing = []
        for number in range(len(this.files)):
            with self._place(this, number) as at:
                standing.append(_standing(at))
        pairs = list(zip(this.files, standing, strict=True))
        # The last file is changed last: with it in place, all of them were.
        if standing[-1] == this.files[-1].new and all(now != file.old for file, now in pairs):
            staged = self._stage(this)
            self._end(this, transactions.DONE)
            foreign = [transactions.foreign(file.path) for file, now in pairs if now != file.new]
            return [transactions.finished(this), *foreign, *staged, *sentences]
        return [transactions.taken_back(this), *self._take_back(this), *sentences]

    # -- the log ---------------------------------------------------------------------------

    def _entry(self, id: str) -> Entry:
        return next(entry for entry in self.entries() if entry.id == id)

    def _read(self) -> list[Transaction]:
        return transactions.read(self._file)


def _standing(at: swap.Place | None) -> str:
    """The hash of what a file holds now; nothing when it is gone or cannot be read."""
    data = None
    if at is not None:
        with contextlib.suppress(OSError):
            data = swap.content(at.folder, at.name)
    return "" if data is None else blobs.digest(data)
