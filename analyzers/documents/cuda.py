"""CUDA source: ``.cu`` and ``.cuh``.

Kernels are found in the text with comments and strings blanked out by the grammar, and not in
the tree alone: attributes made by macros and bodies of ``#define`` are outside of what a parser
without the preprocessor can read, and a kernel in one is a kernel all the same.
"""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_cuda
from tree_sitter import Language, Node, Query, QueryCursor

from analyzers.documents.base import Document

CUDA = Language(tree_sitter_cuda.language())
_SILENT = Query(CUDA, "[(comment) (string_literal) (raw_string_literal) (char_literal)] @silent")
_LAUNCHES = Query(CUDA, "(call_expression (kernel_call_syntax)) @launch")

_VISIBLE = re.compile(rb"[^\r\n]")
_GLOBAL = re.compile(rb"\b__global__\b")
_CHEVRONS = re.compile(rb"(?<!<)<<<(?!<)")
_RUNTIME_LAUNCH = re.compile(
    rb"\b(?:cudaLaunch(?:Cooperative)?Kernel(?:ExC)?|cuLaunch(?:Cooperative)?Kernel(?:Ex)?)\s*\("
)
#: A preprocessor line with its continuations.
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:[^\\\r\n]|\\\r\n|\\.|\\\n)*", re.MULTILINE | re.DOTALL)
_DEFINE_HEAD = re.compile(rb"[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?(?:\s|\\\r?\n)*")
_SPACE = rb"(?:\s|\\\r?\n)*"
_NAME_BEFORE = re.compile(rb"([A-Za-z_][\w:]*)" + _SPACE + rb"\Z")
#: What may stand with parentheses in a signature without being the parameters.
_ATTRIBUTE = re.compile(
    rb"(?:__launch_bounds__|__cluster_dims__|__block_size__|__maxnreg__|__attribute__|__declspec|"
    rb"alignas|decltype|noexcept|requires|\w*LAUNCH_BOUNDS\w*)\Z"
)
_BRACKETS = re.compile(rb"[(){}]")
#: Longer than any signature; keeps broken files from being searched to their end each time.
_REACH = 20_000


@dataclass(frozen=True, slots=True)
class Kernel:
    """The signature of one ``__global__`` function that has a body."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Launch:
    """One expression that starts a kernel."""

    name: str
    start: int
    end: int


class CudaDocument(Document):
    """A CUDA source or header."""

    language = CUDA

    @classmethod
    def accepts(cls, path: str) -> bool:
        """CUDA by its suffix."""
        return path.lower().endswith((".cu", ".cuh"))

    @cached_property
    def code(self) -> bytes:
        """The text with comments and the contents of strings made into blanks."""
        blank = bytearray(self.text)
        for node in QueryCursor(_SILENT).captures(self.root).get("silent", []):
            start, end = node.start_byte, node.end_byte
            if node.type != "comment":
                start, end = start + 1, end - 1
            blank[start:end] = _VISIBLE.sub(b" ", self.text[start:end])
        return bytes(blank)

    @cached_property
    def _directives(self) -> list[tuple[int, int]]:
        return [match.span() for match in _DIRECTIVE.finditer(self.code)]

    def kernels(self) -> Iterator[Kernel]:
        """Every kernel that is defined; declarations are left out."""
        done = -1
        for match in _GLOBAL.finditer(self.code):
            if match.start() < done:
                continue
            kernel = self._kernel(match.start(), match.end())
            if kernel is not None:
                done = kernel.end
                yield kernel

    def _kernel(self, start: int, end: int) -> Kernel | None:
        code, limit = self.code, min(len(self.code), end + _REACH)
        name, close, position = "", -1, end
        while position < limit:
            byte = code[position : position + 1]
            if byte == b"(":
                after = _balanced(code, position, limit)
                if after is None:
                    return None
                word = _name_before(code, end, position)
                if not _ATTRIBUTE.search(word):
                    if word:
                        name, close = word.decode("ascii", "replace"), after
                    elif close >= 0:  # a name made by a macro: KERNEL(name)(arguments)
                        close = after
                position = after
            elif byte == b"{":
                if close < 0:
                    return None
                return Kernel(name, self._signature_start(start), close)
            elif byte in (b";", b"=", b"}"):
                return None
            else:
                position += 1
        return None

    def _signature_start(self, start: int) -> int:
        """Where the declaration that holds ``start`` begins: behind what ended before it."""
        floor = max(0, start - _REACH)
        index = bisect.bisect_right(self._directives, (start, start)) - 1
        if index >= 0:
            begin, end = self._directives[index]
            if end > start:
                head = _DEFINE_HEAD.match(self.code, begin, start)
                end = head.end() if head is not None else begin
            floor = max(floor, end)
        for mark in (b";", b"{", b"}"):
            floor = max(floor, self.code.rfind(mark, floor, start) + 1)
        skipped = re.compile(_SPACE).match(self.code, floor, start)
        return skipped.end() if skipped is not None else start

    def launches(self) -> Iterator[Launch]:
        """Every ``kernel<<<...>>>(...)`` and every launch through the runtime or driver API."""
        found = {launch.start: launch for launch in self._chevron_launches()}
        for match in _RUNTIME_LAUNCH.finditer(self.code):
            reach = min(len(self.code), match.end() + _REACH)
            end = _balanced(self.code, match.end() - 1, reach)
            if end is not None:
                argument = self.code[match.end() : end - 1].split(b",", 1)[0]
                name = argument.strip().decode("ascii", "replace")
                found[match.start()] = Launch(name, match.start(), end)
        yield from (found[start] for start in sorted(found))

    def _chevron_launches(self) -> Iterator[Launch]:
        parsed: dict[int, Node] = {}
        for node in QueryCursor(_LAUNCHES).captures(self.root).get("launch", []):
            for child in node.children:
                if child.type == "kernel_call_syntax" and not node.has_error:
                    parsed[child.start_byte] = node
        for match in _CHEVRONS.finditer(self.code):
            call = parsed.get(match.start())
            if call is not None:
                start, end = call.start_byte, call.end_byte
            else:
                read = self._launch_by_hand(match.start(), match.end())
                if read is None:
                    continue
                start, end = read
            yield Launch(self.source.decode(start, match.start()).strip(), start, end)

    def _launch_by_hand(self, start: int, end: int) -> tuple[int, int] | None:
        code, limit = self.code, min(len(self.code), end + _REACH)
        position = end
        while position < limit:
            if code[position : position + 1] in (b"(", b"{"):
                after = _balanced(code, position, limit)
                if after is None:
                    return None
                position = after
            elif code[position : position + 3] == b">>>":
                arguments = re.compile(_SPACE + rb"\(").match(code, position + 3, limit)
                if arguments is None:
                    return None
                close = _balanced(code, arguments.end() - 1, limit)
                begin = _callee_start(code, start)
                return None if close is None or begin is None else (begin, close)
            elif code[position : position + 1] in (b";", b"}"):
                return None
            else:
                position += 1
        return None

    def first_code(self) -> tuple[int, int] | None:
        """The first line that is more than a comment, or None in a file without any."""
        for match in re.finditer(rb"[^\r\n]+", self.code):
            line = match[0].strip(b" \t\f\v\xef\xbb\xbf")
            if line:
                start = match.start() + match[0].index(line)
                return start, start + len(line)
        return None


def _name_before(code: bytes, floor: int, position: int) -> bytes:
    """The word that stands before a parenthesis, template arguments and all."""
    before = _NAME_BEFORE.search(code, max(floor, position - 200), position)
    if before is not None:
        return before[1]
    if code[floor:position].rstrip().endswith(b">"):
        start = _callee_start(code, position)
        if start is not None and start >= floor:
            return code[start:position].strip()
    return b""


def _balanced(code: bytes, start: int, limit: int) -> int | None:
    """The offset behind the parenthesis or brace that closes the one at ``start``."""
    depth = 0
    for match in _BRACKETS.finditer(code, start, limit):
        depth += 1 if match[0] in b"({" else -1
        if depth == 0:
            return match.end()
    return None


def _callee_start(code: bytes, end: int) -> int | None:
    """Where the kernel's name begins that stands before ``<<<``, with its template arguments."""
    position = end
    while position > 0 and code[position - 1 : position].isspace():
        position -= 1
    floor = max(0, end - _REACH)
    if code[position - 1 : position] == b">":
        depth = 0
        while position > floor:
            position -= 1
            byte = code[position : position + 1]
            depth += 1 if byte == b">" else -1 if byte == b"<" else 0
            if depth == 0:
                break
            if byte in (b";", b"{", b"}"):
                return None
    name = re.compile(rb"[A-Za-z_#][\w:#]*\s*\Z").search(code, max(floor, position - 300), position)
    return name.start() if name is not None else None
