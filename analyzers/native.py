"""What a project's C++ and CUDA sources define, call, and bind to Python.

It is read off the text by names: a function's body mentions the names that it may call. That is
more than a compiler would find and enough to follow a kernel up to the name that Python calls;
whoever says so says "may".
"""

import re
from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument, Kernel

#: How far a kernel is followed up, and how many names that may take.
_STEPS = 12
_NAMES = 300
#: Names so common that following them would reach everything.
_COMMON = frozenset(
    {"run", "launch", "apply", "call", "operator", "get", "set", "init", "main", "if", "for"}
    | {
        "while",
        "switch",
        "catch",
        "return",
        "sizeof",
        "defined",
        "kernel",
        "Kernel",
        "load",
        "store",
    }
)

_WORD = re.compile(rb"[A-Za-z_]\w*")
_SCOPE = re.compile(rb"\b(?:namespace|struct|class|enum|union|extern)\b")
_CALLABLE = re.compile(rb"([A-Za-z_~][\w:~]*)\s*(?:<[^<>(){};]{0,200}>\s*)?\(")
_NOT_THE_NAME = re.compile(
    rb"PYBIND11_MODULE|TORCH_LIBRARY\w*|__\w+__|__attribute__|__declspec|decltype|alignas|noexcept|requires|\w*LAUNCH_BOUNDS\w*"
)
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)")
_MARK = re.compile(rb"[{};]")
_LIBRARY = re.compile(
    rb"\b(?:TORCH_LIBRARY(?:_IMPL|_FRAGMENT)?|PYBIND11_MODULE|TORCH_LIBRARY\w*EXPAND)\s*\(\s*(\w+)"
    rb"\s*(?:,\s*(\w+)\s*)?(?:,\s*\w+\s*)?\)"
)
_BOUND = re.compile(rb"\.\s*(?:def|impl)\s*\(\s*\"([^\"]{1,400})\"")
_OLD_STYLE = re.compile(rb"\bop\s*\(\s*\"(\w+)::(\w+)[^\"]{0,400}\"\s*,\s*&?\s*([\w:]+)")
_REGISTERED = re.compile(rb"\bREGISTER_\w*\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*&?(\w+)\s*\)")
_KEY = re.compile(rb"\b(?:kCUDA|kCPU|kMPS|(?:DispatchKey|DeviceType)::\w+)\b")
_NAME_OF_FUNCTION = re.compile(
    rb"&\s*([A-Za-z_][\w:]*)|\bTORCH_FN\s*\(\s*([\w:]+)|([A-Za-z_][\w:]*)"
)


@dataclass(frozen=True, slots=True)
class Place:
    """A line of a file."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Binding:
    """A name that Python can call, the library it is in, and what it stands for.

    ``key`` is the dispatch key where one is given (``CUDA``, ``CPU``, ``MPS``), else "".
    """

    name: str
    library: str
    key: str
    functions: frozenset[str]
    place: Place


#: A function: its name, and the file that defines it.
Node = tuple[str, str]


@dataclass(slots=True)
class Native:
    """All native sources of a project together."""

    #: Where each function is defined, by name and file.
    functions: dict[str, dict[str, Place]] = field(default_factory=lambda: defaultdict(dict))
    callers: dict[Node, set[Node]] = field(default_factory=lambda: defaultdict(set))
    bindings: list[Binding] = field(default_factory=list)
    #: Implementations by device of a function that dispatches: name, key, implementation.
    devices: list[tuple[str, str, str]] = field(default_factory=list)
    kernels: set[Node] = field(default_factory=set)
    _by_node: dict[Node, list[Binding]] = field(default_factory=lambda: defaultdict(list))

    def meant(self, name: str, path: str) -> list[Node]:
        """The functions that a name in a file may mean: the nearest ones, and any kernel."""
        places = self.functions.get(name, {})
        near = {path} if path in places else _nearest(path, list(places))
        return [(name, one) for one in places if one in near or (name, one) in self.kernels]

    def above(self, name: str, path: str) -> list[Node]:
        """The function and those that may call it, the nearest first."""
        first = (name, path)
        found = {first: 0}
        queue = deque([first])
        while queue and len(found) < _NAMES:
            current = queue.popleft()
            if found[current] >= _STEPS:
                continue
            for caller in sorted(self.callers.get(current, ())):
                if caller not in found and caller[0] not in _COMMON:
                    found[caller] = found[current] + 1
                    queue.append(caller)
        return list(found)

    def start_of(self, document: CudaDocument, kernel: Kernel) -> str:
        """The name to follow a kernel by: its own, or the macro's whose body it stands in."""
        if document.in_define(kernel.start):
            line = max(start for start, _end in document.directives if start <= kernel.start)
            define = _DEFINE.match(document.code, line)
            if define is not None:
                return define[1].decode()
        return kernel.name.split("<")[0].rsplit("::", 1)[-1]

    def bound(self, nodes: Iterable[Node]) -> list[Binding]:
        """The bindings that stand for one of these functions."""
        if not self._by_node:
            for one in self.bindings:
                for function in one.functions:
                    for node in self.meant(function, one.place.path):
                        self._by_node[node].append(one)
        return [one for node in nodes for one in self._by_node.get(node, ())]

    def place_of(self, name: str) -> Place | None:
        """Where a function of this name is defined, or None if it is not."""
        return next(iter(self.functions.get(name, {}).values()), None)


def read(files: Iterable[tuple[str, bytes]]) -> Native:
    """Read sources, given as path and bytes, each once."""
    native = Native()
    bodies: list[tuple[Node, frozenset[str]]] = []
    registered: list[tuple[str, str, str]] = []
    for path, data in files:
        document = CudaDocument(Source.of(path, data))
        for name, start, text in _functions(document):
            words = frozenset(word.decode() for word in _WORD.findall(text))
            bodies.append(((name, path), words))
            place = Place(path, document.source.position(start)[0])
            native.functions[name].setdefault(path, place)
            if "__global__" in words:
                native.kernels.add((name, path))
        native.bindings.extend(_bindings(document))
        for match in _REGISTERED.finditer(document.code):
            name, key, function = (part.decode() for part in match.groups())
            native.devices.append((name, key, function))
            registered.append((function, name, path))
    for node, words in bodies:
        for word in words:
            if word != node[0] and word in native.functions:
                for callee in native.meant(word, node[1]):
                    native.callers[callee].add(node)
    for function, name, path in registered:
        for callee in native.meant(function, path):
            native.callers[callee].update(native.meant(name, path))
    return native


def _nearest(path: str, others: Sequence[str]) -> set[str]:
    """Of several files with functions of one name, those that a file most likely means.

    That is the nearest ones in the tree, among them those named alike (scale.cpp, scale_cuda.cu);
    none where several are all far away.
    """
    depths = {other: _together(path, other) for other in others}
    best = max(depths.values(), default=0)
    near = {other for other, depth in depths.items() if depth == best}
    if best == 0 and len(near) > 1:
        return set()
    stem = _stem(path)
    alike = {one for one in near if stem.startswith(_stem(one)) or _stem(one).startswith(stem)}
    return alike or near


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].split(".", 1)[0]


def _together(path: str, other: str) -> int:
    """How many folders two files share from the top."""
    shared = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        shared += 1
    return shared


def _functions(document: CudaDocument) -> Iterator[tuple[str, int, bytes]]:
    """Each function with a body, and each macro: its name, where it starts, and its text."""
    code = bytearray(document.code)
    for start, end in document.directives:
        define = _DEFINE.match(document.code, start, end)
        if define is not None:
            yield define[1].decode(), define.start(1), document.code[define.end() : end]
        code[start:end] = b" " * (end - start)
    text = bytes(code)
    depth, outer, last = 0, [], 0
    head: tuple[str, int] | None = None
    for mark in _MARK.finditer(text):
        if head is not None:  # inside of a function
            depth += 1 if mark[0] == b"{" else -1 if mark[0] == b"}" else 0
            if depth == 0:
                yield head[0], head[1], text[head[1] : mark.end()]
                head, last = None, mark.end()
            continue
        if mark[0] == b"{":
            before = text[max(last, mark.start() - 5_000) : mark.start()]
            name = _function_name(before)
            if name is not None:
                head, depth = (name, max(last, mark.start() - 5_000) + _lead(before)), 1
            else:
                outer.append(mark.start())
        elif mark[0] == b"}" and outer:
            outer.pop()
        last = mark.end()


def _lead(text: bytes) -> int:
    return len(text) - len(text.lstrip())


def _function_name(head: bytes) -> str | None:
    """The name of the function whose body begins behind this text, or None for a scope."""
    opening = head.find(b"(")
    scope = _SCOPE.search(head)
    if opening < 0 or (scope is not None and b"(" not in head[scope.end() :]):
        return None
    made: str | None = None
    for match in _CALLABLE.finditer(head):
        if _NOT_THE_NAME.fullmatch(match[1]):
            continue
        if not match[1].isupper():
            return match[1].decode().rsplit("::", 1)[-1]
        argument = _WORD.match(head, match.end())
        if made is None and argument is not None:
            made = argument[0].decode()
    return made  # a macro makes a function of this name


def _bindings(document: CudaDocument) -> Iterator[Binding]:
    said = document.said
    libraries = list(_LIBRARY.finditer(said))
    starts = [library.start() for library in libraries]
    for match in _BOUND.finditer(said):
        before = bisect_left(starts, match.start())
        if not before:
            continue
        library = libraries[before - 1]
        rest = said[match.end() : match.end() + 400].split(b";", 1)[0]
        key_match = _KEY.search(rest)
        key = key_match[0].decode().removeprefix("k").rsplit("::", 1)[-1] if key_match else ""
        if b"_IMPL" in library[0] and library[2] is not None:
            key = library[2].decode()
        name = match[1].decode("utf-8", "replace").split("(", 1)[0].split("::")[-1].strip()
        yield Binding(
            name, library[1].decode(), key, _functions_named(rest), _place(document, match.start())
        )
    for match in _OLD_STYLE.finditer(said):
        library_name, name, function = (part.decode() for part in match.groups())
        functions = frozenset({function.rsplit("::", 1)[-1]})
        yield Binding(name, library_name, "", functions, _place(document, match.start()))


def _functions_named(rest: bytes) -> frozenset[str]:
    """What a registration names behind the quoted name: a function, or what a lambda calls."""
    rest = _KEY.sub(b"", rest).lstrip(b" \t\r\n,")
    if rest.startswith(b"["):
        return frozenset(word.decode() for word in _WORD.findall(rest))
    for match in _NAME_OF_FUNCTION.finditer(re.sub(rb"\"[^\"]*\"", b"", rest)):
        name = (match[1] or match[2] or match[3]).decode().rsplit("::", 1)[-1]
        if name not in ("torch", "c10", "at", "TORCH_FN", "wrap_pybind_function", ""):
            return frozenset({name})
    return frozenset()


def _place(document: CudaDocument, offset: int) -> Place:
    return Place(document.path, document.source.position(offset)[0])
