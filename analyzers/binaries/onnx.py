"""ONNX models: the operators that their graphs name.

The wire format of protocol buffers is walked field by field; weights are skipped over. The numbers
of the fields are those of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto.
"""

import io
from collections.abc import Iterator
from typing import IO

from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import Fact

#: Bytes that are read, fields that are looked at, and graphs within graphs.
_MOST, _FIELDS, _DEEPEST = 64_000_000, 600_000, 20

#: Which fields of a message hold messages to look into, and what these are.
_INNER = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node"},
    "function": {7: "node"},
    "node": {5: "attribute"},
    "attribute": {6: "graph", 11: "graph"},
}
_NODE_OPERATOR, _NODE_DOMAIN = 4, 7
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


def facts(file: IO[bytes]) -> Iterator[Fact]:
    """Each operator outside the standard, as ``domain::name``."""
    reader = io.BufferedReader(Bounded(file, _MOST), 1 << 16)
    end = reader.seek(0, io.SEEK_END)
    reader.seek(0)
    left = _FIELDS
    # Where each message that was begun ends, what it is, and the operator and domain of a node.
    open_messages: list[tuple[int, str, list[str]]] = [(end, "model", [])]
    while open_messages:
        stop, kind, words = open_messages[-1]
        at = reader.tell()
        if at >= stop:
            open_messages.pop()
            if kind == "node":
                yield from _operator(words)
            continue
        left -= 1
        if left < 0:
            raise TooMuch
        key = _varint(reader)
        number, wire = key >> 3, key & 7
        if number == 0:
            raise ValueError("a field without a number")
        if wire == _VARINT:
            _varint(reader)
        elif wire in (_FIXED64, _FIXED32):
            reader.seek(8 if wire == _FIXED64 else 4, io.SEEK_CUR)
        elif wire == _BYTES:
            length = _varint(reader)
            begin = reader.tell()
            if begin + length > stop:
                raise EOFError
            inner = _INNER.get(kind, {}).get(number)
            if inner is not None:
                if len(open_messages) > _DEEPEST * 3:
                    raise TooMuch
                open_messages.append((begin + length, inner, ["", ""]))
            elif kind == "node" and number in (_NODE_OPERATOR, _NODE_DOMAIN):
                words[number == _NODE_DOMAIN] = reader.read(min(length, 200)).decode(
                    "utf-8", "replace"
                )
                reader.seek(begin + length)
            else:
                reader.seek(begin + length)
        else:
            raise ValueError("a wire type that protocol buffers do not have")


def _operator(words: list[str]) -> Iterator[Fact]:
    operator, domain = words
    if domain not in ("", "ai.onnx") or operator.endswith("_TRT"):
        yield "operator", f"{domain}::{operator}"


def _varint(reader: IO[bytes]) -> int:
    value = shift = 0
    while True:
        byte = reader.read(1)
        if not byte or shift > 63:
            raise EOFError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7
