"""``# cuda2mps: keep``: a comment that leaves the findings of its line on CUDA, and says why."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from analyzers.documents.base import Document
from project.translation import _
from project.vocabulary import Finding, Notice

#: What a comment of ours begins with.
MARK = b"cuda2mps:"
_COMMENT = re.compile(
    rb"(?:#|//|/\*|<!--|;)[ \t]*cuda2mps:[ \t]*keep\b(?:[ \t]*\[([^\]\r\n]*)\])?([^\r\n]*)"
)


@dataclass(frozen=True, slots=True)
class _Keep:
    line: int
    cell: int | None
    rules: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        """Whether the comment means the rule of a finding on its line."""
        return not self.rules or finding.rule in self.rules or finding.name in self.rules


_line = attrgetter("line")


def marked(
    document: Document, findings: Sequence[Finding], complete: bool
) -> tuple[list[Finding], list[Notice]]:
    """The findings of a document, those with a comment marked as kept, and unused comments.

    Args:
        document: where the findings are.
        findings: all that was found in it.
        complete: whether every rule was asked; only then can a comment be called unused.
    """
    if MARK not in document.text:
        return list(findings), []
    keeps = list(_keeps(document))
    beside: dict[int | None, list[_Keep]] = {}
    for keep in keeps:
        beside.setdefault(keep.cell, []).append(keep)
    used: set[_Keep] = set()
    result = []
    for finding in findings:
        there = beside.get(finding.cell, [])
        first = bisect_left(there, finding.line, key=_line)
        last = bisect_right(there, finding.end_line, key=_line)
        mine = next((keep for keep in there[first:last] if keep.covers(finding)), None)
        if mine is not None:
            used.add(mine)
            reason = mine.reason or _("a comment in the code says so")
            finding = replace(finding, kept=reason)
        result.append(finding)
    unused = [
        Notice(
            document.path,
            keep.line,
            _("This comment keeps nothing: no finding is on its line."),
            keep.cell,
        )
        for keep in keeps
        if keep not in used and complete
    ]
    return result, unused


def _keeps(document: Document) -> list[_Keep]:
    found = []
    for match in _COMMENT.finditer(document.text):
        if not _is_comment(document, match.start()):
            continue
        line, _column = document.source.position(match.start())
        codes = (match.group(1) or b"").decode("utf-8", "replace")
        rules = tuple(code.strip() for code in codes.split(",") if code.strip())
        reason = match.group(2).decode("utf-8", "replace").rstrip()
        reason = reason.removesuffix("*/").removesuffix("-->").rstrip().strip(" \t:-—")
        found.append(_Keep(line, document.source.cell_of(match.start()), rules, reason))
    return found


def _is_comment(document: Document, offset: int) -> bool:
    if document.language is None:
        return True
    node = document.root.descendant_for_byte_range(offset, offset + 1)
    return node is None or "string" not in node.type
