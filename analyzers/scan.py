"""From a project to the reports of its files.

A file is read once and searched for the words that rules care about; it is parsed only when it
has one. Nothing of a scanned project is run.
"""

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from packaging.version import Version

from analyzers import binaries, links, workers
from analyzers.cache import Cache
from analyzers.documents.kinds import document_for
from analyzers.examine import FileReport, examine
from analyzers.registry import rule, rules
from analyzers.rule import Rule
from project import files
from project.config import Config
from project.errors import UserError
from project.translation import _
from project.vocabulary import NEWEST, Finding, Layer, Skipped
from project.workspace import Workspace

Finish = Callable[[FileReport, bytes], FileReport]


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to look for, and how.

    ``select`` and ``ignore`` are rule codes or slugs to take or leave, ``layers`` those to look at;
    empty means all. ``torch`` is the PyTorch release that is asked about, ``jobs`` the number of
    processes (None: as it fits), ``cache`` whether reports of an earlier scan may be used,
    ``known`` the ids of findings to leave out.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()
    torch: str = NEWEST
    jobs: int | None = None
    cache: bool = True
    known: frozenset[str] = frozenset()

    @classmethod
    def from_config(cls, config: Config) -> "ScanOptions":
        """The options that the project's configuration sets."""
        return cls(select=config.select, ignore=config.ignore, torch=config.torch or NEWEST)

    def rules(self) -> tuple[Rule[Any], ...]:
        """The rules that these options leave.

        Raises:
            UserError: a rule that does not exist.
        """
        for name in (*self.select, *self.ignore):
            if not _matching(name):
                raise UserError(
                    _("There is no rule {name}; `cuda2mps rules` lists them.").format(name=name)
                )
        selected = {one.code for name in self.select for one in _matching(name)}
        ignored = {one.code for name in self.ignore for one in _matching(name)}
        return tuple(
            one
            for one in rules()
            if (not self.select or one.code in selected)
            and one.code not in ignored
            and (not self.layers or one.layer in self.layers)
        )


def _matching(name: str) -> list[Rule[Any]]:
    """The rules that a code, a slug, or the beginning of a code (``D``, ``D1``) means."""
    exact = rule(name)
    if exact is not None:
        return [exact]
    prefix = name.strip().upper()
    return [one for one in rules() if prefix and one.code.startswith(prefix)]


@dataclass(frozen=True, slots=True)
class _Looked:
    """A report, the hash of the content that it is about, and when that was read."""

    report: FileReport
    digest: str
    read_at: int


@dataclass(frozen=True, slots=True)
class _Look:
    """Reading one file and reporting on it; travels to other processes."""

    root: Path
    codes: tuple[str, ...]
    then: Finish | None

    def __call__(self, path: str) -> _Looked:
        read_at = time.time_ns()
        chosen = _rules(self.codes)
        data = files.read(self.root, path) if document_for(path) else None
        if data is None or isinstance(data, Skipped):
            # What is no text may be a binary, whatever its name is.
            report = binaries.look(self.root, path, chosen)
            if report is None or not (report.findings or report.skipped):
                skipped = (data,) if data is not None else ()
                report = FileReport(path, skipped=skipped, read=report is not None)
            return _Looked(report, "", read_at)
        report = examine(path, data, chosen)
        if self.then is not None and report.findings:
            report = self.then(report, data)
        return _Looked(report, hashlib.sha256(data).hexdigest(), read_at)


@cache
def _rules(codes: tuple[str, ...]) -> tuple[Rule[Any], ...]:
    return tuple(one for one in rules() if one.code in codes)


def _died(path: str) -> _Looked:
    skipped = Skipped(path, _("The parser crashed on it."))
    return _Looked(FileReport(path, skipped=(skipped,), read=False), "", 0)


def scan(
    workspace: Workspace,
    options: ScanOptions,
    paths: Iterable[str] | None = None,
    then: Finish | None = None,
) -> Iterator[FileReport]:
    """Look at every file of the project, or at ``paths`` alone, and report each as it is done.

    Files with kernels come last, since what reaches a kernel is known when the rest was read.

    Args:
        workspace: the project.
        options: what to look for, and how.
        paths: files, relative to the project's directory.
        then: what else to do with a file's report and its content, in the same process. It can be
            pickled; its name and arguments are a part of what a cached report is kept under.

    Raises:
        UserError: the options name a rule that does not exist.
    """
    codes = tuple(one.code for one in options.rules())
    look = _Look(workspace.root, codes, then)
    listed: list[str] | None = None
    if paths is None:
        listed, left_out = files.listed(workspace)
        for skipped in left_out:
            yield FileReport(skipped.path, skipped=(skipped,), read=False)
    known = Cache(workspace.root, (*codes, repr(then))) if options.cache else None
    late: list[FileReport] = []
    for report in _reports(look, listed or paths or (), known, options.jobs):
        report = _asked(report, options)
        if any(one.layer is Layer.KERNEL for one in report.findings):
            late.append(report)
        else:
            yield report
    if known is not None:
        known.save(listed is not None and not workspace.scope)
    yield from links.link(workspace, late, listed, options.jobs)


def _reports(
    look: _Look, paths: Iterable[str], known: Cache | None, jobs: int | None
) -> Iterator[FileReport]:
    unknown: list[str] = []
    for path in paths:
        report = (known.unchanged(path) or known.same(path)) if known is not None else None
        if report is not None:
            yield report
        else:
            unknown.append(path)
    for looked in workers.each(look, unknown, _died, jobs):
        if known is not None and looked.read_at:
            known.add(looked.report, looked.digest, looked.read_at)
        yield looked.report


def _asked(report: FileReport, options: ScanOptions) -> FileReport:
    """A report with the findings that hold in the PyTorch release asked about and are not known."""
    return replace(
        report,
        findings=tuple(
            one
            for one in report.findings
            if one.id not in options.known and _holds(one, _release(options.torch))
        ),
    )


def _holds(finding: Finding, release: Version) -> bool:
    return (finding.since is None or _release(finding.since) <= release) and (
        finding.until is None or release < _release(finding.until)
    )


@cache
def _release(name: str) -> Version:
    return Version(name)
