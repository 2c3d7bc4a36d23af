"""The code cells of a Jupyter notebook as one Python text, with the way back into the JSON.

Only the text of code cells is taken. Lines that are shell commands or magics are kept in length
but blanked, so that every offset stays true.
"""

import json
import re
from array import array
from collections.abc import Iterator

import tree_sitter_json
from tree_sitter import Language, Node

from analyzers.documents.base import Source
from analyzers.documents.syntax import parse
from project.translation import _

JSON = Language(tree_sitter_json.language())
_ESCAPE = re.compile(rb'\\u[0-9a-fA-F]{4}|\\["\\/bfnrt]')
#: The escapes of two characters, which are nearly all that notebooks have.
_SHORT = {
    b"\\" + letter: json.loads(b'"\\' + letter + b'"').encode()
    for letter in (b'"', b"\\", b"/", b"b", b"f", b"n", b"r", b"t")
}
_HIGH = re.compile(rb"\\u[dD][89abAB]")
_LOW = re.compile(rb"\\u[dD][c-fC-F][0-9a-fA-F]{2}")
_MAGIC = re.compile(rb"(?m)^[ \t]*(?:%%?[A-Za-z]|!|\?)[^\r\n]*|^[^\r\n#'\"]*\?\??[ \t]*$")
_CELL_MAGIC = re.compile(rb"^\s*%%(?!(?:time|timeit|capture|prun)\b)")


def source_of(path: str, data: bytes) -> Source:
    """Read a notebook.

    Raises:
        ValueError: it is no notebook that can be read; the message is a sentence for the user.
    """
    root = notebook_tree(data)
    text = bytearray()
    offsets, ends = array("I"), array("I")
    cells: list[int] = []
    seams: list[int] = []
    for cell in code_cells(root):
        if text and not text.endswith(b"\n"):
            text += b"\n"
            offsets.append(ends[-1])
            ends.append(ends[-1])
        start = len(text)
        cells.append(start)
        for string in source_strings(cell):
            seams.append(len(text))
            unescape(data, string, text, offsets, ends)
        text[start:] = _without_magics(bytes(text[start:]))
    offsets.append(ends[-1] if ends else 0)
    body = bytes(text)
    return Source(
        path, body, body, offsets=offsets, ends=ends, cells=tuple(cells) or (0,), seams=tuple(seams)
    )


def notebook_tree(data: bytes) -> Node:
    """The JSON of a notebook.

    Raises:
        ValueError: it is not valid, or nested too deeply; the message is a sentence for the user.
    """
    try:
        root = parse(JSON, data)
    except RecursionError:
        raise ValueError(_("It is nested too deeply to be read.")) from None
    if root.has_error or root.named_child_count == 0:
        raise ValueError(_("This notebook is not valid JSON."))
    return root


def encode(replacement: bytes) -> bytes:
    """A replacement as it stands inside a JSON string."""
    return json.dumps(replacement.decode("utf-8"), ensure_ascii=False)[1:-1].encode("utf-8")


def code_cells(root: Node) -> Iterator[Node]:
    """The JSON objects of a notebook's code cells, in order."""
    top = root.named_child(0)
    cells = _member(top, b"cells") if top is not None else None
    if cells is None:
        return
    for cell in cells.named_children:
        kind = _member(cell, b"cell_type")
        if kind is not None and kind.text == b'"code"':
            yield cell


def source_strings(cell: Node) -> Iterator[Node]:
    """The JSON strings that hold a cell's text: one, or one a line."""
    source = _member(cell, b"source")
    if source is None:
        return
    if source.type == "string":
        yield source
    yield from (child for child in source.named_children if child.type == "string")


def _member(node: Node, name: bytes) -> Node | None:
    if node.type != "object":
        return None
    wanted = b'"' + name + b'"'
    for pair in node.named_children:
        key = pair.child_by_field_name("key")
        # Only a key of the same length is read, since reading takes longest.
        if key is not None and key.end_byte - key.start_byte == len(wanted) and key.text == wanted:
            return pair.child_by_field_name("value")
    return None


def unescape(
    data: bytes, string: Node, text: bytearray, offsets: "array[int]", ends: "array[int]"
) -> None:
    """Append a JSON string's characters, each byte with the place in the file it came from."""
    position, end = string.start_byte + 1, string.end_byte - 1
    while position < end:
        escape = _ESCAPE.search(data, position, end)
        plain = escape.start() if escape is not None else end
        text += data[position:plain]
        offsets.extend(range(position, plain))
        ends.extend(range(position + 1, plain + 1))
        if escape is None:
            return
        position, stop = escape.span()
        short = _SHORT.get(escape[0])
        if short is not None:
            text += short
            offsets.append(position)
            ends.append(stop)
            position = stop
            continue
        if _HIGH.match(data, position):
            # A surrogate pair is one character in two escapes.
            low = _LOW.match(data, stop, end)
            stop = low.end() if low is not None else stop
        try:
            character = json.loads(b'"' + data[position:stop] + b'"').encode("utf-8")
        except (ValueError, UnicodeEncodeError):
            character = b"?"
        text += character
        offsets.extend([position] * len(character))
        ends.extend([stop] * len(character))
        position = stop


def _without_magics(cell: bytes) -> bytes:
    """Blank what IPython reads and Python does not."""
    if _CELL_MAGIC.match(cell):
        return re.sub(rb"[^\r\n]", b" ", cell)
    return _MAGIC.sub(lambda match: b" " * len(match.group()), cell)
