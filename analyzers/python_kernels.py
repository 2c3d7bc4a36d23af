"""Kernels for a GPU that are written in Python: functions that a decorator compiles."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from analyzers.documents.python import PythonDocument


@dataclass(frozen=True, slots=True)
class PythonKernel:
    """A function that a decorator compiles for a GPU, and where its signature stands."""

    name: str
    start: int
    end: int


def decorated(document: PythonDocument, decorators: Sequence[str]) -> Iterator[PythonKernel]:
    """The functions that have one of these decorators, by dotted name, with or without a call."""
    seen: set[int] = set()
    for name in decorators:
        for reference in document.references(name):
            function = _function_under(reference.node) if reference.name == name else None
            if function is None or function.start_byte in seen:
                continue
            seen.add(function.start_byte)
            label = function.child_by_field_name("name")
            last = function.child_by_field_name("return_type")
            last = last or function.child_by_field_name("parameters")
            if label is not None and last is not None:
                yield PythonKernel(document.slice(label), function.start_byte, last.end_byte)


def _function_under(node: Node) -> Node | None:
    parent = node.parent
    if parent is not None and parent.type == "call":
        if parent.child_by_field_name("function") != node:
            return None
        parent = parent.parent
    if parent is None or parent.type != "decorator" or parent.parent is None:
        return None
    function = parent.parent.child_by_field_name("definition")
    return function if function is not None and function.type == "function_definition" else None


def launches(document: PythonDocument, kernels: Sequence[str]) -> Iterator[tuple[str, Node]]:
    """The calls ``kernel[grid](...)`` of functions with these names, in the order of the text."""
    if not kernels:
        return
    names = "|".join(re.escape(name) for name in sorted(set(kernels)))
    pattern = re.compile(rf"(?<![\w.])(?:{names})(?=\s*\[)".encode())
    for match, node in document.anywhere(pattern, *map(str.encode, kernels)):
        subscript = node.parent
        call = subscript.parent if subscript is not None else None
        if (
            subscript is not None
            and call is not None
            and subscript.type == "subscript"
            and subscript.child_by_field_name("value") == node
            and call.type == "call"
            and call.child_by_field_name("function") == subscript
        ):
            yield match[0].decode(), call


def head_of(document: PythonDocument, call: Node) -> tuple[int, int]:
    """What a call of a long argument list is shown by: the function without the arguments."""
    function = call.child_by_field_name("function")
    if function is None or b"\n" not in document.text[call.start_byte : call.end_byte]:
        return call.start_byte, call.end_byte
    return function.start_byte, function.end_byte
