"""Source and diffs as lines to draw: plain data, made away from the screen.

Text of the project is made harmless first (control characters visible, tabs as spaces) and only
then coloured, so that what a position means never changes in between.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from project.paths import visible

_LINE_END = re.compile(r"\r\n|\r|\n")
_HUNK = re.compile(r"^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
TAB = 4
#: Above this, a file is shown without syntax colours: a lexer would take seconds.
COLOUR_LIMIT = 300_000
#: Beyond this column a line has no colours: each row of it would look through all of them.
COLUMN_LIMIT = 2_000

#: Start, end and kind of a coloured part of a line.
Span = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class Line:
    """One line to draw.

    ``kind`` is ``plain``, ``added``, ``removed``, ``gap`` (between hunks) or ``note``. ``mark``
    is the part that a finding covers or an edit changes.
    """

    text: str
    kind: str = "plain"
    number: int | None = None
    spans: tuple[Span, ...] = ()
    mark: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Lines, and the one to look at first."""

    lines: tuple[Line, ...] = ()
    focus: int = 0


def lines_of(text: str) -> list[str]:
    """The lines of a text, harmless, without line ends."""
    return [harmless(line) for line in _LINE_END.split(text)]


def harmless(text: str) -> str:
    """One line with its tabs as spaces and control characters made visible."""
    return visible(text.expandtabs(TAB))


def source(text: str, path: str, lines: tuple[int, int], columns: tuple[int, int]) -> Listing:
    """A file with the place ``lines`` and ``columns`` marked, both counting from 1."""
    raw = _LINE_END.split(text)
    shown = [harmless(line) for line in raw]
    spans = colours("\n".join(shown), path)
    first, last = lines
    out = []
    for number, (original, line) in enumerate(zip(raw, shown, strict=True), 1):
        mark = None
        if first <= number <= last:
            start = len(harmless(original[: columns[0] - 1])) if number == first else 0
            end = len(harmless(original[: columns[1] - 1])) if number == last else len(line)
            if number != first:
                start = len(line) - len(line.lstrip())
            mark = (start, max(end, start + 1))
        out.append(Line(line, "plain", number, spans.get(number, ()), mark))
    return Listing(tuple(out), min(max(first - 1, 0), max(len(out) - 1, 0)))


def diff(patch: str, before: str, after: str, path: str) -> Listing:
    """A git patch of one file; ``before`` and ``after`` are the file's texts, for its colours."""
    old_spans = colours("\n".join(lines_of(before)), path)
    new_spans = colours("\n".join(lines_of(after)), path)
    out: list[Line] = []
    old = new = 0
    inside = False
    # A patch's lines end in \n alone; a \r before it belongs to the file's text.
    for raw in patch.split("\n"):
        hunk = _HUNK.match(raw)
        if hunk:
            if inside:
                out.append(Line("", "gap"))
            inside = True
            old, new = int(hunk.group(1)), int(hunk.group(2))
            continue
        if not inside or not raw:
            continue
        sign, text = raw[0], harmless(raw[1:].removesuffix("\r"))
        if sign == " ":
            out.append(Line(text, "plain", new, new_spans.get(new, ())))
            old, new = old + 1, new + 1
        elif sign == "-":
            out.append(Line(text, "removed", old, old_spans.get(old, ())))
            old += 1
        elif sign == "+":
            out.append(Line(text, "added", new, new_spans.get(new, ())))
            new += 1
        elif sign == "\\":
            out.append(Line(text.strip(), "note"))
    lines = tuple(_with_changed_words(out))
    focus = next((i for i, line in enumerate(lines) if line.kind in ("added", "removed")), 0)
    return Listing(lines, focus)


def _with_changed_words(lines: list[Line]) -> Iterator[Line]:
    """Mark what differs between a run of removed lines and the equally long run added after it."""
    index = 0
    while index < len(lines):
        removed = _run(lines, index, "removed")
        added = _run(lines, index + len(removed), "added")
        if removed and len(removed) == len(added):
            pairs = [_marked(one, two) for one, two in zip(removed, added, strict=True)]
            yield from (one for one, _two in pairs)
            yield from (two for _one, two in pairs)
            index += len(removed) + len(added)
        else:
            yield lines[index]
            index += 1


def _run(lines: list[Line], start: int, kind: str) -> list[Line]:
    end = start
    while end < len(lines) and lines[end].kind == kind:
        end += 1
    return lines[start:end]


def _marked(one: Line, two: Line) -> tuple[Line, Line]:
    a, b = one.text, two.text
    most = min(len(a), len(b))
    head = next((i for i in range(most) if a[i] != b[i]), most)
    tail = next((i for i in range(most - head) if a[-1 - i] != b[-1 - i]), most - head)
    return (
        Line(a, one.kind, one.number, one.spans, _part(head, len(a) - tail)),
        Line(b, two.kind, two.number, two.spans, _part(head, len(b) - tail)),
    )


def _part(start: int, end: int) -> tuple[int, int] | None:
    return (start, end) if end > start else None


_KINDS = (
    ("Comment", "comment"),
    ("Keyword.Constant", "constant"),
    ("Keyword", "keyword"),
    ("Operator.Word", "keyword"),
    ("Name.Function", "function"),
    ("Name.Class", "function"),
    ("Name.Decorator", "function"),
    ("Name.Builtin", "builtin"),
    ("Name.Tag", "keyword"),
    ("Literal.String", "string"),
    ("Literal.Number", "number"),
)


def colours(text: str, path: str) -> dict[int, tuple[Span, ...]]:
    """The coloured parts of a text by line number from 1; none for an unknown kind of file."""
    if len(text) > COLOUR_LIMIT:
        return {}
    from pygments.lexers import (  # type: ignore[import-untyped]
        find_lexer_class_for_filename,
    )

    name = path.rsplit("/", 1)[-1]
    kind = find_lexer_class_for_filename("cell.py" if name.endswith(".ipynb") else name)
    if kind is None:
        return {}
    out: dict[int, list[Span]] = {}
    number, column = 1, 0
    lexer = kind(stripnl=False, ensurenl=False)
    for _start, token, value in lexer.get_tokens_unprocessed(text):
        name = next((word for prefix, word in _KINDS if _is(token, prefix)), "")
        for index, part in enumerate(value.split("\n")):
            if index:
                number, column = number + 1, 0
            if part and name and column < COLUMN_LIMIT:
                out.setdefault(number, []).append((column, column + len(part), name))
            column += len(part)
    return {line: tuple(spans) for line, spans in out.items()}


def _is(token: object, prefix: str) -> bool:
    return str(token).removeprefix("Token.").startswith(prefix)


def patches(patch: bytes) -> list[bytes]:
    """A git patch cut into the parts that speak of one file each."""
    starts = [match.start() for match in re.finditer(rb"(?m)^diff --git ", patch)]
    return [patch[start:end] for start, end in zip(starts, [*starts[1:], len(patch)], strict=True)]


def counts(patch: bytes) -> tuple[int, int, int]:
    """Hunks, added and removed lines of one file's patch."""
    body = re.split(rb"(?m)^@@ -[^\n]*\n", patch)[1:]
    lines = [line for hunk in body for line in hunk.split(b"\n")]
    added = sum(1 for line in lines if line.startswith(b"+"))
    removed = sum(1 for line in lines if line.startswith(b"-"))
    return len(body), added, removed
