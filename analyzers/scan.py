"""From files to findings.

A file is read once and searched for the words that rules care about; it is parsed only when it
has one. Nothing of a scanned project is run.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from analyzers.documents.base import Document
from analyzers.documents.kinds import document_for, source_for
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.registry import rule, rules
from analyzers.rule import Match, Rule
from project import files
from project.config import Config
from project.errors import UserError
from project.translation import _
from project.vocabulary import Finding, Layer, Skipped
from project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to look for: rule codes or slugs to take or leave, and layers; empty means all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()

    @classmethod
    def from_config(cls, config: Config) -> "ScanOptions":
        """The options that the project's configuration sets."""
        return cls(select=config.select, ignore=config.ignore)

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
class FileReport:
    """What one file gave. ``read`` is false for a file that was only skipped."""

    path: str
    findings: tuple[Finding, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    read: bool = True


def scan(
    workspace: Workspace, options: ScanOptions, paths: Iterable[str] | None = None
) -> Iterator[FileReport]:
    """Look at every file of the project, or at ``paths`` alone, and report each as it is done.

    Raises:
        UserError: the options name a rule that does not exist.
    """
    chosen = options.rules()
    if paths is None:
        paths, left_out = files.listed(workspace)
        for skipped in left_out:
            yield FileReport(skipped.path, skipped=(skipped,), read=False)
    for path in paths:
        if not document_for(path):
            continue
        data = files.read(workspace.root, path)
        if isinstance(data, Skipped):
            yield FileReport(path, skipped=(data,), read=False)
        else:
            yield examine(path, data, chosen)


def examine(path: str, data: bytes, chosen: Sequence[Rule[Any]]) -> FileReport:
    """The findings of one file, from its name and its bytes alone."""
    findings: list[Finding] = []
    skipped: list[Skipped] = []
    for kind in document_for(path):
        mine = tuple(one for one in chosen if one.reads is kind)
        try:
            source = source_for(kind, path, data)
        except ValueError as error:
            skipped.append(Skipped(path, str(error)))
            continue
        if not mine or not _triggers(mine).search(source.text):
            continue
        document = kind(source)
        skipped.extend(Skipped(path, problem) for problem in document.problems())
        findings.extend(_findings(document, mine))
    findings.sort(key=lambda finding: (finding.start, finding.end, finding.rule))
    return FileReport(path, tuple(findings), tuple(skipped))


@cache
def _triggers(mine: tuple[Rule[Any], ...]) -> re.Pattern[bytes]:
    words = sorted({word for one in mine for word in one.triggers})
    return re.compile(b"|".join(b"(?:" + word + b")" for word in words))


def _findings(document: Document, mine: Sequence[Rule[Any]]) -> Iterator[Finding]:
    matches = sorted(
        (
            (match, one)
            for one in mine
            if any(re.search(word, document.text) for word in one.triggers)
            for match in one.find(document)
        ),
        key=lambda pair: (pair[0].start, pair[0].end, pair[1].code),
    )
    seen: Counter[tuple[str, ...]] = Counter()
    scope_of = _scope_names(document)
    for match, one in matches:
        text = document.source.decode(match.start, match.end)
        key = (one.code, document.path, scope_of(match), " ".join(text.split()))
        seen[key] += 1
        yield _finding(document, match, one, text, _identity((*key, str(seen[key]))))


def _finding(
    document: Document, match: Match, one: Rule[Any], text: str, identity: str
) -> Finding:
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
        node = document.root.descendant_for_byte_range(match.start, match.end)
        parts: list[str] = []
        while node is not None:
            node = enclosing(node, ("function_definition", "class_definition"))
            label = node.child_by_field_name("name") if node is not None else None
            if label is not None:
                parts.append(document.slice(label))
        return ".".join(reversed(parts))

    return name
