"""Syntax trees of texts, which may be made to harm whoever parses them."""

import time
from collections.abc import Sequence

from tree_sitter import Language, Node, Parser, Range

from analyzers.documents.yaml import YAML, is_too_deep

#: Processor seconds for one text, and how many more for each of its bytes: five times what two
#: megabytes take that people wrote. A text that takes longer takes memory, too.
SECONDS, SECONDS_A_BYTE = 0.3, 1e-6
#: Bytes that the parser gets at once.
_PIECE = 4_096


def parse(language: Language, text: bytes, ranges: Sequence[Range] = ()) -> Node:
    """The root of a text's syntax tree.

    Args:
        language: the grammar.
        text: what is parsed.
        ranges: the parts of it to parse; all of it when there are none.

    Raises:
        RecursionError: it is nested too deeply, or so tangled that parsing it takes for ever.
    """
    if language is YAML and is_too_deep(text):
        raise RecursionError
    end = time.thread_time() + SECONDS + SECONDS_A_BYTE * len(text)
    try:
        # Only what comes in pieces can be given up on the way.
        tree = Parser(language, included_ranges=list(ranges)).parse(
            lambda offset, _point: text[offset : offset + _PIECE],
            progress_callback=lambda _offset, _error: time.thread_time() > end,
        )
    except ValueError as error:
        raise RecursionError from error
    return tree.root_node
