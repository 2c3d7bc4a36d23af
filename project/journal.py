"""Changing several files, all of them or none.

The journal is an append-only log. A transaction begins with a line that names the files and the
hashes of what they hold before and after, once those bytes are safely kept; only then is the
first file touched. It ends with a line that says whether it was done or taken back. A transaction
without an end was cut short, and :meth:`Journal.recover` ends it.
"""

import contextlib
import os
import re
import secrets
import stat
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from project import blobs, records, swap
from project.decisions import now
from project.errors import Refused, UserError
from project.lock import held
from project.paths import inside, visible
from project.translation import _

_DONE, _TAKEN_BACK = "done", "taken back"


@dataclass(frozen=True)
class Change:
    """A file's content before and after, byte for byte."""

    path: str
    before: bytes
    after: bytes


@dataclass(frozen=True)
class Entry:
    """An apply: its id, when and why it was made, the files and the findings it was about."""

    id: str
    at: str
    label: str
    paths: tuple[str, ...]
    findings: tuple[str, ...]
    undone: bool


@dataclass(frozen=True)
class _File:
    path: str
    old: str
    new: str


@dataclass(frozen=True)
class _Transaction:
    """One apply, or one undo of the apply ``of``; ``end`` is empty while it has none."""

    id: str
    of: str
    at: str
    label: str
    findings: tuple[str, ...]
    files: tuple[_File, ...]
    end: str = ""

    @property
    def is_undo(self) -> bool:
        return self.of != self.id


class Journal:
    """The changes that were made to a project's files.

    Every method that changes something holds the project's lock, which the caller may hold
    already. Reading writes nothing.
    """

    def __init__(self, root: Path, state: Path) -> None:
        self._root = root
        self._state = state
        self._file = state / "journal.jsonl"
        self._blobs = state / "journal"

    def apply(self, changes: Sequence[Change], label: str, findings: Sequence[str] = ()) -> Entry:
        """Make the changes, all of them or none.

        Args:
            changes: at most one a file; the files exist.
            label: what they are for, as a person would say it.
            findings: the findings they are about.

        Raises:
            Refused: a file is no longer what it was, may not be written, or must not be touched.
                Nothing is changed.
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
            self._carry_out(id, id, label, findings, changes)
            return self._entry(id)

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
            files = next(one for one in self._read() if one.id == entry.id).files
            self._refuse_overlap(entry)
            changes = [
                Change(
                    file.path,
                    blobs.load(self._blobs, file.new),
                    blobs.load(self._blobs, file.old),
                )
                for file in files
            ]
            undo = secrets.token_hex(4)
            self._carry_out(undo, entry.id, entry.label, entry.findings, changes)
            return self._entry(entry.id)

    def entries(self) -> list[Entry]:
        """Every apply that was done, oldest first, those undone since included."""
        done = [one for one in self._read() if one.end == _DONE]
        undone = {one.of for one in done if one.is_undo}
        return [
            Entry(
                one.id,
                one.at,
                one.label,
                tuple(file.path for file in one.files),
                one.findings,
                one.id in undone,
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
            if shared and not other.undone:
                raise Refused(
                    _("{path} was changed again by the apply {id}: undo that one first.").format(
                        path=visible(min(shared)), id=other.id
                    )
                )

    def check(self, changes: Sequence[Change]) -> None:
        """Raise what ``apply`` would raise now, and change nothing."""
        for change in changes:
            self._check(change)

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
            raise Refused(_changed(change.path))
        folder = path.parent
        for place, shown in ((path, name), (folder, visible(str(folder)))):
            # The mode too, since the superuser may write where nobody is meant to.
            if not (place.lstat().st_mode & 0o222 and os.access(place, os.W_OK)):
                raise Refused(
                    _("{path} is read-only: make it writable and try again.").format(path=shown)
                )

    # -- making the change -----------------------------------------------------------------

    def _carry_out(
        self, id: str, of: str, label: str, findings: Sequence[str], changes: Sequence[Change]
    ) -> None:
        for change in changes:
            self._check(change)
        files = tuple(
            _File(
                change.path,
                blobs.keep(self._blobs, change.before),
                blobs.keep(self._blobs, change.after),
            )
            for change in changes
        )
        this = _Transaction(id, of, now(), label, tuple(findings), files)
        records.append(self._file, [_begin(this)])
        try:
            for number, change in enumerate(changes):
                with swap.place(self._root, change.path, f"{id}-{number}") as at:
                    swap.replace(at, change.before, change.after)
        except BaseException as error:
            self._take_back(this)
            if isinstance(error, swap.Changed):
                raise Refused(_changed(change.path)) from None
            if isinstance(error, OSError):
                raise Refused(
                    _("{path} cannot be written ({reason}): nothing was changed.").format(
                        path=visible(change.path), reason=error.strerror or error
                    )
                ) from None
            raise
        self._end(this, _DONE)

    def _end(self, this: _Transaction, result: str) -> None:
        records.append(self._file, [{"event": "end", "id": this.id, "result": result}])

    def _take_back(self, this: _Transaction) -> list[str]:
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
                    sentences.append(_foreign(file.path))
                    continue
                old, new = (blobs.load(self._blobs, name) for name in (file.old, file.new))
                try:
                    swap.replace(at, new, old)
                except swap.Changed:
                    sentences.append(_foreign(file.path))
                except OSError as error:
                    raise UserError(
                        _(
                            "{path} cannot be given back its old content ({reason}): make it "
                            "writable and start again."
                        ).format(path=visible(file.path), reason=error.strerror or error)
                    ) from None
        self._end(this, _TAKEN_BACK)
        return sentences

    def _settle(self, this: _Transaction) -> list[str]:
        """Clear temporary files away; returns sentences about those that had to stay."""
        kept = []
        for number, file in enumerate(this.files):
            folder = file.path.rpartition("/")[0]
            for direction, old, new in (("", file.old, file.new), ("back", file.new, file.old)):
                with self._place(this, number, direction) as at:
                    name = at and swap.settle(at, old, new)
                if name:
                    kept.append(_kept(f"{folder}/{name}" if folder else name, file.path))
        return kept

    @contextlib.contextmanager
    def _place(
        self, this: _Transaction, number: int, direction: str = ""
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

    def _recover(self, this: _Transaction) -> list[str]:
        sentences = self._settle(this)
        standing = []
        for number in range(len(this.files)):
            with self._place(this, number) as at:
                standing.append(_standing(at))
        pairs = list(zip(this.files, standing, strict=True))
        # The last file is changed last: with it in place, all of them were.
        if standing[-1] == this.files[-1].new and all(now != file.old for file, now in pairs):
            self._end(this, _DONE)
            foreign = [_foreign(file.path) for file, now in pairs if now != file.new]
            return [_finished(this), *foreign, *sentences]
        return [_taken_back(this), *self._take_back(this), *sentences]

    # -- the log ---------------------------------------------------------------------------

    def _entry(self, id: str) -> Entry:
        return next(entry for entry in self.entries() if entry.id == id)

    def _read(self) -> list[_Transaction]:
        found: dict[str, _Transaction] = {}
        for record in records.read(self._file).records:
            begun = _transaction(record)
            if begun is not None:
                found.setdefault(begun.id, begun)
            elif record.get("event") == "end" and str(record.get("id")) in found:
                this = found[str(record["id"])]
                found[this.id] = replace(this, end=this.end or str(record.get("result")))
        return list(found.values())


def _begin(this: _Transaction) -> dict[str, Any]:
    record = {"event": "begin", **asdict(this)}
    del record["end"]
    return record


_ID = re.compile(r"[0-9a-f]{8}")


def _transaction(record: dict[str, Any]) -> _Transaction | None:
    """A transaction from the line that begins it; None when it is another line."""
    try:
        if record["event"] != "begin":
            return None
        files = tuple(_File(str(f["path"]), f["old"], f["new"]) for f in record["files"])
        this = _Transaction(
            record["id"],
            record["of"],
            str(record["at"]),
            str(record["label"]),
            tuple(map(str, record["findings"])),
            files,
        )
        # The id becomes part of a file's name, the hashes are files' names.
        safe = all(_ID.fullmatch(id) for id in (this.id, this.of)) and all(
            blobs.is_digest(name) for file in files for name in (file.old, file.new)
        )
    except (KeyError, TypeError):
        return None
    return this if safe and files else None


def _standing(at: swap.Place | None) -> str:
    """The hash of what a file holds now; nothing when it is gone or cannot be read."""
    data = None
    if at is not None:
        with contextlib.suppress(OSError):
            data = swap.content(at.folder, at.name)
    return "" if data is None else blobs.digest(data)


def _changed(path: str) -> str:
    return _("{path} has changed since it was read: scan again; nothing was changed.").format(
        path=visible(path)
    )


def _foreign(path: str) -> str:
    return _("{path} was changed by something else meanwhile and is left as it is.").format(
        path=visible(path)
    )


def _kept(path: str, of: str) -> str:
    return _("{path} holds what something else wrote to {file} meanwhile: look at it.").format(
        path=visible(path), file=visible(of)
    )


def _finished(this: _Transaction) -> str:
    text = (
        _("Undoing the apply {id} was interrupted: it is finished now.")
        if this.is_undo
        else _("The apply {id} was interrupted: it is finished now.")
    )
    return text.format(id=this.of)


def _taken_back(this: _Transaction) -> str:
    text = (
        _("Undoing the apply {id} was interrupted: the apply stands as before.")
        if this.is_undo
        else _("The apply {id} was interrupted: it is taken back.")
    )
    return text.format(id=this.of)
