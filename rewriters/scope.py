"""Which device the code around a place already has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from analyzers.devices import (
    AVAILABLE,
    choices,
    device_strings,
    is_negated,
    mentions_mps,
    names_device,
)
from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of, unparenthesised
from rewriters.wording import HELPER

_DEVICE_NAME = re.compile(r"(?:^|_)(?:device|dev)\Z")
_ASSIGNED = re.compile(rb"dev(?:ice)?[ \t]*(?::[^=\r\n]{1,80})?=(?!=)")


@dataclass(frozen=True, slots=True)
class Named:
    """An expression that is a device at some place.

    ``certain``: where CUDA is available it is CUDA, whatever is passed in from outside.
    """

    text: str
    certain: bool
    line: int


def device_at(document: PythonDocument, node: Node) -> Named | None:
    """The nearest device that code at ``node`` can name, or None.

    A variable of the function, then a parameter, then ``self.device``, then the same of the
    functions around, then a variable of the module, then a function that picks a device.
    """
    place = node
    function = _function_around(node)
    while function is not None:
        named = (
            _variable(document, function, node)
            or _parameter(document, function)
            or _attribute(document, function, node)
        )
        if named is not None:
            return named
        place, function = function, _function_around(function)
    return _variable(document, document.root, node) or _picker(document, place)


def _function_around(node: Node) -> Node | None:
    """The function whose body holds a node; a default or a decorator is outside of it."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type == "function_definition" and parent.child_by_field_name("body") == child:
            return parent
        child, parent = parent, parent.parent
    return None


def _assignments(document: PythonDocument, scope: Node) -> Iterator[tuple[str, Node]]:
    """Assignments in a scope to names that sound like a device: target, assignment."""
    for name, assignment in document.once(_device_assignments):
        if scope.start_byte <= assignment.start_byte < scope.end_byte:
            yield name, assignment


def _device_assignments(document: PythonDocument) -> Iterator[tuple[str, Node]]:
    for match in _ASSIGNED.finditer(document.text):
        node = document.root.descendant_for_byte_range(match.start(), match.start() + 3)
        while node is not None and node.parent is not None and node.parent.type == "attribute":
            node = node.parent
        assignment = node.parent if node is not None else None
        if node is None or assignment is None or assignment.type != "assignment":
            continue
        name = document.slice(node)
        plain = name.removeprefix("self.")
        if "." not in plain and assignment.child_by_field_name("left") == node:
            yield name, assignment


def _variable(document: PythonDocument, scope: Node, node: Node) -> Named | None:
    """A plain variable that is set before ``node`` on every way to it."""
    from_function = _function_around(node)
    best: Named | None = None
    for name, assignment in _assignments(document, scope):
        statement = statement_of(assignment)
        if "." in name or _function_around(statement) != (
            scope if scope.type == "function_definition" else None
        ):
            continue
        if enclosing(statement, ("class_definition", "function_definition")) not in (scope, None):
            continue
        later_is_fine = scope.type == "module" and from_function is not None
        if statement.end_byte > node.start_byte and not later_is_fine:
            continue
        if not _reaches(statement, node, scope, later_is_fine):
            continue
        best = _named(document, name, assignment, scope)
        if best is not None and statement.end_byte > node.start_byte:
            # Set by the time the function is called, in most programs.
            best = replace(best, certain=False)
    return best


def _reaches(statement: Node, node: Node, scope: Node, from_function: bool) -> bool:
    """Whether a statement is on every way to ``node``: its block holds ``node`` as well.

    Both branches of an ``if`` that set the name count as one.
    """
    block = statement.parent
    while block is not None and block.type in ("block", "if_statement", "else_clause"):
        holder = block.parent
        if block.start_byte <= node.start_byte and node.end_byte <= block.end_byte:
            return block.type == "block"
        if block.type == "block" and holder is not None and holder.type == "function_definition":
            return holder == scope
        if block.type == "if_statement" and not any(
            child.type == "else_clause" for child in block.children
        ):
            return False
        if (
            block.type == "block"
            and holder is not None
            and holder.type
            not in (
                "if_statement",
                "else_clause",
                "elif_clause",
            )
        ):
            return False
        block = holder
        while block is not None and block.type == "elif_clause":
            block = block.parent
    if block is None:
        return False
    return block.type == "module" and (from_function or block == scope)


def _parameter(document: PythonDocument, function: Node) -> Named | None:
    parameters = function.child_by_field_name("parameters")
    if parameters is None:
        return None
    for parameter in parameters.named_children:
        name = parameter.child_by_field_name("name") or parameter
        if name.type == "identifier":
            identifier = name
        else:
            first = nth(parameter, 0)
            if first is None or first.type != "identifier":
                continue
            identifier = first
        text = document.slice(identifier)
        if _DEVICE_NAME.search(text):
            default = parameter.child_by_field_name("value")
            if default is not None and document.slice(default) == "None":
                continue
            line, _column = document.source.position(identifier.start_byte)
            return Named(text, False, line)
    return None


def _attribute(document: PythonDocument, function: Node, node: Node) -> Named | None:
    """``self.device`` of the class, where a method can rely on it."""
    owner = enclosing(function, ("class_definition", "function_definition"))
    if owner is None or owner.type != "class_definition" or not _takes_self(document, function):
        return None
    for name, assignment in _assignments(document, owner):
        if not name.startswith("self."):
            continue
        method = _function_around(assignment)
        label = method.child_by_field_name("name") if method is not None else None
        if label is None or document.slice(label) not in ("__init__", "setup", "__post_init__"):
            continue
        if method == function and statement_of(assignment).end_byte > node.start_byte:
            continue
        return _named(document, name, assignment, owner)
    return None


def _takes_self(document: PythonDocument, function: Node) -> bool:
    parameters = function.child_by_field_name("parameters")
    first = nth(parameters, 0) if parameters is not None else None
    return first is not None and document.slice(first) == "self"


def _picker(document: PythonDocument, node: Node) -> Named | None:
    """A function of this module that takes nothing and picks a device, MPS included."""
    for child, named in document.once(_pickers):
        inside = child.start_byte <= node.start_byte < child.end_byte
        late = _function_around(node) is None and child.end_byte > node.start_byte
        if not inside and not late:
            return named
    return None


def _pickers(document: PythonDocument) -> Iterator[tuple[Node, Named]]:
    if document.source.cells or not mentions_mps(document, document.root):
        return
    for child in document.root.named_children:
        name = child.child_by_field_name("name")
        parameters = child.child_by_field_name("parameters")
        if child.type != "function_definition" or name is None or parameters is None:
            continue
        label = document.slice(name)
        if "device" in label and not parameters.named_child_count and mentions_mps(document, child):
            line, _column = document.source.position(child.start_byte)
            # Only the helper that rewrites add is known to ask nothing but this.
            certain = label == HELPER
            yield child, Named(f"{label}()", certain, line)


def _named(document: PythonDocument, name: str, assignment: Node, scope: Node) -> Named | None:
    value = assignment.child_by_field_name("right")
    if value is None:
        return None
    line, _column = document.source.position(assignment.start_byte)
    if not _in_ladder(document, assignment) and (
        document.slice(value) == "None" or names_device(document, value, "cpu")
    ):
        # The CPU on purpose, or a name that is filled elsewhere.
        return None
    return Named(name, _is_always_cuda(document, name, scope), line)


def _is_always_cuda(document: PythonDocument, name: str, scope: Node) -> bool:
    """Whether a name is CUDA wherever CUDA is available, whichever way it was set in a scope."""
    for other, assignment in _assignments(document, scope):
        value = assignment.child_by_field_name("right")
        if other != name or value is None:
            continue
        if not (_in_ladder(document, assignment) or is_cuda_first(document, value)):
            return False
    word = re.escape(name).encode()
    bound_otherwise = re.compile(
        rb"(?m)\bfor\b[^:\n]*\b%b\b[^:\n]*\bin\b|\bas\s+%b\b|\b%b\s*:=|\b%b\s*[-+*/|&]="
        rb"|^[ \t]*(?:del|global|nonlocal)\b[^\n]*\b%b\b"
        rb"|^[ \t]*\(?[\w., \t]*\b%b\b[ \t]*,[\w., \t]*\)?[ \t]*=[^=]"
        rb"|^[ \t]*\(?[\w.][\w., \t]*,[ \t]*%b[ \t]*\)?[ \t]*=[^=]" % ((word,) * 7)
    )
    return bound_otherwise.search(document.text, scope.start_byte, scope.end_byte) is None


def _in_ladder(document: PythonDocument, assignment: Node) -> bool:
    """Whether an assignment is in a ladder of branches that begins with CUDA being available."""
    return any(
        choice.node.type == "if_statement"
        and choice.node.start_byte <= assignment.start_byte < choice.node.end_byte
        and is_availability(document, choice.condition)
        and is_first_gpu(document, choice.cuda)
        for choice in choices(document)
    )


def is_availability(document: PythonDocument, condition: Node) -> bool:
    """Whether a condition is the bare question for CUDA, and nothing else is asked with it."""
    condition = unparenthesised(condition)
    function = condition.child_by_field_name("function") if condition.type == "call" else None
    return function is not None and document.dotted(function) == AVAILABLE


def is_first_gpu(document: PythonDocument, node: Node) -> bool:
    """Whether an expression is CUDA without a number, or number 0 where no call moves the card."""
    if not names_device(document, node, "cuda"):
        return False
    for string in device_strings(document):
        if node.start_byte <= string.node.start_byte < node.end_byte:
            if string.index is None:
                return True
            moved = re.search(rb"set_device|cuda\s*\.\s*device\s*\(", document.text)
            return string.index == 0 and moved is None
    return False


def is_cuda_first(document: PythonDocument, value: Node) -> bool:
    """Whether an expression gives CUDA wherever CUDA is available."""
    value = unparenthesised(value)
    if value.type == "call":
        function = value.child_by_field_name("function")
        arguments = value.child_by_field_name("arguments")
        first = nth(arguments, 0) if arguments is not None else None
        if function is None or first is None or document.dotted(function) != "torch.device":
            return False
        if first.type == "string":
            return is_first_gpu(document, first)
        return (
            arguments is not None
            and arguments.named_child_count == 1
            and is_cuda_first(document, first)
        )
    if value.type == "conditional_expression":
        parts = [child for child in value.named_children if child.type != "comment"]
        if len(parts) != 3:
            return False
        cuda, condition, _other = parts
        if is_negated(condition):
            inner = nth(unparenthesised(condition), 0)
            cuda, condition = parts[2], inner if inner is not None else condition
        return is_availability(document, condition) and is_cuda_first(document, cuda)
    return value.type == "string" and is_first_gpu(document, value)
