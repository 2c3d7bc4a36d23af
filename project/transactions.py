"""The log of the journal: what a transaction is, and the sentences that speak of one."""

import re
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from project import blobs, records
from project.paths import visible
from project.translation import _

DONE, TAKEN_BACK = "done", "taken back"


@dataclass(frozen=True)
class FileChange:
    """A file's hashes before and after; with ``mode`` set, its entries in the index too."""

    path: str
    old: str
    new: str
    mode: str = ""
    old_blob: str = ""
    new_blob: str = ""


@dataclass(frozen=True)
class Transaction:
    """One apply, or one undo of the apply ``of``; ``end`` is empty while it has none.

    With a ``branch`` it made or deleted that branch, which pointed at ``commit``, and touched no
    file.
    """

    id: str
    of: str
    at: str
    label: str
    findings: tuple[str, ...]
    files: tuple[FileChange, ...]
    branch: str = ""
    commit: str = ""
    end: str = ""

    @property
    def is_undo(self) -> bool:
        """Whether it took an apply back."""
        return self.of != self.id

    @property
    def to(self) -> str:
        """Where it went: ``worktree``, ``index`` or ``branch:NAME``."""
        if self.branch:
            return f"branch:{self.branch}"
        return "index" if any(file.mode for file in self.files) else "worktree"


def read(path: Path) -> list[Transaction]:
    """Every transaction in the log, in the order in which they began."""
    found: dict[str, Transaction] = {}
    for record in records.read(path).records:
        begun = _transaction(record)
        if begun is not None:
            found.setdefault(begun.id, begun)
        elif record.get("event") == "end" and str(record.get("id")) in found:
            this = found[str(record["id"])]
            found[this.id] = replace(this, end=this.end or str(record.get("result")))
    return list(found.values())


def begin(path: Path, this: Transaction) -> None:
    """Write that a transaction begins."""
    record = {"event": "begin", **asdict(this)}
    del record["end"]
    records.append(path, [record])


def end(path: Path, this: Transaction, result: str) -> None:
    """Write how a transaction ended."""
    records.append(path, [{"event": "end", "id": this.id, "result": result}])


_ID = re.compile(r"[0-9a-f]{8}")


def _transaction(record: dict[str, Any]) -> Transaction | None:
    """A transaction from the line that begins it; None when it is another line."""
    try:
        if record["event"] != "begin":
            return None
        files = tuple(
            FileChange(
                str(f["path"]),
                f["old"],
                f["new"],
                *(str(f.get(key, "")) for key in ("mode", "old_blob", "new_blob")),
            )
            for f in record["files"]
        )
        this = Transaction(
            record["id"],
            record["of"],
            str(record["at"]),
            str(record["label"]),
            tuple(map(str, record["findings"])),
            files,
            str(record.get("branch", "")),
            str(record.get("commit", "")),
        )
        # The id becomes part of a file's name, the hashes are files' names.
        safe = all(_ID.fullmatch(id) for id in (this.id, this.of)) and all(
            blobs.is_digest(name) for file in files for name in (file.old, file.new)
        )
    except (KeyError, TypeError):
        return None
    return this if safe and files else None


def changed(path: str) -> str:
    """A file is not what was reviewed."""
    return _("{path} has changed since it was read: scan again; nothing was changed.").format(
        path=visible(path)
    )


def foreign(path: str) -> str:
    """A file holds neither version."""
    return _("{path} was changed by something else meanwhile and is left as it is.").format(
        path=visible(path)
    )


def kept(path: str, of: str) -> str:
    """Something that was written to ``of`` meanwhile lies at ``path``."""
    return _("{path} holds what something else wrote to {file} meanwhile: look at it.").format(
        path=visible(path), file=visible(of)
    )


def finished(this: Transaction) -> str:
    """Recovery finished it."""
    text = (
        _("Undoing the apply {id} was interrupted: it is finished now.")
        if this.is_undo
        else _("The apply {id} was interrupted: it is finished now.")
    )
    return text.format(id=this.of)


def taken_back(this: Transaction) -> str:
    """Recovery took it back."""
    text = (
        _("Undoing the apply {id} was interrupted: the apply stands as before.")
        if this.is_undo
        else _("The apply {id} was interrupted: it is taken back.")
    )
    return text.format(id=this.of)
