"""A patch that says of each hunk which rule made it, and why.

`git apply` passes over text before a file's header and fails over text between two hunks, so each
hunk gets a header of its own. git, and patch(1), take several such parts for one file in turn.
"""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from project.journal import Change
from project.paths import visible
from project.translation import _
from project.vocabulary import Edit, Finding, Proposal

# Each line of a hunk has a mark in front: neither can begin like this.
_PART = re.compile(rb"(?m)^(?=diff --git )")
_HUNK = re.compile(rb"(?m)^(?=@@ -)")
_RANGE = re.compile(rb"@@ -(\d+)(?:,(\d+))? ")


def explained(
    patch: bytes,
    changes: Sequence[Change],
    proposals: Sequence[Proposal],
    findings: Mapping[str, Finding],
) -> bytes:
    """The patch with the reasons before each hunk, as comments.

    Args:
        patch: what `git.diff_trees` makes of the changes.
        changes: the files that it is about.
        proposals: the proposals that were combined in them.
        findings: the findings of the proposals, by id.
    """
    ordered = sorted(changes, key=lambda change: os.fsencode(change.path))
    out = []
    for part, change in zip(_PART.split(patch)[1:], ordered, strict=True):
        places = [
            (findings[one.finding], one.why, [_lines(change.before, edit) for edit in one.edits])
            for one in proposals
            if one.path == change.path
        ]
        header, *hunks = _HUNK.split(part)
        for hunk in hunks:
            first, last = _extent(hunk)
            here = (
                (finding, why)
                for finding, why, lines in places
                if any(start <= last and end >= first for start, end in lines)
            )
            out += [_comment(here).encode("utf-8", "backslashreplace"), header, hunk]
    return b"".join(out)


def _lines(data: bytes, edit: Edit) -> tuple[int, int]:
    """The first and last line that an edit changes."""
    first = data.count(b"\n", 0, edit.start) + 1
    return first, first + data.count(b"\n", edit.start, max(edit.start, edit.end - 1))


def _extent(hunk: bytes) -> tuple[int, int]:
    """The lines of the old file that a hunk shows, and the one after them.

    That is where text added at the end of the file goes; another hunk never begins there.
    """
    match = _RANGE.match(hunk)
    assert match is not None
    first = int(match[1])
    return first, first + int(match[2] or 1)


def _comment(places: Iterable[tuple[Finding, str]]) -> str:
    """The rules and reasons of one hunk, with each reason once."""
    return "".join(f"# {visible(line)}\n" for line in dict.fromkeys(_sentences(places)))


def _sentences(places: Iterable[tuple[Finding, str]]) -> Iterator[str]:
    for finding, why in places:
        words = (
            _("{code} {name}, line {line}: {message}")
            if finding.cell is None
            else _("{code} {name}, cell {cell}, line {line}: {message}")
        )
        yield words.format(
            code=finding.rule,
            name=finding.name,
            cell=finding.cell,
            line=finding.line,
            message=finding.message,
        )
        if why:
            yield f"  {why}"
