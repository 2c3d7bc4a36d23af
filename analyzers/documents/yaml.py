"""YAML as a tree of keys, lists and scalars, with the offsets of each.

What is not asked for is not walked: a hostile file may be nested a million deep.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter_yaml
from tree_sitter import Language, Node

YAML = Language(tree_sitter_yaml.language())
_PAIRS = ("block_mapping_pair", "flow_pair")
_WRAPPERS = ("block_node", "flow_node")
_EXTRAS = ("anchor", "tag", "comment")
_QUOTED = ("double_quote_scalar", "single_quote_scalar")
#: Places of a line at which blocks begin. The scanner of tree-sitter-yaml 0.7.2 writes past its
#: buffer, and so ends the process, from 250 blocks within each other on.
_COLUMNS = 100
_FAR = re.compile(rb"[ \t?:-]{%d}" % _COLUMNS)
_LEAD = re.compile(rb"(?:^|(?<=\r))[ \t]*(?:[?:-][ \t]+)*", re.MULTILINE)
_MARKER = re.compile(rb"[?:-]|\Z")


@dataclass(frozen=True, slots=True)
class Scalar:
    """A plain or quoted value, without its quotes; escapes stay as they are written."""

    value: str
    start: int
    end: int


def is_too_deep(text: bytes) -> bool:
    """Whether so many blocks may lie within each other that the parser cannot take it.

    A block begins further right than the one around it, or is the list that a key at the same
    place holds: no more than two lie within each other for every place at which any begins.
    """
    if not _FAR.search(text):
        return False
    columns = {
        marker.start() for lead in set(_LEAD.findall(text)) for marker in _MARKER.finditer(lead)
    }
    return len(columns) > _COLUMNS


def unwrapped(node: Node | None) -> Node | None:
    """The mapping, list or scalar itself, behind its anchor and tag."""
    while node is not None and node.type in _WRAPPERS:
        inner = [child for child in node.named_children if child.type not in _EXTRAS]
        node = inner[-1] if inner else None
    return node


def scalar(node: Node | None) -> Scalar | None:
    """The value of a plain or quoted scalar; None for anything else."""
    node = unwrapped(node)
    if node is None or node.text is None:
        return None
    if node.type in _QUOTED:
        text, start, end = node.text[1:-1], node.start_byte + 1, node.end_byte - 1
    elif node.type == "plain_scalar":
        text, start, end = node.text, node.start_byte, node.end_byte
    else:
        return None
    return Scalar(text.decode("utf-8", "replace"), start, end)


def key_of(pair: Node) -> str:
    """The key of a pair, or an empty string when it is no scalar."""
    key = scalar(pair.child_by_field_name("key"))
    return key.value if key is not None else ""


def pairs(node: Node | None) -> Iterator[tuple[str, Node | None]]:
    """Keys and values of a mapping."""
    node = unwrapped(node)
    if node is None or node.type not in ("block_mapping", "flow_mapping"):
        return
    for child in node.named_children:
        if child.type in _PAIRS:
            yield key_of(child), child.child_by_field_name("value")


def items(node: Node | None) -> Iterator[Node]:
    """The members of a list."""
    node = unwrapped(node)
    if node is None or node.type not in ("block_sequence", "flow_sequence"):
        return
    for child in node.named_children:
        if child.type == "block_sequence_item":
            inner = [one for one in child.named_children if one.type not in _EXTRAS]
            if inner:
                yield inner[0]
        elif child.type in ("flow_node", "flow_pair"):
            yield child


def documents(root: Node) -> Iterator[Node]:
    """The top of each document of a stream."""
    for document in root.named_children:
        if document.type == "document":
            yield from (child for child in document.named_children if child.type in _WRAPPERS)
