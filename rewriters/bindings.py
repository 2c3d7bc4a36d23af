"""Every place that gives a name a value, and the scope in which it does."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing

COMPREHENSIONS = (
    "list_comprehension",
    "set_comprehension",
    "dictionary_comprehension",
    "generator_expression",
)
_SCOPES = ("function_definition", "lambda", "class_definition", "module", *COMPREHENSIONS)
_TARGETS = ("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "tuple", "list")
_ALWAYS = (
    "as_pattern_target",
    "case_pattern",
    "splat_pattern",
    "global_statement",
    "nonlocal_statement",
    "delete_statement",
    "lambda_parameters",
    "parameters",
    "dictionary_splat_pattern",
    "typed_parameter",
    "except_clause",
)


@dataclass(frozen=True, slots=True)
class Binding:
    """One place that binds a name: the identifier, the scope it is bound in.

    ``assignment`` is the statement's assignment where it is a plain ``name = value``.
    """

    node: Node
    scope: Node
    assignment: Node | None


def bindings(document: PythonDocument, name: str) -> tuple[Binding, ...]:
    """Every binding of a plain name in a module."""
    return document.remember(("bindings", name), lambda: tuple(_bindings(document, name)))


def _bindings(document: PythonDocument, name: str) -> Iterator[Binding]:
    pattern = re.compile(rb"(?<![\w.])" + re.escape(name.encode()) + rb"\b")
    for match, node in document.hits(pattern):
        if node.type != "identifier" or node.end_byte != match.end():
            continue
        parent = _outside_targets(node).parent
        if parent is None or not _binds(node, parent):
            continue
        plain = parent.type == "assignment" and parent.child_by_field_name("left") == node
        has_value = parent.child_by_field_name("right") is not None
        yield Binding(node, _scope(node, parent), parent if plain and has_value else None)


def _outside_targets(node: Node) -> Node:
    while (parent := node.parent) is not None and parent.type in _TARGETS:
        node = parent
    return node


def _binds(node: Node, parent: Node) -> bool:
    target = _outside_targets(node)
    if parent.type in _ALWAYS:
        return True
    if parent.type in ("assignment", "augmented_assignment", "for_statement", "for_in_clause"):
        return parent.child_by_field_name("left") == target
    if parent.type in (
        "named_expression",
        "function_definition",
        "class_definition",
        "default_parameter",
        "typed_default_parameter",
    ):
        return parent.child_by_field_name("name") == target
    if parent.type == "aliased_import":
        return parent.child_by_field_name("alias") == target
    if parent.type == "dotted_name":
        return _is_bound_by_import(node, parent)
    return parent.type == "with_item"


def _is_bound_by_import(node: Node, dotted: Node) -> bool:
    statement = dotted.parent
    if statement is None:
        return False
    if statement.type == "case_pattern":
        return True
    if statement.type not in ("import_statement", "import_from_statement"):
        return False
    return dotted != statement.child_by_field_name("module_name") and dotted.children[0] == node


def _scope(node: Node, parent: Node) -> Node:
    """The scope in which a binding takes effect."""
    start = node
    if parent.type in ("function_definition", "class_definition"):
        start = parent
    if parent.type == "named_expression":
        scope = enclosing(node, ("function_definition", "lambda", "module"))
    else:
        scope = enclosing(start, _SCOPES)
    while scope is not None and scope.type == "class_definition" and _in_method_head(node, scope):
        scope = enclosing(scope, _SCOPES)
    return scope if scope is not None else node


def _in_method_head(node: Node, scope: Node) -> bool:
    body = scope.child_by_field_name("body")
    return body is not None and node.end_byte <= body.start_byte


def is_shadowed(document: PythonDocument, name: str, node: Node, scope: Node) -> bool:
    """Whether a scope between ``node`` and ``scope`` binds the name for itself."""
    inner = []
    parent = node.parent
    while parent is not None and parent != scope:
        if parent.type in ("function_definition", "lambda", *COMPREHENSIONS):
            inner.append(parent)
        parent = parent.parent
    return any(one.scope in inner for one in bindings(document, name))
