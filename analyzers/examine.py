"""The findings of one file, from its name and its bytes alone."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from analyzers import keep
from analyzers.documents.base import Document
from analyzers.documents.kinds import document_for
from analyzers.documents.python import PythonDocument
from analyzers.registry import rules
from analyzers.rule import Match, Rule
from analyzers.words import Reading, readings
from project.translation import _
from project.vocabulary import Finding, Notice, Proposal, Skipped

#: Levels of the syntax tree. In the 480 files of PyTorch 2.13 that say cuda the most is 24.
DEEPEST = 400


@dataclass(frozen=True, slots=True)
class FileReport:
    """What one file gave. ``read`` is false for a file that was only skipped."""

    path: str
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notices: tuple[Notice, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    read: bool = True


def examine(path: str, data: bytes, chosen: Sequence[Rule[Any]]) -> FileReport:
    """The findings of one file, from its name and its bytes alone."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    notices: list[Notice] = []
    reads = _readings(tuple(chosen))
    for kind in document_for(path):
        reading = reads.get(kind)
        if reading is None:
            continue
        try:
            source = kind.source_from(path, data)
        except ValueError as error:
            skipped.append(Skipped(path, str(error)))
            continue
        words, mine = reading.hits(source.text)
        if not words and not mine:
            continue
        whole = any(one.whole for one in mine)
        document = kind(source) if whole or not words else kind.around(source, words)
        if document is None:
            continue
        try:
            if _too_deep(document, words):
                raise RecursionError
            found = list(findings_in(document, mine))
        except RecursionError:
            skipped.append(Skipped(path, _("It is nested too deeply to be read.")))
            continue
        skipped.extend(Skipped(path, problem) for problem in document.problems())
        found, unused = keep.marked(document, found, complete=len(chosen) == len(rules()))
        findings.extend(found)
        notices.extend(unused)
    findings.sort(key=lambda finding: (finding.start, finding.end, finding.rule))
    return FileReport(path, tuple(findings), tuple(skipped), tuple(notices))


def findings_of(document: PythonDocument, chosen: Sequence[Rule[Any]]) -> list[Finding]:
    """What rules find in a whole Python document, which may have been parsed already.

    Raises:
        RecursionError: it is nested too deeply.
    """
    words, mine = _readings(tuple(chosen))[PythonDocument].hits(document.text)
    document.look_near(words)
    return list(findings_in(document, mine))


@cache
def _readings(chosen: tuple[Rule[Any], ...]) -> dict[type[Document], Reading]:
    return readings(chosen)


def _too_deep(document: Document, words: Sequence[int]) -> bool:
    """Whether a word that rules ask about lies deeper in the tree than people write.

    Asking a node for its parent takes longer the deeper it lies, so such a file could take hours.
    """
    if document.language is None:
        return False
    cursor = document.root.walk()
    for offset in words:
        depth = 0
        cursor.reset(document.root)
        while cursor.goto_first_child_for_byte(offset) is not None:
            depth += 1
            if depth > DEEPEST:
                return True
    return False


def findings_in(document: Document, mine: Sequence[Rule[Any]]) -> Iterator[Finding]:
    """What these rules, which read documents of this kind, find in one."""
    matches = sorted(
        ((match, one) for one in mine for match in one.find(document)),
        key=lambda pair: (pair[0].start, pair[0].end, pair[1].code),
    )
    seen: Counter[tuple[str, ...]] = Counter()
    scope_of = _scope_names(document)
    for match, one in matches:
        text = match.text
        if text is None:
            text = document.source.decode(match.start, match.end)
        key = (one.code, document.path, scope_of(match), " ".join(text.split()))
        seen[key] += 1
        yield _finding(document, match, one, text, _identity((*key, str(seen[key]))))


def _finding(document: Document, match: Match, one: Rule[Any], text: str, identity: str) -> Finding:
    source = document.source
    line, column = source.position(match.start)
    end_line, end_column = source.position(match.end)
    return Finding(
        id=identity,
        rule=one.code,
        name=one.name,
        layer=one.layer,
        severity=match.severity or one.severity,
        fix=match.fix or one.fix,
        path=document.path,
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
        start=match.start,
        end=match.end,
        text=text,
        message=match.message,
        cell=source.cell_of(match.start),
        since=match.since,
        until=match.until,
    )


def _identity(parts: Sequence[str]) -> str:
    """An id that edits elsewhere leave alone: rule, file, scope, text, and which of the equals."""
    joined = "\0".join(parts).encode("utf-8", "surrogateescape")
    return hashlib.sha256(joined).hexdigest()[:12]


def _scope_names(document: Document) -> Callable[[Match], str]:
    """A function that names the Python functions and classes around a match."""
    if not isinstance(document, PythonDocument):
        return lambda match: ""

    def name(match: Match) -> str:
        place = document.root.descendant_for_byte_range(match.start, match.end)
        # From above: asking a node for its parent walks down from the root each time.
        node = document.root if place is not None else None
        parts: list[str] = []
        while node is not None and place is not None and node != place:
            if node.type in ("function_definition", "class_definition"):
                label = node.child_by_field_name("name")
                if label is not None:
                    parts.append(document.slice(label))
            node = node.child_with_descendant(place)
        return ".".join(parts)

    return name
