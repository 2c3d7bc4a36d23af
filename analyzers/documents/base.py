"""What every document has: text to parse, and the way back from its bytes to the file."""

import bisect
import codecs
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar, cast

from tree_sitter import Language, Node, Parser

T = TypeVar("T")

_CODING = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)", re.MULTILINE)

#: ``?`` for each byte that is not ASCII.
_MASK = bytes(range(128)) + b"?" * 128


def name_of(path: str) -> str:
    """The last part of a path, in small letters."""
    return path.rpartition("/")[2].lower()


@dataclass(frozen=True)
class Source:
    """The text of a file, or of a notebook's code cells, as it is parsed.

    ``text`` has the same length as what it was read from, so its byte offsets can be used on the
    file: where a file is not UTF-8, ``text`` has ``?`` for each byte above 127 and ``raw`` the
    bytes themselves. For a notebook ``offsets[i]`` is the byte of the file where byte ``i`` of
    the text begins (with one entry more, for the end), ``ends[i]`` where it ends, and ``cells`` the
    start of each code cell.
    """

    path: str
    text: bytes
    raw: bytes
    encoding: str = "utf-8"
    offsets: Sequence[int] | None = None
    ends: Sequence[int] = field(default=(), repr=False)
    cells: tuple[int, ...] = ()
    #: Offsets of the text that begin a new JSON string of a notebook.
    seams: tuple[int, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, path: str, data: bytes) -> "Source":
        """Make the source of an ordinary text file from its bytes."""
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            head = b"\n".join(data.split(b"\n", 2)[:2])
            declared = _CODING.search(head)
            name = declared.group(1).decode("ascii", "replace") if declared else "latin-1"
            try:
                codecs.lookup(name)
                data.decode(name)
            except (LookupError, UnicodeDecodeError):
                name = "latin-1"
            return cls(path, data.translate(_MASK), data, name)
        return cls(path, data, data)

    @cached_property
    def _line_starts(self) -> list[int]:
        starts = [0, *(match.end() for match in re.finditer(rb"\r\n|\r|\n", self.text))]
        # A cell begins a line even where the one before has no line end.
        return sorted({*starts, *self.cells})

    def cell_of(self, offset: int) -> int | None:
        """The number of the code cell that holds ``offset``, or None outside a notebook."""
        if not self.cells:
            return None
        return max(bisect.bisect_right(self.cells, offset) - 1, 0)

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a byte offset, both from 1, the column in characters.

        In a notebook the line counts inside its cell.
        """
        if not self._is_plain:
            return self._position(offset)
        # Counting line ends up to here is faster than listing all of them.
        seen, row = self._seen if self._seen[0] <= offset else (0, 0)
        row += self.text.count(b"\n", seen, offset)
        self._seen[:] = offset, row
        start = self.text.rfind(b"\n", 0, offset) + 1
        return row + 1, self._column(start, offset)

    @cached_property
    def _is_plain(self) -> bool:
        """Whether a line feed, and nothing else, ends a line."""
        return not self.cells and b"\r" not in self.text

    @cached_property
    def _seen(self) -> list[int]:
        """An offset whose line is known, and how many lines stand before it."""
        return [0, 0]

    def _position(self, offset: int) -> tuple[int, int]:
        index = bisect.bisect_right(self._line_starts, offset) - 1
        cell = self.cell_of(offset)
        first = bisect.bisect_left(self._line_starts, self.cells[cell]) if cell is not None else 0
        return index - first + 1, self._column(self._line_starts[index], offset)

    def _column(self, start: int, offset: int) -> int:
        """The column of an offset in the line that begins at ``start``."""
        known, characters = self._column_seen
        if not start <= known <= offset:
            known, characters = start, 0
        characters += len(self.raw[known:offset].decode(self.encoding, "replace"))
        if self.encoding in ("utf-8", "latin-1") and _ends_whole(self.raw, offset):
            self._column_seen[:] = offset, characters
        if start == 0 and self.raw.startswith(codecs.BOM_UTF8) and offset >= 3:
            return characters
        return characters + 1

    @cached_property
    def _column_seen(self) -> list[int]:
        """An offset whose column is known, and how many characters its line has before it."""
        return [0, 0]

    def decode(self, start: int, end: int) -> str:
        """The characters that bytes ``start:end`` stand for."""
        return self.raw[start:end].decode(self.encoding, "replace")


def _ends_whole(data: bytes, offset: int) -> bool:
    """Whether no character of UTF-8 goes on after an offset."""
    return offset >= len(data) or data[offset] & 0xC0 != 0x80


class Document:
    """A parsed file. Subclasses know one language; rules ask them questions."""

    #: The tree-sitter language, or None for formats that another parser reads.
    language: Language | None = None
    #: Whether the words that rules wait for must have the case that the rules give.
    cased = False

    def __init__(self, source: Source) -> None:
        self.source = source
        self._memo: dict[Hashable, Any] = {}

    def remember(self, key: Hashable, make: Callable[[], T]) -> T:
        """What ``make`` gives, worked out the first time that ``key`` is asked for."""
        if key not in self._memo:
            self._memo[key] = make()
        return cast("T", self._memo[key])

    def once(self, make: Callable[[Any], Iterable[T]]) -> tuple[T, ...]:
        """What ``make`` gives for this document, worked out the first time only."""
        return self.remember(make, lambda: tuple(make(self)))

    def says(self, pattern: re.Pattern[bytes]) -> bool:
        """Whether the text has a match of ``pattern``."""
        return self.remember(pattern, lambda: pattern.search(self.text) is not None)

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Whether a file of this name is read as this kind of document."""
        raise NotImplementedError

    @classmethod
    def source_from(cls, path: str, data: bytes) -> Source:
        """The text that this kind of document parses of a file.

        Raises:
            ValueError: the file is not what its name says; the message is a sentence.
        """
        return Source.of(path, data)

    @property
    def path(self) -> str:
        """Path in the project, with forward slashes."""
        return self.source.path

    @property
    def text(self) -> bytes:
        """The bytes that offsets count in."""
        return self.source.text

    @classmethod
    def around(cls, source: Source, words: Sequence[int]) -> "Document | None":
        """The document, if what is looked for, at these offsets, can mean anything in it."""
        return cls(source)

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree."""
        return self.parsed()

    def parsed(self) -> Node:
        """Parse the text."""
        assert self.language is not None
        return Parser(self.language).parse(self.source.text).root_node

    def slice(self, node: Node) -> str:
        """The source text of a node."""
        return self.source.decode(node.start_byte, node.end_byte)

    def problems(self) -> Sequence[str]:
        """What of this file could not be read, each as a reason for the list of skipped parts."""
        return ()
