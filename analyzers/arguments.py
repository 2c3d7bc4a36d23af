"""What is passed in a call: keyword and positional arguments, and their plain values."""

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, unparenthesised


def call_of(node: Node) -> Node | None:
    """The call that calls ``node``, if one does."""
    parent = node.parent
    if parent is not None and parent.type == "call":
        return parent if parent.child_by_field_name("function") == node else None
    return None


def passed(call: Node) -> list[Node]:
    """The arguments of a call, in order; comments are left out."""
    arguments = call.child_by_field_name("arguments")
    if arguments is None or arguments.type != "argument_list":
        return []
    return [child for child in arguments.named_children if child.type != "comment"]


def positional(call: Node, index: int) -> Node | None:
    """The positional argument at ``index``; None where a ``*args`` hides which one that is."""
    for number, child in enumerate(passed(call)):
        if child.type in ("keyword_argument", "list_splat", "dictionary_splat"):
            return None
        if number == index:
            return child
    return None


def keyword(call: Node, name: str) -> Node | None:
    """The value of the keyword argument ``name``."""
    for child in passed(call):
        if child.type != "keyword_argument":
            continue
        label = child.child_by_field_name("name")
        if label is not None and label.text == name.encode():
            return child.child_by_field_name("value")
    return None


def argument(call: Node, name: str, index: int) -> Node | None:
    """The value of an argument that may be given by name or by place."""
    value = keyword(call, name)
    return value if value is not None else positional(call, index)


def string_of(document: PythonDocument, node: Node | None) -> str | None:
    """The value of a plain string literal; None for anything else."""
    if node is None:
        return None
    node = unparenthesised(node)
    if node.type != "string" or any(child.type == "interpolation" for child in node.named_children):
        return None
    return document.slice(node).lstrip("rRbBuUfF").strip("'\"")


def number_of(document: PythonDocument, node: Node | None) -> int | None:
    """The value of a plain whole number; None for anything else."""
    if node is None or node.type != "integer":
        return None
    text = document.slice(node)
    return int(text) if text.isdecimal() and len(text) < 19 else None


def is_true(node: Node | None) -> bool:
    """Whether an argument is the literal ``True``."""
    return node is not None and node.type == "true"


def receiver_of(call: Node) -> Node | None:
    """What a method is called on: ``x`` in ``x.to(device)``."""
    function = call.child_by_field_name("function")
    if function is None or function.type != "attribute":
        return None
    return function.child_by_field_name("object")


def method_of(document: PythonDocument, call: Node) -> str:
    """The name of the method or function that is called, without what stands before the dot."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    name = function.child_by_field_name("attribute") if function.type == "attribute" else function
    return document.slice(name) if name is not None and name.type == "identifier" else ""
