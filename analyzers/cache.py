"""What a scan found, kept from one time to the next: in the user's cache, never in the project.

A report is kept under the SHA-256 of the file's content, for the rules, their options and the
language that made it. A file whose size, times, inode and device are those of the last time is
not read again, as git does it; and as git does it, a file that changed so shortly before it was
read that a later change could have the same time is always read.
"""

import contextlib
import dataclasses
import hashlib
import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache as once
from pathlib import Path
from typing import Any

from analyzers.examine import FileReport
from project import files
from project.translation import language
from project.vocabulary import Edit, Finding, Fix, Layer, Notice, Proposal, Severity, Skipped

#: Folders whose code decides what a report says.
_MAKERS = ("analyzers", "rewriters", "project")
#: Nanoseconds; the coarsest clock of a file system that people use counts in two seconds.
_RACY = 2_500_000_000
#: Sets of options that are kept for a project.
_KEPT = 6

Print = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entry:
    """A file as it was: where it stood on the disk, the hash of its content, and its report."""

    print: Print | None
    digest: str
    report: FileReport


class Cache:
    """The reports of one project for one set of options."""

    def __init__(self, root: Path, options: Iterable[str]) -> None:
        key = hashlib.sha256()
        for part in (_version(), language(), *options):
            key.update(part.encode("utf-8", "surrogateescape") + b"\0")
        project = hashlib.sha256(os.fsencode(root)).hexdigest()[:16]
        self._root = os.fspath(root)
        self._file = folder() / project / f"{key.hexdigest()[:24]}.json"
        self._entries = _loaded(self._file)
        self._fresh: dict[str, Entry] = {}
        self._changed = False

    def unchanged(self, path: str) -> FileReport | None:
        """The report of a file that is where and as it was, without reading it."""
        entry = self._entries.get(path)
        if entry is None or entry.print is None or entry.print != self._print(path):
            return None
        self._fresh[path] = entry
        return entry.report

    def same(self, path: str) -> FileReport | None:
        """The report of a file that was moved or touched, if its content is what it was."""
        entry = self._entries.get(path)
        if entry is None or not entry.digest:
            return None
        read_at = time.time_ns()
        data = files.read(Path(self._root), path)
        if isinstance(data, Skipped) or hashlib.sha256(data).hexdigest() != entry.digest:
            return None
        self.add(entry.report, entry.digest, read_at)
        return entry.report

    def add(self, report: FileReport, digest: str, read_at: int) -> None:
        """Keep the report of a file whose content, read from ``read_at`` on, has this hash.

        ``read_at`` is in nanoseconds since the epoch.
        """
        seen = self._print(report.path)
        if seen is not None and max(seen[3], seen[4]) + _RACY > read_at:
            seen = None
        self._fresh[report.path] = Entry(seen, digest, report)
        self._changed = True

    def save(self, complete: bool) -> None:
        """Write what is known; after a complete scan, files that are gone are forgotten.

        A cache that cannot be written is no error: the next scan takes longer.
        """
        entries = self._fresh if complete else self._entries | self._fresh
        if not self._changed and len(entries) == len(self._entries):
            return
        records = {path: _record(entry) for path, entry in entries.items()}
        data = json.dumps(records, separators=(",", ":")).encode("ascii")
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, name = tempfile.mkstemp(dir=self._file.parent, suffix=".new")
            os.close(descriptor)
            Path(name).write_bytes(data)
            Path(name).replace(self._file)
            _forget(self._file.parent)

    def _print(self, path: str) -> Print | None:
        try:
            facts = os.lstat(f"{self._root}/{path}")
        except (OSError, ValueError):
            return None
        return (
            facts.st_dev,
            facts.st_ino,
            facts.st_size,
            facts.st_mtime_ns,
            facts.st_ctime_ns,
            facts.st_mode,
        )


def folder() -> Path:
    """Where caches are kept: ``$XDG_CACHE_HOME``, or what the system uses for caches."""
    home = os.environ.get("XDG_CACHE_HOME")
    if home and Path(home).is_absolute():
        return Path(home) / "cuda2mps"
    base = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
    return Path.home().joinpath(*base, "cuda2mps")


@once
def _version() -> str:
    """A hash of the program's own text, so that no other version's report is taken for ours."""
    digest = hashlib.sha256(sys.version.encode())
    top = Path(__file__).parent.parent
    for maker in _MAKERS:
        for file in sorted((top / maker).rglob("*")):
            if file.suffix in (".py", ".toml", ".json", ".mo"):
                digest.update(file.read_bytes())
    return digest.hexdigest()


def _forget(folder: Path) -> None:
    """Remove all but the newest caches of a project, and what a crash left long ago."""
    files = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
    kept = [file for file in files if file.suffix == ".json"][:_KEPT]
    for file in files:
        if file not in kept and (file.suffix == ".json" or _old(file)):
            file.unlink(missing_ok=True)


def _old(file: Path) -> bool:
    return time.time() - file.stat().st_mtime > 3600


def _loaded(file: Path) -> dict[str, Entry]:
    """The entries of a cache; a damaged one has none."""
    try:
        records = json.loads(file.read_bytes())
        return {path: _entry(path, record) for path, record in records.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return {}


def _record(entry: Entry) -> list[Any]:
    report = entry.report
    record: list[Any] = [entry.print, entry.digest]
    if report.findings or report.skipped or report.notices or not report.read:
        record += [
            report.read,
            [_values(one) for one in report.findings],
            [one.reason for one in report.skipped],
            [(one.line, one.text, one.cell) for one in report.notices],
            [_proposal_record(one) for one in report.proposals],
        ]
    return record


def _values(finding: Finding) -> list[Any]:
    return [getattr(finding, name) for name in _FIELDS]


_FIELDS = tuple(field.name for field in dataclasses.fields(Finding) if field.name != "path")


def _proposal_record(one: Proposal) -> list[Any]:
    edits = [(edit.start, edit.end, edit.replacement.decode("latin-1")) for edit in one.edits]
    return [one.finding, one.rule, one.before, edits, one.fix, one.why]


def _entry(path: str, record: list[Any]) -> Entry:
    seen, digest, *rest = record
    where = tuple(seen) if seen is not None else None
    if not rest:
        return Entry(where, digest, FileReport(path))
    read, findings, skipped, notices, proposals = rest
    report = FileReport(
        path,
        tuple(_finding(path, values) for values in findings),
        tuple(Skipped(path, reason) for reason in skipped),
        tuple(Notice(path, *values) for values in notices),
        tuple(_proposal(path, values) for values in proposals),
        read,
    )
    return Entry(where, digest, report)


def _finding(path: str, values: list[Any]) -> Finding:
    fields = dict(zip(_FIELDS, values, strict=True))
    fields["layer"] = Layer(fields["layer"])
    fields["severity"] = Severity(fields["severity"])
    fields["fix"] = Fix(fields["fix"])
    return Finding(path=path, **fields)


def _proposal(path: str, values: list[Any]) -> Proposal:
    finding, rule, before, edits, fix, why = values
    changed = tuple(Edit(start, end, text.encode("latin-1")) for start, end, text in edits)
    return Proposal(finding, rule, path, before, changed, Fix(fix), why)
