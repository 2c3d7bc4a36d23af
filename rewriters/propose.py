"""From findings to proposals.

Every proposal is tried before it is offered: the file must still parse, the finding must be gone
when the result is scanned, and nothing new may be found.
"""

import hashlib
import importlib
import pkgutil
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from analyzers.documents import notebook
from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.examine import FileReport, findings_of
from analyzers.registry import rules as finding_rules
from analyzers.rule import Rule
from project.vocabulary import NEWEST, Edit, Finding, Fix, Proposal, Severity
from rewriters import rules as package
from rewriters.combine import apply_edits
from rewriters.draft import Context, Draft, Rewrite
from rewriters.fitting import fitted
from rewriters.scope import device_at

#: From so many places without a device in scope on, a module gets a helper.
HELPER_FROM = 2
#: No file that people write has so many places; one that is made to take long may have.
MOST = 1_000


@dataclass(frozen=True, slots=True)
class Style:
    """How a device is named where none is in scope: ``auto``, ``inline`` or ``helper``.

    ``torch`` is the PyTorch release that a rewrite may rely on.
    """

    name: str = "auto"
    torch: str = NEWEST


@cache
def rewrites() -> dict[str, Rewrite]:
    """Every rewrite, by the code of the rule whose findings it fixes."""
    modules = {info.name for info in pkgutil.iter_modules(package.__path__)}
    found: dict[str, Rewrite] = {}
    for rule in finding_rules():
        name = rule.find.__module__.rpartition(".")[2]
        if name in modules:
            module = importlib.import_module(f"{package.__name__}.{name}")
            found[rule.code] = module.rewrite
    return found


@dataclass(frozen=True, slots=True)
class Proposing:
    """Adds the proposals to a file's report; a finding's grade becomes its own proposal's.

    ``complete`` says that the scan asks every rule, so that a report has all that is in a file.
    """

    style: Style
    complete: bool = False

    def __call__(self, report: FileReport, data: bytes) -> FileReport:
        """The report with its proposals."""
        known = report.findings if self.complete else None
        made = propose(report.path, data, report.findings, self.style, known)
        grades = {one.finding: one.fix for one in made}
        findings = tuple(
            replace(one, fix=grades.get(one.id, Fix.MANUAL))
            if one.fix in (Fix.SAFE, Fix.REVIEW)
            else one
            for one in report.findings
        )
        return replace(report, findings=findings, proposals=tuple(made))


def propose(
    path: str,
    data: bytes,
    findings: Sequence[Finding],
    options: Style,
    known: Sequence[Finding] | None = None,
) -> list[Proposal]:
    """The proposals for findings of one file, as it was scanned.

    Findings that have no rewrite, or whose rewrite does not hold, have no proposal.

    Args:
        path: the file, relative to the project's directory.
        data: its bytes.
        findings: those to fix.
        options: how a device is named.
        known: all that every rule finds in the file, where somebody has looked already.
    """
    wanted = [f for f in findings if f.rule in rewrites() and f.fix in (Fix.SAFE, Fix.REVIEW)]
    if not wanted or len(wanted) > MOST:
        return []
    try:
        document = PythonDocument(PythonDocument.source_from(path, data))
    except ValueError:
        return []
    style = _style(document, wanted, options)
    before = hashlib.sha256(data).hexdigest()
    made: list[Proposal] = []
    for finding in wanted:
        context = Context(finding, document, style, options.torch)
        draft = fitted(document, rewrites()[finding.rule](context))
        if draft is None:
            continue
        edits = _in_file(document.source, draft)
        if edits is None:
            continue
        made.append(Proposal(finding.id, finding.rule, path, before, edits, draft.fix, draft.why))
    return _proven(document, data, made, known) if made else made


def _style(document: PythonDocument, findings: Sequence[Finding], options: Style) -> str:
    if options.name != "auto":
        return options.name
    without = 0
    for finding in findings:
        node = document.root.descendant_for_byte_range(finding.start, finding.end)
        if finding.rule in ("D103", "D104", "D105") and node is not None:
            without += device_at(document, node) is None
    return "helper" if without >= HELPER_FROM else "inline"


def _in_file(source: Source, draft: Draft) -> tuple[Edit, ...] | None:
    """A draft's edits as edits of the file; None where a notebook cannot take them."""
    if source.offsets is None:
        return tuple(sorted(draft.edits))
    edits = []
    for edit in draft.edits:
        crossed = any(edit.start < seam < edit.end for seam in source.seams)
        if crossed:
            return None
        start = source.offsets[edit.start]
        end = source.ends[edit.end - 1] if edit.end > edit.start else start
        edits.append(Edit(start, end, notebook.encode(edit.replacement)))
    return tuple(sorted(edits))


def _proven(
    document: PythonDocument, data: bytes, made: list[Proposal], known: Sequence[Finding] | None
) -> list[Proposal]:
    """The proposals that hold: all of them at once, or else each by itself."""
    try:
        before = _serious(findings_of(document, python_rules()) if known is None else known)
        if _hold(document, data, before, made):
            return made
        return [one for one in made if _hold(document, data, before, [one])]
    except RecursionError:
        return []


def _hold(
    document: PythonDocument,
    data: bytes,
    before: Sequence[Finding],
    proposals: Sequence[Proposal],
) -> bool:
    """Whether a file with these proposals parses, has their findings no more, and no new one."""
    edits = [edit for one in proposals for edit in one.edits]
    try:
        source = PythonDocument.source_from(document.path, apply_edits(data, edits))
    except ValueError:
        return False
    after = document.edited(source, edits)
    if after.root.has_error and not document.root.has_error:
        return False
    ids = {f.id for f in before}
    fixed = Counter(one.rule for one in proposals if one.finding in ids)
    allowed = Counter(f.rule for f in before) - fixed
    count = Counter(f.rule for f in _serious(findings_of(after, python_rules())))
    return all(count[code] <= allowed[code] for code in count)


def _serious(findings: Sequence[Finding]) -> list[Finding]:
    """Those that a rewrite must not add to: a choice that knows MPS is still found, as cosmetic."""
    codes = {one.code for one in python_rules()}
    return [f for f in findings if f.severity is not Severity.COSMETIC and f.rule in codes]


@cache
def python_rules() -> tuple[Rule[Any], ...]:
    """The rules that read Python."""
    return tuple(rule for rule in finding_rules() if rule.reads is PythonDocument)
