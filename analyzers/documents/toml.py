"""TOML as keys and values with the offsets of each; what has no offsets is nobody's finding."""

import importlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import tree_sitter_toml
from tree_sitter import Language, Node

from analyzers.documents.syntax import parse

TOML = Language(tree_sitter_toml.language())
#: Arrays and inline tables within each other that are looked at.
_DEEPEST = 8
#: More bytes than anybody writes by hand.
_LONGEST = 300_000
_KEY_PART = re.compile(r"\"([^\"\n]*)\"|'([^'\n]*)'|([\w-]+)")


@dataclass(frozen=True, slots=True)
class Text:
    """A string, boolean or number and where it stands, without quotes.

    ``path`` holds the keys down to it, tables included; ``table`` numbers the table that it is
    in, so that the members of an array of tables are told apart.
    """

    path: tuple[str, ...]
    value: str
    start: int
    end: int
    table: int
    quoted: bool


def loads(text: str) -> Any:
    """The data of a TOML text.

    Raises:
        ValueError: it is not valid.
    """
    # The standard library has it from Python 3.11 on.
    parser = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        return parser.loads(text)
    except RecursionError as error:
        raise ValueError from error


def texts(text: bytes) -> tuple[list[Text], bool]:
    """The values of a file, in order, and whether it is valid; nothing of one that is not."""
    try:
        if len(text) > _LONGEST:
            return [], False
        loads(text.decode("utf-8-sig"))
        root = parse(TOML, text)
    except (ValueError, RecursionError):
        return [], False
    found: list[Text] = []
    for number, child in enumerate(root.named_children):
        if child.type == "pair":
            found.extend(_pair(child, (), 0))
        elif child.type in ("table", "table_array_element"):
            named = child.named_children
            lead = _key(named[0]) if named else ()
            for pair in named:
                if pair.type == "pair":
                    found.extend(_pair(pair, lead, number + 1))
    return found, True


def _key(node: Node) -> tuple[str, ...]:
    source = (node.text or b"").decode("utf-8", "replace")
    return tuple(part[1] or part[2] or part[3] or "" for part in _KEY_PART.finditer(source))


def _pair(pair: Node, lead: tuple[str, ...], table: int) -> Iterator[Text]:
    named = [child for child in pair.named_children if child.type != "comment"]
    if len(named) == 2:
        yield from _value(named[1], (*lead, *_key(named[0])), table, 0)


def _value(node: Node, path: tuple[str, ...], table: int, depth: int) -> Iterator[Text]:
    if depth > _DEEPEST:
        return
    if node.type == "array":
        for child in node.named_children:
            yield from _value(child, path, table, depth + 1)
    elif node.type == "inline_table":
        for child in node.named_children:
            named = [one for one in child.named_children if one.type != "comment"]
            if child.type == "pair" and len(named) == 2:
                key = (*path, *_key(named[0]))
                yield from _value(named[1], key, table, depth + 1)
    elif node.type in ("string", "boolean", "integer"):
        raw = node.text or b""
        quotes = 0
        if node.type == "string":
            quotes = 3 if raw[:3] in (b'"""', b"'''") and len(raw) >= 6 else 1
        start, end = node.start_byte + quotes, node.end_byte - quotes
        value = raw[quotes : len(raw) - quotes].decode("utf-8", "replace")
        yield Text(path, value, start, end, table, bool(quotes))
