"""CUDA source: ``.cu`` and ``.cuh``, and C++ sources and headers that speak of CUDA.

They are read without a syntax tree. Attributes made by macros and bodies of ``#define`` are outside
of what a parser without the preprocessor can read, and a kernel in one is a kernel all the same;
and what is asked here (signatures, launches, names) needs no more than brackets. All is linear in
the size of the file.
"""

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from analyzers.documents.base import Document

#: Comments, strings and characters; an open one goes on to the end of its line or of the file.
_LITERAL = re.compile(
    rb"(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?(?:\*/|\Z))"
    rb"|\bu?8?[RLU]{0,2}R\"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)\"|\Z)"
    rb"|\"(?:\\.|[^\"\\\n])*(?:\"|(?=\n)|\Z)"
    rb"|\b\d[\w']*"  # digits may be parted by quotes
    rb"|'(?:\\[^\n]{1,10}?|[^'\\\n])'",
    re.DOTALL,
)
#: Kernels of Huawei's Ascend, which take CUDA's words for theirs.
_ASCEND = re.compile(rb"\b__aicore__\b")
_VISIBLE = re.compile(rb"[^\r\n]")
_GLOBAL = re.compile(rb"\b__global__\b")
_DEVICE = re.compile(rb"\b__(?:device|global)__\b")
#: Some formatters part the signs, and nvcc takes them all the same.
_CHEVRONS = re.compile(rb"(?<!<)<<[ \t]?<(?!<)")
_RUNTIME_LAUNCH = re.compile(
    rb"\b(?:cudaLaunch(?:Cooperative)?Kernel(?:MultiDevice|ExC?)?"
    rb"|cuLaunch(?:Cooperative)?Kernel(?:MultiDevice|Ex)?"
    rb"|cutlass::(?:kernel_launch\s*<[^;(){}]{1,300}>|ClusterLauncher::launch))\s*\("
)
#: Launches whose first argument is the configuration and whose second is the kernel.
_CONFIGURED = re.compile(rb"cudaLaunchKernelEx|cuLaunchKernelEx|ClusterLauncher")
_TEMPLATE_ARGUMENT = re.compile(rb"kernel_launch\s*<([^;(){}]+)>\s*\(\Z")
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
_LAUNCH_MARK = re.compile(rb"[({;)}]|>[ \t]?>[ \t]?>")
_CALLEE = re.compile(rb"[A-Za-z_#][\w:#]*(?:(?:->|\.)[\w:#]+)*[\s\\]*\Z")
_OPENING = re.compile(_SPACE + rb"\(")
#: More than the parentheses that stand in any signature.
_GROUPS = 12
#: Preprocessor conditions inside of each other that are looked at.
_NESTED = 50
#: Longer than any signature; keeps broken files from being searched to their end each time.
_REACH = 10_000
#: Longer than the template arguments of any callee.
_CALLEE_REACH = 600
_ANGLES = re.compile(rb"[<;{}()]|(?<!-)>")

CUDA_SUFFIXES = (".cu", ".cuh")
#: C++ by its suffix. Objective-C++ (``.mm``) is left out: its code is for a Mac.
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".h++", ".inl", ".ipp", ".tpp")
CPP_SUFFIXES = (".cpp", ".cc", ".cxx", ".c++", *HEADERS)
_INCLUDE = re.compile(rb"[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"\r\n]+)[>\"]")
_CONDITION = re.compile(rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|else|endif)\b", re.MULTILINE)
_DISABLED = re.compile(rb"^[ \t]*#[ \t]*if[ \t]+(?:0|false)\b(?![ \t]*[|&=<>])", re.MULTILINE)
_ABOUT_CUDA = re.compile(rb"CUDA|NVIDIA|__NVCC__|NVCC|USE_GPU|WITH_GPU")
_NEGATED = re.compile(rb"!\s*(?:\(\s*)?(?:defined\s*(?:\(\s*)?)?\w*(?:CUDA|NVCC|GPU)")


@dataclass(frozen=True, slots=True)
class Kernel:
    """The signature of one ``__global__`` function that has a body."""

    name: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Include:
    """One ``#include`` line."""

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
    """A CUDA or C++ source or header."""

    cased = True

    @classmethod
    def accepts(cls, path: str) -> bool:
        """CUDA and C++ by their suffixes."""
        return path.lower().endswith((*CUDA_SUFFIXES, *CPP_SUFFIXES))

    @property
    def for_nvcc(self) -> bool:
        """Whether the file's suffix hands it to the CUDA compiler."""
        return self.path.lower().endswith(CUDA_SUFFIXES)

    @cached_property
    def has_device_code(self) -> bool:
        """Whether some of the file is for NVIDIA's GPUs: a plain header says so itself."""
        if self.for_nvcc:
            return True
        for_amd = any(one.name.startswith(("hip/", "ck/", "ck_tile/")) for one in self.includes)
        return not for_amd and _DEVICE.search(self.code) is not None

    @cached_property
    def _plain(self) -> bytes:
        """The text with blanks for a byte order mark, which the grammar takes for a name."""
        return re.sub(rb"\A\xef\xbb\xbf", b"   ", self.text)

    @cached_property
    def code(self) -> bytes:
        """The text with comments and the contents of strings made into blanks."""
        return self._without(strings=True)

    @cached_property
    def said(self) -> bytes:
        """The text with comments made into blanks, and strings (assembly, names) left in."""
        return self._without(strings=False)

    def _without(self, strings: bool) -> bytes:
        def blank(match: re.Match[bytes]) -> bytes:
            text = match[0]
            if match["comment"] is not None:
                return _VISIBLE.sub(b" ", text)
            if strings and text[-1:] in b"\"'" and len(text) > 1:
                return text[:1] + _VISIBLE.sub(b" ", text[1:-1]) + text[-1:]
            if strings and text[:1] == b'"':
                return _VISIBLE.sub(b" ", text)
            return text

        return self._without_disabled(_LITERAL.sub(blank, self._plain))

    @staticmethod
    def _without_disabled(code: bytes) -> bytes:
        """The text with blanks for what stands under ``#if 0``, which no compiler reads."""
        if not _DISABLED.search(code):
            return code
        kept, depth, start = bytearray(code), 0, -1
        for match in _CONDITION.finditer(code):
            word = match[1]
            if start < 0:
                if _DISABLED.match(code, match.start()):
                    start, depth = match.end(), 0
            elif word.startswith(b"if"):
                depth += 1
            elif depth and word == b"endif":
                depth -= 1
            elif not depth:
                kept[start : match.start()] = _VISIBLE.sub(b" ", code[start : match.start()])
                start = -1
        if start >= 0:
            kept[start:] = _VISIBLE.sub(b" ", code[start:])
        return bytes(kept)

    @cached_property
    def includes(self) -> tuple[Include, ...]:
        """Every header that the file includes, with the line that does."""
        found: list[Include] = []
        for start, end in self.directives:
            match = _INCLUDE.match(self.said, start, end)
            if match is not None:
                begin = start + len(match[0]) - len(match[0].lstrip())
                found.append(Include(match[1].decode("utf-8", "replace"), begin, match.end()))
        return tuple(found)

    def in_define(self, offset: int) -> bool:
        """Whether a place is in the definition of a macro."""
        index = bisect.bisect_right(self.directives, (offset, len(self.text))) - 1
        if index < 0:
            return False
        start, end = self.directives[index]
        return offset < end and _DEFINE_HEAD.match(self.code, start, end) is not None

    @cached_property
    def _guards(self) -> tuple[list[int], list[bool]]:
        """Where a preprocessor condition about CUDA begins to hold, or no longer does."""
        starts, states = [0], [False]
        stack: list[tuple[bool, bool]] = []
        for start, end in self.directives:
            match = _CONDITION.match(self.code, start, end)
            if match is None:
                continue
            word, rest = match[1], self.code[match.end() : end]
            about = _ABOUT_CUDA.search(rest) is not None
            if word == b"endif":
                if stack:
                    stack.pop()
            elif word == b"else":
                if stack:
                    stack[-1] = (not stack[-1][0] and stack[-1][1], stack[-1][1])
            else:
                if word == b"elif" and stack:
                    stack.pop()
                holds = about and word != b"ifndef" and not _NEGATED.search(rest)
                stack.append((holds, about))
            starts.append(start)
            states.append(any(holds for holds, _about in stack[-_NESTED:]))
        return starts, states

    def guarded(self, offset: int) -> bool:
        """Whether the preprocessor leaves this place out of a build without CUDA.

        True under ``#ifdef WITH_CUDA``, ``#if defined(__CUDACC__)`` and the like; a file for nvcc
        has nothing else in it and is never guarded.
        """
        if self.for_nvcc:
            return False
        starts, states = self._guards
        return states[bisect.bisect_right(starts, offset) - 1]

    @cached_property
    def directives(self) -> list[tuple[int, int]]:
        """Where each preprocessor line begins and ends, with the lines that continue it."""
        return [match.span() for match in _DIRECTIVE.finditer(self.code)]

    def kernels(self) -> Iterator[Kernel]:
        """Every kernel that is defined; declarations are left out."""
        if _ASCEND.search(self.code) is not None:
            return
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
        index = bisect.bisect_right(self.directives, (start, start)) - 1
        if index >= 0:
            begin, end = self.directives[index]
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
        if _ASCEND.search(self.code) is not None:
            return
        found = {launch.start: launch for launch in self._chevron_launches()}
        for match, limit in self._parts(_RUNTIME_LAUNCH):
            end = _balanced(self.code, match.end() - 1, limit)
            if end is not None:
                name = _launched(match[0], self.code[match.end() : end - 1])
                found[match.start()] = Launch(name, match.start(), end)
        yield from (found[start] for start in sorted(found))

    def _chevron_launches(self) -> Iterator[Launch]:
        for match, limit in self._parts(_CHEVRONS):
            span = self._launch_span(match.start(), match.end(), limit)
            if span is not None:
                name = self.source.decode(span[0], match.start()).rstrip(" \t\r\n\\")
                yield Launch(name, *span)

    def _launch_span(self, start: int, end: int, limit: int) -> tuple[int, int] | None:
        code, position = self.code, end
        while (mark := _LAUNCH_MARK.search(code, position, limit)) is not None:
            if mark[0] in (b"(", b"{"):
                after = _balanced(code, mark.start(), limit)
                if after is None:
                    return None
                position = after
                continue
            opening = _OPENING.match(code, mark.end(), limit) if mark[0][:1] == b">" else None
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


def _launched(call: bytes, arguments: bytes) -> str:
    """What a call of CUDA's or CUTLASS's launch functions starts."""
    template = _TEMPLATE_ARGUMENT.search(call)
    if template is not None:
        return template[1].decode("ascii", "replace").strip()
    parts = arguments[:_REACH].split(b",", 2)
    wanted = parts[1] if _CONFIGURED.search(call) and len(parts) > 1 else parts[0]
    return wanted.strip().decode("ascii", "replace")


def _name_before(code: bytes, floor: int, position: int) -> bytes:
    """The word that stands before a parenthesis, template arguments and all."""
    before = _NAME_BEFORE.search(code, max(floor, position - 200), position)
    if before is not None:
        return before[1]
    if code[max(floor, position - 200) : position].rstrip().endswith(b">"):
        start = _callee_start(code, position, floor)
        if start is not None:
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


def _callee_start(code: bytes, end: int, floor: int = 0) -> int | None:
    """Where the name begins that stands before ``end``, with its template arguments."""
    floor = max(floor, end - _CALLEE_REACH)
    position = floor + len(code[floor:end].rstrip(b" \t\r\n\\"))
    if code[position - 1 : position] == b">":
        opening = _opening_angle(code, floor, position)
        if opening is None:
            return None
        position = opening
    name = _CALLEE.search(code, max(floor, position - 300), position)
    return name.start() if name is not None else None


def _opening_angle(code: bytes, floor: int, end: int) -> int | None:
    """Where the template arguments open that the ``>`` before ``end`` closes."""
    depth = parentheses = 0
    for match in reversed(list(_ANGLES.finditer(code, floor, end))):
        if match[0] in b";{}":
            return None
        if match[0] in b"()":
            parentheses += 1 if match[0] == b")" else -1
        elif parentheses == 0:  # inside of them the signs compare
            depth += 1 if match[0] == b">" else -1
            if depth == 0:
                return match.start()
    return None


class CudaFile(CudaDocument):
    """A file whose suffix hands it to the CUDA compiler, whatever is in it."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """CUDA by its suffix."""
        return path.lower().endswith(CUDA_SUFFIXES)
