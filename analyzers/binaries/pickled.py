"""Pickles, followed opcode by opcode: what they would make is worked out, and nothing is made.

The table of opcodes and the readers of their arguments are those of :mod:`pickletools`; a stack
of plain marks stands for the one of a real unpickler. Strings, names of globals and flat tuples
are kept, everything else is a blank.
"""

import io
import pickletools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import Fact
from analyzers.binaries.kinds import LEGACY_TORCH

#: Opcodes that are followed in one file, all its pickles together.
MOST_OPCODES = 1_000_000
#: Bytes that are read of one file, and of one string in it; what is longer is skipped over.
_MOST, _LONGEST = 32_000_000, 1_000_000
#: Pickles in one file: a checkpoint from before PyTorch 1.6 is a row of five, then raw numbers.
_ROW = 5
#: Values that a tuple or the arguments of a call may have to be looked at.
_FLAT = 16

_RUNS = frozenset(
    {"commands", "ctypes", "importlib", "nt", "os", "posix", "pty", "runpy", "shutil", "socket"}
    | {"subprocess", "webbrowser"}
)
_BUILTINS = frozenset({"__import__", "compile", "eval", "exec", "execfile", "open"})


@dataclass(frozen=True, slots=True)
class _Global:
    name: str


@dataclass(frozen=True, slots=True)
class _Inside:
    """A checkpoint that a plain pickle holds as bytes."""

    data: bytes


_MARK = object()
_MOVES: dict[int, tuple[str, Any, int, bool, int]] = {}
for _code in pickletools.opcodes:
    _names = [one.name for one in _code.stack_before]
    _marked = "mark" in _names
    _pops = _names.index("mark") if _marked else len(_names)
    _MOVES[ord(_code.code)] = (_code.name, _code.arg, _pops, _marked, len(_code.stack_after))

_LENGTHS = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}


def facts(file: IO[bytes]) -> Iterator[Fact]:
    """Where tensors would go, which globals are looked up, and what would be run."""
    yield from _row(io.BufferedReader(Bounded(file, _MOST), 1 << 16), [MOST_OPCODES], nested=False)


def facts_of_each(contents: Iterable[bytes]) -> Iterator[Fact]:
    """The same for the pickles of an archive."""
    left = [MOST_OPCODES]
    for content in contents:
        yield from _row(io.BytesIO(content), left, nested=False)


def _row(file: IO[bytes], left: list[int], *, nested: bool) -> Iterator[Fact]:
    """The facts of pickles that follow one another."""
    for number in range(_ROW):
        here = file.read(2)
        file.seek(-len(here), io.SEEK_CUR)
        if number and here[:1] != b"\x80":
            return
        yield from _one(file, left, nested)


def _one(file: IO[bytes], left: list[int], nested: bool) -> Iterator[Fact]:
    stack: list[Any] = []
    memo: dict[Any, Any] = {}
    while True:
        left[0] -= 1
        if left[0] < 0:
            raise TooMuch
        code = file.read(1)
        if not code:
            raise EOFError
        name, kind, pops, marked, pushes = _MOVES[code[0]]
        argument = _argument(file, kind) if kind is not None else None
        if name == "STOP":
            return
        if name in ("MEMOIZE", "PUT", "BINPUT", "LONG_BINPUT"):
            memo[len(memo) if argument is None else argument] = stack[-1]
            continue
        if name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
            continue
        if name == "MARK":
            stack.append(_MARK)
            continue
        if name == "DUP":
            stack.append(stack[-1])
            continue
        taken = _taken(stack, pops, marked)
        made, fact = _made(name, argument, taken)
        if fact is not None:
            yield fact
        if isinstance(made, _Inside) and not nested:
            yield from _inside(made.data, left)
        if pushes:
            stack.append(made)
            stack.extend([None] * (pushes - 1))


def _taken(stack: list[Any], pops: int, marked: bool) -> list[Any]:
    """What an opcode takes off the stack: to the last mark, and so many values below it."""
    taken: list[Any] = []
    if marked:
        while (value := stack.pop()) is not _MARK:
            taken.append(value)
    for _each in range(pops):
        taken.append(stack.pop())
    taken.reverse()
    return taken


def _made(name: str, argument: Any, taken: list[Any]) -> tuple[Any, Fact | None]:
    """What an opcode leaves on the stack, and what is to be said of it."""
    if name in ("GLOBAL", "STACK_GLOBAL", "INST"):
        if name == "STACK_GLOBAL":
            label = ".".join(part if isinstance(part, str) else "?" for part in taken)
        else:
            label = str(argument).replace(" ", ".", 1)
        return _Global(label), ("global", label)
    if name.startswith("TUPLE"):
        return tuple(_flat(value) for value in taken) if len(taken) <= _FLAT else None, None
    if name == "BINPERSID":
        return None, _storage(taken[0])
    if name in ("REDUCE", "NEWOBJ") and len(taken) == 2:
        return _called(*taken)
    if isinstance(argument, str | bytes | bytearray):
        return argument, None
    return None, None


def _flat(value: Any) -> Any:
    return value if isinstance(value, str | bytes | _Global) else None


def _storage(identity: Any) -> Fact | None:
    """Where a tensor's numbers would go, by the identity that ``torch.save`` gives them."""
    if isinstance(identity, tuple) and len(identity) > 3 and identity[0] == "storage":
        return "storage", str(identity[3])
    return None


def _called(what: Any, arguments: Any) -> tuple[Any, Fact | None]:
    if not isinstance(what, _Global):
        return None, None
    module, _dot, name = what.name.rpartition(".")
    values = arguments if isinstance(arguments, tuple) else ()
    if what.name == "_codecs.encode" and values and isinstance(values[0], str):
        # How bytes are written for Python 2. They may be arguments of another call.
        return values[0].encode("latin-1", "replace"), None
    if what.name == "torch.storage._load_from_bytes" and values:
        return _Inside(values[0]) if isinstance(values[0], bytes) else None, None
    if module.partition(".")[0] in _RUNS or (
        module in ("builtins", "__builtin__") and name in _BUILTINS
    ):
        return None, ("runs", what.name)
    return None, None


def _inside(data: bytes, left: list[int]) -> Iterator[Fact]:
    """The facts of a checkpoint that a plain pickle holds; its end may have been cut off."""
    if not data.startswith(LEGACY_TORCH):
        return
    try:
        for word, value in _row(io.BytesIO(data), left, nested=True):
            yield "storage-inside" if word == "storage" else word, value
    except (EOFError, LookupError, TypeError, ValueError):
        if left[0] < 0:
            raise


def _argument(file: IO[bytes], kind: Any) -> Any:
    """The argument of an opcode; of a very long string only the beginning."""
    if kind.name == "stringnl":  # its reader warns of escapes that Python does not know
        return file.readline().rstrip(b"\n").strip(b"'\"").decode("latin-1")
    width = _LENGTHS.get(kind.n)
    if width is None:
        return kind.reader(file)
    length = int.from_bytes(file.read(width), "little", signed=kind.n == -3)
    data = file.read(max(min(length, _LONGEST), 0))
    if length > len(data):
        if len(data) < _LONGEST:
            raise EOFError
        file.seek(length - len(data), io.SEEK_CUR)
    if "unicode" in kind.name or "string" in kind.name:
        return data.decode("utf-8", "replace")
    return data if "bytes" in kind.name else None
