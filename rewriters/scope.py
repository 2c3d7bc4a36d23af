"""Which device the code around a place already has."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tree_sitter import Node

from analyzers.choices import choices
from analyzers.devices import device_strings, names_device
from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of, unparenthesised
from analyzers.guards import AVAILABLE, is_negated, mentions_mps
from rewriters.bindings import bindings, is_shadowed
from rewriters.wording import HELPER

_OWNERS = ("function_definition", "class_definition", "module")
_MOVES = re.compile(rb"set_device|cuda\s*\.\s*device\s*\(")
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
            or _parameter(document, function, node)
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
    called_later = scope.type == "module" and _function_around(node) is not None
    best: Named | None = None
    for name, assignment in _assignments(document, scope):
        statement = statement_of(assignment)
        if "." in name or enclosing(statement, _OWNERS) != scope:
            continue
        early = statement.end_byte <= node.start_byte
        if not (early or called_later) or is_shadowed(document, name, node, scope):
            continue
        if not _reaches(document, name, statement, node):
            continue
        best = _named(document, name, assignment, scope)
        if best is not None and not early:
            # Set by the time the function is called, in most programs.
            best = replace(best, certain=False)
    return best


def _reaches(document: PythonDocument, name: str, statement: Node, node: Node | None) -> bool:
    """Whether a statement is on every way to ``node``, or through its whole scope without one.

    An ``if`` counts as one statement where each of its branches sets the name, and it has an else.
    """
    block = statement.parent
    while block is not None:
        if node is not None and block.start_byte <= node.start_byte < block.end_byte:
            return True
        owner = block.parent
        if block.type == "module" or owner is None or owner.type == "function_definition":
            return block.type == "module" or node is None
        ladder = owner if owner.type == "if_statement" else owner.parent
        if owner.type not in ("if_statement", "elif_clause", "else_clause") or ladder is None:
            return False
        if ladder.type != "if_statement" or not _every_branch_sets(document, name, ladder):
            return False
        block = ladder.parent
    return False


def _every_branch_sets(document: PythonDocument, name: str, ladder: Node) -> bool:
    clauses = ladder.children_by_field_name("alternative")
    if not any(clause.type == "else_clause" for clause in clauses):
        return False
    bodies = [
        ladder.child_by_field_name("consequence"),
        *(
            clause.child_by_field_name("body") or clause.child_by_field_name("consequence")
            for clause in clauses
        ),
    ]
    return all(
        body is not None
        and any(
            (inner := nth(one, 0)) is not None
            and inner.type == "assignment"
            and (left := inner.child_by_field_name("left")) is not None
            and document.slice(left) == name
            for one in body.named_children
            if one.type == "expression_statement"
        )
        for body in bodies
    )


def _parameter(document: PythonDocument, function: Node, node: Node) -> Named | None:
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
            if is_shadowed(document, text, node, function):
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
        statement = statement_of(assignment)
        if method == function and statement.end_byte > node.start_byte:
            continue
        if not _reaches(document, name, statement, node if method == function else None):
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
        if "device" not in label or parameters.named_child_count:
            continue
        if len(bindings(document, label)) == 1 and _returns_devices(document, child):
            line, _column = document.source.position(child.start_byte)
            # Only the helper that rewrites add is known to ask nothing but this.
            yield child, Named(f"{label}()", label == HELPER, line)


def _returns_devices(document: PythonDocument, function: Node) -> bool:
    """Whether a function gives back devices alone, MPS among them."""
    values = []
    waiting = [function]
    while waiting:
        node = waiting.pop()
        if node.type == "return_statement":
            values.append(nth(node, 0))
        waiting.extend(node.named_children)
    kinds = ("cuda", "mps", "cpu")
    return (
        bool(values)
        and mentions_mps(document, function)
        and all(
            value is not None and any(names_device(document, value, kind) for kind in kinds)
            for value in values
        )
    )


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
    if name.startswith("self."):
        assigned: list[Node | None] = [
            assignment for other, assignment in _assignments(document, scope) if other == name
        ]
    else:
        bound = bindings(document, name)
        if any(_reaches_out(one.node) for one in bound):
            return False
        assigned = [one.assignment for one in bound if one.scope == scope]
    return all(
        assignment is not None
        and (
            _in_ladder(document, assignment)
            or (
                (value := assignment.child_by_field_name("right")) is not None
                and is_cuda_first(document, value)
            )
        )
        for assignment in assigned
    )


def _reaches_out(node: Node) -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("global_statement", "nonlocal_statement")


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
            return string.index == 0 and not document.says(_MOVES)
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
