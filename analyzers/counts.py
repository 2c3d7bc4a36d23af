"""Numbers of CUDA cards, which are 0 in a PyTorch without CUDA."""

import re

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of

_DIVISIONS = (b"%", b"/", b"//")


def divides(document: PythonDocument, count: Node) -> bool:
    """Whether the program divides by a number of cards, at once or by the name that it gets."""
    if _is_divisor(count):
        return True
    inner = nth(statement_of(count), 0)
    left = inner.child_by_field_name("left") if inner is not None else None
    right = inner.child_by_field_name("right") if inner is not None else None
    if left is None or right != count or left.type != "identifier":
        return False
    scope = enclosing(count, ("function_definition",)) or document.root
    pattern = re.compile(rb"[%/][ \t]*(?=" + re.escape(left.text or b"") + rb"\b)")
    for match in pattern.finditer(document.text, count.end_byte, scope.end_byte):
        name = document.root.descendant_for_byte_range(match.end(), match.end() + 1)
        if name is not None and name.type == "identifier" and _is_divisor(name):
            return True
    return False


def _is_divisor(node: Node) -> bool:
    """Whether something is divided by a node; a text that is filled in is no number."""
    parent = node.parent
    if parent is None or parent.type not in ("binary_operator", "augmented_assignment"):
        return False
    left, right = parent.child_by_field_name("left"), parent.child_by_field_name("right")
    operator = parent.child_by_field_name("operator")
    return (
        right == node
        and left is not None
        and left.type not in ("string", "concatenated_string")
        and operator is not None
        and (operator.text or b"").rstrip(b"=") in _DIVISIONS
    )
