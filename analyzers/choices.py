"""Choices between CUDA and another device, made by asking whether CUDA is there."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from analyzers.devices import DeviceString, Role, device_strings, names_device
from analyzers.documents.python import PythonDocument, nth, statement_of
from analyzers.guards import (
    asks_for_cuda,
    is_handled,
    is_negated,
    mentions_mps,
)
from analyzers.spans import Span, inside, merged

_NO_CUDA = re.compile(r"(?i)\bnot\s+(?:\w+\.)*(?:no|disable|without)_?cuda\Z")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice between CUDA and something else, made by asking whether CUDA is there.

    ``node`` is the conditional expression or the ``if`` statement, ``other`` the expression for
    the case without CUDA, ``handled`` whether MPS has a branch already.
    """

    node: Node
    condition: Node
    cuda: Node
    other: Node
    handled: bool


def is_off_twice(document: PythonDocument, condition: Node) -> bool:
    """Whether a condition is ``not args.no_cuda``, which holds where CUDA is wanted."""
    return _NO_CUDA.search(document.slice(condition)) is not None


def choices(document: PythonDocument) -> tuple[Choice, ...]:
    """Every two-way choice between CUDA and something else, as expression or as ladder."""
    return document.once(_choices)


def _choices(document: PythonDocument) -> Iterator[Choice]:
    seen: set[int] = set()
    for string in device_strings(document):
        node: Node | None = None
        if string.role is Role.CHOICE:
            node = string.holder
        elif string.role is Role.CONSTRUCTOR:
            outer = string.holder.parent
            if outer is not None and outer.type == "conditional_expression":
                node = outer
        choice = _expression_choice(document, node) if node is not None else None
        if choice is None and string.role in (Role.ASSIGNMENT, Role.CONSTRUCTOR):
            choice = _ladder_choice(document, string)
        if choice is None or names_device(document, choice.other, "cuda"):
            continue
        if choice.node.start_byte not in seen:
            seen.add(choice.node.start_byte)
            yield choice


def _expression_choice(document: PythonDocument, node: Node) -> Choice | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 3:
        return None
    cuda, condition, other = parts
    if not asks_for_cuda(document, condition):
        return None
    if is_negated(condition) and not is_off_twice(document, condition):
        cuda, other = other, cuda
    if not names_device(document, cuda, "cuda"):
        return None
    handled = mentions_mps(document, _outermost(node)) or is_handled(document, node)
    return Choice(node, condition, cuda, other, handled)


def _outermost(node: Node) -> Node:
    """The longest chain of conditional expressions around one."""
    while (parent := node.parent) is not None and parent.type in (
        "conditional_expression",
        "parenthesized_expression",
    ):
        node = parent
    return node


def _ladder_choice(document: PythonDocument, string: DeviceString) -> Choice | None:
    """``if torch.cuda.is_available(): device = "cuda"`` with an ``else`` that names another."""
    statement = statement_of(string.node)
    block = statement.parent
    ladder = block.parent if block is not None else None
    if ladder is None or ladder.type != "if_statement":
        return None
    condition = ladder.child_by_field_name("condition")
    consequence = ladder.child_by_field_name("consequence")
    if condition is None or consequence != block or not asks_for_cuda(document, condition):
        return None
    clauses = ladder.children_by_field_name("alternative")
    target = _assigned(document, statement)
    for clause in clauses:
        body = clause.child_by_field_name("body")
        if clause.type != "else_clause" or body is None or target is None:
            continue
        for other in body.named_children:
            value = _value_of(other)
            if value is not None and _assigned(document, other) == target:
                handled = is_handled(document, ladder)
                return Choice(ladder, condition, string.node, value, handled)
    return None


def _assigned(document: PythonDocument, statement: Node) -> str | None:
    """The target of an assignment statement, ``return`` for a return."""
    if statement.type == "return_statement":
        return "return"
    inner = nth(statement, 0) if statement.type == "expression_statement" else None
    if inner is None or inner.type != "assignment":
        return None
    left = inner.child_by_field_name("left")
    return document.slice(left) if left is not None else None


def _value_of(statement: Node) -> Node | None:
    if statement.type == "return_statement":
        return nth(statement, 0)
    inner = nth(statement, 0) if statement.type == "expression_statement" else None
    return inner.child_by_field_name("right") if inner is not None else None


def is_in_choice(document: PythonDocument, node: Node) -> bool:
    """Whether a node is a branch of a choice that asks for CUDA."""
    return inside(document.once(_branches), node)


def _branches(document: PythonDocument) -> list[Span]:
    return merged(
        (branch.start_byte, branch.end_byte)
        for choice in choices(document)
        for branch in (choice.cuda, choice.other)
    )


def is_in_condition(document: PythonDocument, node: Node) -> bool:
    """Whether a node is in the condition of an expression that chooses a device."""
    return inside(document.once(_conditions), node)


def _conditions(document: PythonDocument) -> list[Span]:
    return merged(
        (choice.condition.start_byte, choice.condition.end_byte)
        for choice in choices(document)
        if choice.node.type == "conditional_expression"
    )
