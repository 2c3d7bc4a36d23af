"""The parts of a Python file that are worth parsing: those around words that rules look for.

Parsing takes most of a scan's time, and most functions of a project say nothing of CUDA. A module
is a row of statements, so the functions and methods without a word can be left out; what is kept
stays a module. All else at module and class level is kept, for its imports, constants and bases.
"""

import bisect
import re
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import pairwise

from tree_sitter import Point, Range

#: Comments and strings; a quote by itself means that the text cannot be told apart this way.
_TOKEN = re.compile(
    rb"#[^\r\n]*"
    rb'|"""[^"\\]*(?:(?:\\.|"(?!""))[^"\\]*)*"""'
    rb"|'''[^'\\]*(?:(?:\\.|'(?!''))[^'\\]*)*'''"
    rb'|"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*"'
    rb"|'[^'\\\r\n]*(?:\\.[^'\\\r\n]*)*'"
    rb"""|["']""",
    re.DOTALL,
)
_MEMBER = re.compile(rb"(?:async[ \t]+)?def\b|class\b|@")
_METHOD = re.compile(rb"^([ \t]+)(?:@|def\b|async\b)", re.MULTILINE)
#: A comment of ours is looked at wherever it stands.
_OURS = b"cuda2mps:"
#: A class shorter than this is parsed whole.
_LARGE = 2_000
#: A statement that binds names to parts of a module, or a module to a name of its own.
_IMPORT = re.compile(
    rb"[ \t]*(?:from[ \t]+[\w.]+[ \t]+)?import[ \t]+"
    rb"(?P<names>\([^()]*\)|[^\r\n#;]*(?:\\\r?\n[^\r\n#;]*)*)"
)
_BOUND = re.compile(rb"([A-Za-z_][\w.]*)(?:[ \t]+as[ \t]+(\w+))?")
#: Names that are in every file of a PyTorch project.
_USUAL = frozenset({b"torch", b"nn", b"F", b"os", b"np"})
#: A session with an interpreter, as examples in texts are written.
_DIALOGUE = re.compile(rb"\n[ \t]*>>> ")
#: No file binds more names to parts of one kind of module than this.
_MOST = 250
_QUOTES = b"\"'"
_HASH, _BACKSLASH = b"#\\"
#: What before an opening quote leaves it unsure that it opens a text.
_UNSURE = re.compile(rb"[#\"'\\\r]")
_CONTINUED = (b"\\\n", b"\\\r\n")
#: A text that goes on in a line that could pass for the beginning of a function or a class.
_GOES_ON_AS_MEMBER = re.compile(rb"[\"'][^\n]*\\\r?\n[ \t]*(?:async|def|class|@)")
#: All of a line up to the comment on it.
_UP_TO_COMMENT = re.compile(rb"""(?:[^#"'\\]|\\.|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*#""")
#: Bytes of a line before a word; whether a longer one has a comment is not asked.
_LONG_LINE = 2_000
#: Ends of a line after which the next one belongs to the same statement.
_GOES_ON = (b"(", b"[", b"{", b",", b"=", b"\\", b"+", b'"', b"'")


def around(text: bytes, words: Sequence[int]) -> list[tuple[int, int]] | None:
    """The parts ``start:end`` of a module to parse, or None when all of it must be.

    Args:
        text: the module.
        words: offsets, ascending, of what is looked for.

    An empty list means that every word stands in a comment or in a text on a line of its own,
    which is what docstrings are, or in a dialogue with an interpreter.
    """
    texts = _texts(text)
    if texts is None:
        texts = _texts_read_one_by_one(text)
        if texts is None:
            return None
    spans = _Spans(texts)
    # One text may hold all the words.
    is_prose = cache(partial(_is_prose, text))
    wanted = []
    for word in words:
        before, span = spans.around(word)
        silent = is_prose(span) if span is not None else _is_comment(text, before, word)
        if not silent or text.startswith(_OURS, word):
            wanted.append(word)
    if not wanted:
        return []
    return _joined(_kept(text, 0, len(text), b"", wanted, spans))


def _texts(text: bytes) -> list[tuple[int, int]] | None:
    """The texts in triple quotes, or None where only reading every token can tell.

    Nearly all of them begin on a line that has no other quote and no comment before them, and to
    look for quotes alone is many times faster than to look for tokens.
    """
    if (b"\\\n" in text or b"\\\r" in text) and _GOES_ON_AS_MEMBER.search(text) is not None:
        return None
    found: list[tuple[int, int]] = []
    double, single, end = text.find(b'"""'), text.find(b"'''"), 0
    while double >= 0 or single >= 0:
        start = double if single < 0 or 0 <= double < single else single
        line = text.rfind(b"\n", end, start) + 1 or end
        if _UNSURE.search(text, line, start) is not None or text[max(line - 3, 0) : line].endswith(
            _CONTINUED
        ):
            return None
        closing = text.find(text[start : start + 3], start + 3)
        if closing < 0 or text[closing - 1] == _BACKSLASH:
            return None
        end = closing + 3
        found.append((start, end))
        if 0 <= double < end:
            double = text.find(b'"""', end)
        if 0 <= single < end:
            single = text.find(b"'''", end)
    return found


def _texts_read_one_by_one(text: bytes) -> list[tuple[int, int]] | None:
    """The texts that go over several lines, or None where a quote has no partner."""
    found: list[tuple[int, int]] = []
    for token in _TOKEN.finditer(text):
        start, end = token.span()
        if end - start == 1 and text[start] in _QUOTES:
            return None
        if text[start] != _HASH and text.find(b"\n", start, end) >= 0:
            found.append((start, end))
    return found


def _is_comment(text: bytes, start: int, word: int) -> bool:
    """Whether a word stands in a comment; no text goes on at ``start``, which is before it."""
    line = text.rfind(b"\n", start, word) + 1 or start
    if text.find(b"#", line, word) < 0 or word - line > _LONG_LINE:
        return False
    comment = _UP_TO_COMMENT.match(text, line, word)
    return comment is not None and text.find(b"\r", comment.end(), word) < 0


def followed(text: bytes, words: Sequence[int]) -> Sequence[int]:
    """The offsets, and those of the names that import statements with one of them bind.

    After ``from torch.cuda.amp import custom_fwd`` it is ``custom_fwd`` that means CUDA.
    """
    names: set[bytes] = set()
    end = 0
    for index, word in enumerate(words):
        if word < end:
            continue
        line = text.rfind(b"\n", end, word) + 1 or end
        statement = _IMPORT.match(text, line)
        if statement is None or word >= statement.end():
            end = text.find(b"\n", word) + 1 or len(text)
            continue
        end = statement.end()
        first = statement.start("names")
        inside = words[index : bisect.bisect_left(words, end)]
        for match in _BOUND.finditer(text, first, end):
            at = bisect.bisect_left(inside, match.start())
            if word < first or (at < len(inside) and inside[at] < match.end()):
                names.add(match[2] or match[1])
    names -= _USUAL
    if not 0 < len(names) <= _MOST:
        return words
    return sorted({*words, *(start for name in names for start in starts_of(name, text))})


def starts_of(word: bytes, text: bytes, start: int = 0, end: int | None = None) -> Iterator[int]:
    """Where ``text[start:end]`` has a word, be it a part of a longer one."""
    end = len(text) if end is None else end
    while (start := text.find(word, start, end)) >= 0:
        yield start
        start += 1


def lines(text: bytes, words: Sequence[int]) -> list[tuple[int, int]]:
    """The lines of these offsets, ascending, each with the one before and the one after it."""
    found: list[tuple[int, int]] = []
    for word in words:
        if found and word < found[-1][1]:
            before = word
        else:
            before = text.rfind(b"\n", 0, max(text.rfind(b"\n", 0, word), 0)) + 1
        end = text.find(b"\n", word)
        end = text.find(b"\n", end + 1) if end >= 0 else -1
        end = end if end >= 0 else len(text)
        if found and before <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((before, end))
    return found


def ranges(text: bytes, parts: Sequence[tuple[int, int]]) -> Iterator[Range]:
    """Parts of a text as the parser wants them, with rows and columns."""
    row, line, seen = 0, 0, 0
    for part in parts:
        points = []
        for offset in part:
            row += text.count(b"\n", seen, offset)
            line = max(text.rfind(b"\n", seen, offset) + 1, line)
            points.append(Point(row, offset - line))
            seen = offset
        yield Range(points[0], points[1], *part)


class _Spans:
    """Texts of several lines, by where they begin."""

    def __init__(self, spans: list[tuple[int, int]]) -> None:
        self._spans = spans
        self._starts = [start for start, _end in spans]

    def around(self, offset: int) -> tuple[int, tuple[int, int] | None]:
        """Where the last text before an offset ends, and the text that it is inside of."""
        index = bisect.bisect_left(self._starts, offset) - 1
        if index < 0:
            return 0, None
        span = self._spans[index]
        return span[1], span if offset < span[1] else None

    def inside(self, offset: int) -> bool:
        """Whether an offset is inside of a text, not at its beginning."""
        return self.around(offset)[1] is not None


def _is_prose(text: bytes, span: tuple[int, int]) -> bool:
    start = span[0]
    if _DIALOGUE.search(text, start, span[1]):
        return True
    # The text opens its line, and the line before ended a statement or opened a block.
    line = max(text.rfind(b"\n", 0, start), text.rfind(b"\r", max(start - 400, 0), start)) + 1
    if text[line:start].strip(b" \t"):
        return False
    return not text[max(line - 400, 0) : line].rstrip().endswith(_GOES_ON)


def _kept(
    text: bytes, start: int, end: int, indent: bytes, words: Sequence[int], spans: _Spans
) -> Iterator[tuple[int, int]]:
    """The statements of a block to keep; ``indent`` is what each of its lines begins with."""
    # A search for a line end is much faster than one for the beginning of a line.
    opening = re.compile(
        rb"\n" + indent + rb"(?=[A-Za-z_@\"'(\[{~+-])(?!(?:else|elif|except|finally|case)\b)"
    )
    begins = [
        match.start() + 1
        for match in opening.finditer(text, start, end)
        if not spans.inside(match.end())
    ]
    bounds = [start, *begins, end]
    decorated: int | None = None
    for first, last in pairwise(bounds):
        head = first + len(indent) if text.startswith(indent, first) else first
        if text.startswith(b"@", head):
            decorated = first if decorated is None else decorated
            if last != end:
                continue
        begin, decorated = (first if decorated is None else decorated), None
        member = _MEMBER.match(text, head)
        if member is None:
            yield begin, last
            continue
        here = words[bisect.bisect_left(words, begin) : bisect.bisect_left(words, last)]
        if member.group() == b"class" and here and last - begin > _LARGE:
            yield from _class(text, begin, head, last, here, spans)
        elif here or text.startswith(b"def __init__", head):
            yield begin, last


def _class(
    text: bytes, begin: int, head: int, end: int, words: Sequence[int], spans: _Spans
) -> Iterator[tuple[int, int]]:
    """The head of a class, its statements, and its methods that have a word."""
    for match in _METHOD.finditer(text, head, end):
        start = match.start()
        if not spans.inside(start + len(match.group(1))):
            yield begin, start
            yield from _kept(text, start, end, match.group(1), words, spans)
            return
    yield begin, end


def _joined(parts: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in parts:
        if joined and joined[-1][1] == start:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
