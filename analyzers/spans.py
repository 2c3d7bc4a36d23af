"""Stretches of a text: joined where they overlap, and asked what lies in them."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from tree_sitter import Node

#: Bytes ``start:end`` of a text.
Span = tuple[int, int]


def merged(spans: Iterable[Span]) -> list[Span]:
    """Spans in order, those that overlap made one."""
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def inside(spans: Sequence[Span], node: Node) -> bool:
    """Whether a node begins in one of the spans, which are in order and apart."""
    index = bisect_right(spans, (node.start_byte, 1 << 62)) - 1
    return index >= 0 and spans[index][0] <= node.start_byte < spans[index][1]
