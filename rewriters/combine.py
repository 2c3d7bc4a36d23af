"""Putting proposals for one file together."""

from collections.abc import Iterable

from project.errors import UserError
from project.translation import _
from project.vocabulary import Edit, Proposal


class Conflict(UserError):
    """Two proposals change the same bytes in different ways."""


def apply_edits(data: bytes, edits: Iterable[Edit]) -> bytes:
    """Make edits, all given in offsets of ``data``; equal ones are made once.

    Raises:
        ValueError: an edit lies outside the data, or two of them overlap.
    """
    out = bytearray()
    position = 0
    # At one place an import goes before what needs it.
    for edit in sorted(
        set(edits), key=lambda one: (one.start, one.end, b"import " not in one.replacement, one)
    ):
        if not position <= edit.start <= edit.end <= len(data):
            raise ValueError(f"edit {edit.start}:{edit.end} overlaps another or leaves the file")
        out += data[position : edit.start]
        out += edit.replacement
        position = edit.end
    return bytes(out + data[position:])


def combine(data: bytes, proposals: Iterable[Proposal]) -> bytes:
    """A file with these proposals made.

    Raises:
        Conflict: two proposals exclude each other.
    """
    chosen = list(proposals)
    edits = [edit for proposal in chosen for edit in proposal.edits]
    try:
        return apply_edits(data, edits)
    except ValueError:
        first = chosen[0]
        raise Conflict(
            _(
                "{path}: two of the chosen rewrites change the same place; accept one of them."
            ).format(path=first.path)
        ) from None
