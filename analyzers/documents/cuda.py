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
from tree_sitter import Language, Node, Parser, Query, QueryCursor

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
_SIGNATURE_MARK = re.compile(rb"[({;=}]")
_LAUNCH_MARK = re.compile(rb"[({;)}]|>>>")
_CALLEE = re.compile(rb"[A-Za-z_#][\w:#]*\s*\Z")
_OPENING = re.compile(_SPACE + rb"\(")
#: More than the parentheses that stand in any signature.
_GROUPS = 12
#: Longer than any signature; keeps broken files from being searched to their end each time.
_REACH = 10_000


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
    def _plain(self) -> bytes:
        """The text with blanks for a byte order mark, which the grammar takes for a name."""
        return re.sub(rb"\A\xef\xbb\xbf", b"   ", self.text)

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree."""
        return Parser(CUDA).parse(self._plain).root_node

    @cached_property
    def code(self) -> bytes:
        """The text with comments and the contents of strings made into blanks."""
        blank = bytearray(self._plain)
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
        for match, limit in self._parts(_GLOBAL):
            kernel = self._kernel(match.start(), match.end(), limit)
            if kernel is not None:
                yield kernel

    def _parts(self, pattern: re.Pattern[bytes]) -> Iterator[tuple[re.Match[bytes], int]]:
        """Every match, and how far what belongs to it can go: never past the next one."""
        matches = list(pattern.finditer(self.code))
        ends = [match.start() for match in matches[1:]] + [len(self.code)]
        for match, end in zip(matches, ends, strict=False):
            yield match, min(end, match.end() + _REACH)

    def _kernel(self, start: int, end: int, limit: int) -> Kernel | None:
        code = self.code
        name, close, position = "", -1, end
        for _group in range(_GROUPS):
            mark = _SIGNATURE_MARK.search(code, position, limit)
            if mark is None or mark[0] not in b"({":
                return None
            if mark[0] == b"{":
                return Kernel(name, self._signature_start(start), close) if close >= 0 else None
            after = _balanced(code, mark.start(), limit)
            if after is None:
                return None
            word = _name_before(code, end, mark.start())
            if not _ATTRIBUTE.search(word):
                if word:
                    name, close = word.decode("ascii", "replace"), after
                elif close >= 0:  # a name made by a macro: KERNEL(name)(arguments)
                    close = after
            position = after
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
        for match, limit in self._parts(_RUNTIME_LAUNCH):
            end = _balanced(self.code, match.end() - 1, limit)
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
        for match, limit in self._parts(_CHEVRONS):
            call = parsed.get(match.start())
            if call is not None:
                start, end = call.start_byte, call.end_byte
            else:
                read = self._launch_by_hand(match.start(), match.end(), limit)
                if read is None:
                    continue
                start, end = read
            yield Launch(self.source.decode(start, match.start()).strip(), start, end)

    def _launch_by_hand(self, start: int, end: int, limit: int) -> tuple[int, int] | None:
        code, position = self.code, end
        while (mark := _LAUNCH_MARK.search(code, position, limit)) is not None:
            if mark[0] in (b"(", b"{"):
                after = _balanced(code, mark.start(), limit)
                if after is None:
                    return None
                position = after
                continue
            opening = _OPENING.match(code, mark.end(), limit) if mark[0] == b">>>" else None
            if opening is None:
                return None
            close = _balanced(code, opening.end() - 1, limit)
            begin = _callee_start(code, start)
            return None if close is None or begin is None else (begin, close)
        return None

    def first_code(self) -> tuple[int, int] | None:
        """The first line that is more than a comment, or None in a file without any."""
        for match in re.finditer(rb"[^\r\n]+", self.code):
            line = match[0].strip(b" \t\f\v")
            if line:
                start = match.start() + match[0].index(line)
                return start, start + len(line)
        return None


def _name_before(code: bytes, floor: int, position: int) -> bytes:
    """The word that stands before a parenthesis, template arguments and all."""
    before = _NAME_BEFORE.search(code, max(floor, position - 200), position)
    if before is not None:
        return before[1]
    if code[max(floor, position - 200) : position].rstrip().endswith(b">"):
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
    """Where the name begins that stands before ``end``, with its template arguments."""
    floor = max(0, end - _REACH // 10)
    position = floor + len(code[floor:end].rstrip())
    if code[floor:position].endswith(b">"):
        depth = 0
        for offset, byte in enumerate(reversed(code[floor:position]), 1):
            depth += 1 if byte == ord(">") else -1 if byte == ord("<") else 0
            if depth == 0:
                position -= offset
                break
            if byte in b";{}":
                return None
        else:
            return None
    name = _CALLEE.search(code, max(floor, position - 300), position)
    return name.start() if name is not None else None
