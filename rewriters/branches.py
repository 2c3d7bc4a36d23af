"""A branch for MPS beside one for CUDA, where what the branch does has a counterpart."""

import re
from collections.abc import Iterable

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, statement_of
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.combine import apply_edits
from rewriters.draft import Draft
from rewriters.wording import line_end, mps_test

_AVAILABLE = re.compile(r"\b(?:\w+\.)?cuda\.is_available\(\)")


def beside(document: PythonDocument, node: Node, counterparts: Iterable[Edit]) -> Draft | None:
    """An ``elif`` for MPS behind the branch around ``node`` that runs where CUDA is available.

    Every statement of the branch must be rewritten by one of ``counterparts``, which are edits of
    the branch as it is; the branch for CUDA itself stays, and each of its findings gets this same
    edit. None where the question for CUDA cannot be asked of MPS, or something comes after.
    """
    statement = statement_of(node)
    block = statement.parent
    ladder = block.parent if block is not None else None
    if block is None or ladder is None or ladder.type != "if_statement":
        return None
    condition = ladder.child_by_field_name("condition")
    if condition is None or ladder.children_by_field_name("alternative"):
        return None
    question = asked_of_mps(document, condition)
    inside = [
        edit for edit in counterparts if block.start_byte <= edit.start < edit.end <= block.end_byte
    ]
    if question is None or not all(
        one.type == "expression_statement"
        and any(one.start_byte <= edit.start < one.end_byte for edit in inside)
        for one in block.named_children
        if one.type != "comment"
    ):
        return None
    indent = document.line_prefix(ladder)
    start = block.start_byte - len(document.line_prefix(block))
    if indent.strip() or document.line_prefix(block).strip():
        return None
    end = document.text.find(b"\n", block.end_byte)
    end = len(document.text) if end < 0 else end
    end -= document.text[end - 1 : end] == b"\r"
    body = apply_edits(
        document.text[start : block.end_byte],
        [Edit(one.start - start, one.end - start, one.replacement) for one in inside],
    )
    if b"cuda" in body:
        return None
    newline = line_end(document).encode()
    text = newline + indent + b"elif " + question.encode() + b":" + newline + body
    why = _(
        "The branch for CUDA is as it was; one for MPS does the same. Take all such places of "
        "a program or none, so that everything is on one device."
    )
    return Draft((Edit(end, end, text),), Fix.REVIEW, why)


def asked_of_mps(document: PythonDocument, condition: Node) -> str | None:
    """A condition asked of MPS; None where it asks for CUDA in another way."""
    text = document.slice(condition)
    asked = _AVAILABLE.sub(mps_test(document), text)
    return None if asked == text or "cuda" in asked else asked
