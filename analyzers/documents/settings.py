"""Keys and values of YAML, JSON and TOML around the words that somebody asks about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import PurePosixPath

import tree_sitter_json
from tree_sitter import Language, Node

from analyzers.documents.toml import TOML
from analyzers.documents.yaml import YAML, Scalar

JSON = Language(tree_sitter_json.language())

_PAIRS = ("block_mapping_pair", "flow_pair", "pair")
_SCALARS = (
    "plain_scalar", "double_quote_scalar", "single_quote_scalar", "string", "true", "false",
    "number", "boolean", "integer",
)  # fmt: skip
_WRAPPERS = ("block_node", "flow_node")
_EXTRAS = ("anchor", "tag", "comment")
#: Keys above a value that are looked at.
_ABOVE = 5
#: Nodes above a value that are looked at for them.
_LEVELS = 60
#: Bytes of a key or value that can mean a device, and words of a file that are looked at: a file
#: with more of them is data, and asking the tree for each would take minutes.
_LONGEST = 300
_HITS = 2000


@dataclass(frozen=True, slots=True)
class Setting:
    """One value, the key that it or the list around it belongs to, and the keys above.

    ``at_key`` holds the offsets of the key.
    """

    key: str
    value: Scalar
    above: tuple[str, ...] = ()
    at_key: tuple[int, int] = (0, 0)


def language_of(path: str) -> Language | None:
    """The grammar for a file of settings, by its suffix; None for one that has none."""
    return {
        ".yml": YAML, ".yaml": YAML, ".json": JSON, ".jsonc": JSON, ".toml": TOML,
    }.get(PurePosixPath(path.lower()).suffix)  # fmt: skip


def settings_around(root: Node, text: bytes, words: re.Pattern[bytes]) -> Iterator[Setting]:
    """The settings whose key or value holds a match of ``words``, in order, each once."""
    seen: set[int] = set()
    for hit in islice(words.finditer(text), _HITS):
        node = root.descendant_for_byte_range(hit.start(), hit.start() + 1)
        one = _setting(node, hit.start())
        if one is not None and one.value.start not in seen:
            seen.add(one.value.start)
            yield one


def _setting(node: Node | None, offset: int) -> Setting | None:
    value: Scalar | None = None
    keys: list[str] = []
    at_key = (0, 0)
    for _level in range(_LEVELS):
        if node is None or len(keys) > _ABOVE:
            break
        if not keys and node.type in _SCALARS:
            value = _scalar(node)
        if node.type in _PAIRS:
            key, content = _parts(node)
            if key is None or key.end_byte - key.start_byte > _LONGEST:
                return None
            if not keys:
                at_key = key.start_byte, key.end_byte
                if key.start_byte <= offset < key.end_byte:
                    value = _scalar(_unwrapped(content))
            keys.append(_plain(key))
        node = node.parent
    if value is None or not keys:
        return None
    return Setting(keys[0], value, tuple(keys[1:]), at_key)


def _parts(pair: Node) -> tuple[Node | None, Node | None]:
    key = pair.child_by_field_name("key")
    if key is not None:
        return key, pair.child_by_field_name("value")
    named = [child for child in pair.named_children if child.type != "comment"]
    return (named[0], named[1]) if len(named) == 2 else (None, None)


def _unwrapped(node: Node | None) -> Node | None:
    while node is not None and node.type in _WRAPPERS:
        inner = [child for child in node.named_children if child.type not in _EXTRAS]
        node = inner[-1] if inner else None
    return node


def _plain(key: Node) -> str:
    return (key.text or b"").decode("utf-8", "replace").strip().strip("\"'")


def _scalar(node: Node | None) -> Scalar | None:
    if node is None or node.type not in _SCALARS:
        return None
    if node.end_byte - node.start_byte > _LONGEST or node.text is None:
        return None
    text, start, end = node.text, node.start_byte, node.end_byte
    if text[:1] in (b'"', b"'") and len(text) >= 2:
        text, start, end = text[1:-1], start + 1, end - 1
    return Scalar(text.decode("utf-8", "replace"), start, end)


_INI_LINE = re.compile(
    rb"(?m)^[ \t]*([\w.-]+)[ \t]*[=:][ \t]*([^\r\n;#]*?)[ \t]*(?:[;#][^\r\n]*)?\r?$"
)


def ini_settings(text: bytes) -> Iterator[Setting]:
    """The settings of a file of ``key = value`` lines."""
    for line in _INI_LINE.finditer(text):
        value = line[2].decode("utf-8", "replace")
        start, end = line.span(2)
        if value[:1] in ("'", '"') and len(value) >= 2:
            value, start, end = value[1:-1], start + 1, end - 1
        if value:
            yield Setting(line[1].decode(), Scalar(value, start, end), (), line.span(1))
