"""What a notebook gives to the shell, as one text with the way back into the JSON.

``!command`` lines, ``%pip`` and its kin, ``%env NAME=value`` and cells under ``%%bash`` are kept;
everything else of a code cell is blanked, so that every offset stays true.
"""

import re
from array import array

from analyzers.documents.base import Source
from analyzers.documents.notebook import (
    code_cells,
    notebook_tree,
    source_strings,
    unescape,
)

#: A line of a JSON string that begins with what IPython hands on; a quick test before parsing.
_ANY = re.compile(
    rb'(?:"|\\n)(?:[ \t]|\\t)*(?:[\w.]+[ \t]*=[ \t]*)?'
    rb"(?:!|%(?:pip|conda|mamba|micromamba|uv|env|set_env)\b|%%(?:!|(?:bash|sh|zsh|script)\b))"
)
_SHELL_CELL = re.compile(rb"\s*%%(?:bash|sh|zsh|!|script[ \t]+(?:\S*/)?(?:bash|sh|zsh))[^\r\n]*")
_FOREIGN_CELL = re.compile(rb"\s*%%(?!(?:time|timeit|capture|prun)\b)")
_LINE = re.compile(
    rb"(?m)^([ \t]*(?:[\w.]+[ \t]*=[ \t]*)?)"
    rb"(?:(!!?)|(%)(?=(?:pip|conda|mamba|micromamba|uv)\b)|(%(?:env|set_env)[ \t]+)(?=\w+=)|"
    rb"%(?:env|set_env)[ \t]+(\w+)[ \t](?=\S))"
)
_BLANK = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))


def source_of(path: str, data: bytes) -> Source:
    """The shell's share of a notebook; an empty text when it has none.

    Raises:
        ValueError: it is no notebook that can be read; the message is a sentence for the user.
    """
    if not _ANY.search(data):
        return Source(path, b"", b"", offsets=(0,), cells=(0,))
    root = notebook_tree(data)
    raw = bytearray()
    text = bytearray()
    offsets, ends = array("I"), array("I")
    cells: list[int] = []
    for cell in code_cells(root):
        if raw and not raw.endswith(b"\n"):
            raw += b"\n"
            offsets.append(ends[-1])
            ends.append(ends[-1])
            text += b"\n"
        start = len(raw)
        cells.append(start)
        for string in source_strings(cell):
            unescape(data, string, raw, offsets, ends)
        text += shell_of(bytes(raw[start:]))
    offsets.append(ends[-1] if ends else 0)
    return Source(
        path, bytes(text), bytes(raw), offsets=offsets, ends=ends, cells=tuple(cells) or (0,)
    )


def shell_of(cell: bytes) -> bytes:
    """The cell with everything blanked that is not for the shell, in the same length."""
    whole = _SHELL_CELL.match(cell)
    if whole is not None:
        return whole[0].translate(_BLANK) + cell[whole.end() :]
    kept = bytearray(cell.translate(_BLANK))
    if _FOREIGN_CELL.match(cell):
        return bytes(kept)
    end = 0
    for line in _LINE.finditer(cell):
        if line.start() < end:
            continue  # the command before goes on here
        start, end = line.end(), _end_of_command(cell, line.end())
        kept[start:end] = cell[start:end]
        if line[4] is not None:
            kept[start:end] = _one_value(cell[start:end])
        elif line[5] is not None:
            kept[line.start(5) : start] = line[5] + b"="
    return bytes(kept)


def _one_value(assignment: bytes) -> bytes:
    """A value as the magic takes it: blanks do not end it, as they would in the shell."""
    return re.sub(rb"[ \t]", b"_", assignment.rstrip()).ljust(len(assignment))


def _end_of_command(cell: bytes, start: int) -> int:
    """Where a command ends: at the line's end that no backslash stands before."""
    while True:
        end = cell.find(b"\n", start)
        if end < 0:
            return len(cell)
        if not cell[start:end].rstrip(b"\r").endswith(b"\\"):
            return end
        start = end + 1
