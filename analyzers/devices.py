"""How Python code speaks of devices: strings, choices between them, and tests for CUDA.

Rules and rewrites ask these questions of a document; nothing here says what is a finding.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tree_sitter import Node

from analyzers.documents.python import (
    PythonDocument,
    enclosing,
    nth,
    statement_of,
    unparenthesised,
)

AVAILABLE = "torch.cuda.is_available"

_DEVICE_TEXT = re.compile(rb"""["']cuda(?::[^"'\\\r\n]{0,40})?["']""")
_DEVICE_VALUE = re.compile(r"cuda(?::(\d+))?\Z")
_MPS = re.compile(rb"\bmps\b|torch\s*\.\s*accelerator")
#: Packages in which ``cuda`` is a module.
_OTHER_CUDA = ("cupy", "numba", "pycuda", "jax", "tensorflow", "warp", "taichi", "cuda")
#: Names of flags that people give to "CUDA is there and wanted".
_FLAG = re.compile(r"(?i)(?:^|_|\b)(?:use_|has_|with_|is_|no_)?(?:cuda|gpu)(?:_available)?\Z")


class Role(Enum):
    """What a device string is for, at the place where it stands."""

    CHOICE = "one branch of a choice between devices"
    CONSTRUCTOR = "argument of torch.device"
    TO = "argument of .to()"
    KEYWORD = "keyword argument"
    ARGUMENT = "positional argument of another call"
    AUTOCAST = "argument of autocast, GradScaler or another AMP call"
    DEFAULT = "default of a parameter"
    ASSIGNMENT = "value that is assigned, returned or stored"
    COMPARISON = "something to compare with"
    COLLECTION = "member of a list of devices"
    TEXT = "a key, a message, a name: no device"


@dataclass(frozen=True, slots=True)
class DeviceString:
    """A string that names a CUDA device.

    ``node`` is the whole expression that makes the string, ``index`` the device's number: None
    for plain ``cuda``, -1 when it is computed. ``holder`` is the node that gives it its role: the
    call, the assignment, the parameter.
    """

    node: Node
    index: int | None
    role: Role
    holder: Node


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


#: Calls whose string arguments are words and not devices.
_TEXT_CALLS = re.compile(
    r"(?:^|\.)(?:print|log|debug|info|warning|warn|error|exception|critical|write|format|"
    r"hasattr|getattr|setattr|get|pop|setdefault|replace|split|join|append_text|startswith|"
    r"endswith|find|index|count|Counter|title|xlabel|ylabel|skip|skipIf|mark|\w*Error|add_argument)\Z"
)
_TEST_METHODS = ("startswith", "endswith", "find", "index", "count")
_AMP_CALL = re.compile(r"(?:^|\.)(?:autocast|GradScaler|custom_fwd|custom_bwd|is_autocast_\w+)\Z")


def device_strings(document: PythonDocument) -> tuple[DeviceString, ...]:
    """Every string that names a CUDA device, with its role."""
    return document.once(_device_strings)


def _device_strings(document: PythonDocument) -> Iterator[DeviceString]:
    seen: set[int] = set()
    for match, node in document.hits(_DEVICE_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.start_byte in seen or _is_docstring(string):
            continue
        # A quote inside a longer string is text about CUDA, not a device.
        if match.end() != string.end_byte or match.start() - string.start_byte > 2:
            continue
        seen.add(string.start_byte)
        found = _classified(document, string)
        if found is not None:
            yield found


def _is_docstring(string: Node) -> bool:
    return string.parent is not None and string.parent.type == "expression_statement"


def _classified(document: PythonDocument, string: Node) -> DeviceString | None:
    content = document.slice(string).lstrip("rRbBfFuU").strip("'\"")
    value = _DEVICE_VALUE.match(content)
    node, computed = _whole_string(string)
    if value is None and not computed and "{" not in content and "%" not in content:
        return None
    index = -1 if value is None or computed else int(value[1]) if value[1] else None
    role, holder = _role(document, node)
    if role is Role.CONSTRUCTOR:
        index = _second_argument(document, holder, index)
    return DeviceString(node, index, role, holder)


def _second_argument(document: PythonDocument, call: Node, index: int | None) -> int | None:
    """The number in ``torch.device("cuda", 1)``."""
    arguments = call.child_by_field_name("arguments")
    number = nth(arguments, 1) if arguments is not None else None
    if number is None or number.type == "comment":
        return index
    return int(document.slice(number)) if document.slice(number).isdigit() else -1


_DEVICE_LABEL = re.compile(
    r"(?i)(?:\A|[\W_])(?:map_location|dev(?:ice)?(?:_?(?:name|type|str))?)\W*\Z"
)


def label_of(document: PythonDocument, string: DeviceString) -> str:
    """What the program calls the value: a variable, a parameter, a keyword, a command-line option.

    Empty where it has no name, as in ``return "cuda"``.
    """
    holder = string.holder
    if string.role is Role.KEYWORD:
        keyword = holder.child_by_field_name("name")
        label = document.slice(keyword) if keyword is not None else ""
        call = enclosing(holder, ("call",))
        arguments = call.child_by_field_name("arguments") if call is not None else None
        first = nth(arguments, 0) if arguments is not None else None
        if label == "default" and first is not None and first.type == "string":
            return document.slice(first)
        return label
    for field in ("left", "name", "key"):
        target = holder.child_by_field_name(field)
        if target is not None:
            return document.slice(target)
    first = nth(holder, 0)
    if string.role is Role.DEFAULT and first is not None:
        return document.slice(first)
    return ""


def sounds_like_device(label: str) -> bool:
    """Whether a name is one that people give to a device."""
    return _DEVICE_LABEL.search(label) is not None


def _whole_string(string: Node) -> tuple[Node, bool]:
    """The expression that builds on a string: ``"cuda:" + str(i)``, ``"cuda:%d" % i``."""
    node, computed = string, False
    while (parent := node.parent) is not None:
        if parent.type == "parenthesized_expression":
            node = parent
        elif parent.type == "binary_operator":
            node, computed = parent, True
        elif (
            parent.type == "attribute"
            and parent.parent is not None
            and parent.parent.type == "call"
            and (name := parent.child_by_field_name("attribute")) is not None
            and name.text == b"format"
        ):
            node, computed = parent.parent, True
        else:
            break
    return node, computed


def _role(document: PythonDocument, node: Node) -> tuple[Role, Node]:
    parent = node.parent
    if parent is None:
        return Role.TEXT, node
    kind = parent.type
    if kind == "conditional_expression":
        return Role.CHOICE, parent
    if kind == "comparison_operator":
        return Role.COMPARISON, parent
    if kind in ("list", "tuple", "set"):
        above = enclosing(node, ("comparison_operator", "call", "statement", "block", "module"))
        if above is not None and above.type == "comparison_operator":
            return Role.COMPARISON, above
        return Role.COLLECTION, parent
    if kind in ("default_parameter", "typed_default_parameter"):
        return Role.DEFAULT, parent
    if kind in ("assignment", "return_statement", "named_expression", "boolean_operator"):
        return Role.ASSIGNMENT, parent
    if kind == "pair":
        is_key = parent.child_by_field_name("key") == node
        return (Role.TEXT if is_key else Role.ASSIGNMENT), parent
    if kind == "keyword_argument":
        call = enclosing(parent, ("call",))
        if call is not None and _AMP_CALL.search(_callee(document, call)):
            return Role.AUTOCAST, call
        return Role.KEYWORD, parent
    if kind == "argument_list" and parent.parent is not None and parent.parent.type == "call":
        return _argument_role(document, node, parent.parent)
    return Role.TEXT, parent


def _argument_role(document: PythonDocument, node: Node, call: Node) -> tuple[Role, Node]:
    callee = _callee(document, call)
    last = callee.rpartition(".")[2]
    if callee == "torch.device":
        return Role.CONSTRUCTOR, call
    if last == "to" and "." in callee:
        return Role.TO, call
    if _AMP_CALL.search(callee):
        return Role.AUTOCAST, call
    if last in _TEST_METHODS:
        return Role.COMPARISON, call
    if _TEXT_CALLS.search(callee):
        return Role.TEXT, call
    return Role.ARGUMENT, call


def _callee(document: PythonDocument, call: Node) -> str:
    """The name of what is called: dotted where it resolves, else as it is written."""
    function = call.child_by_field_name("function")
    if function is None:
        return ""
    resolved = document.dotted(function)
    if resolved is not None:
        return resolved
    if function.type == "attribute":
        attribute = function.child_by_field_name("attribute")
        return "?." + (document.slice(attribute) if attribute is not None else "")
    return document.slice(function)


# -- tests for CUDA --------------------------------------------------------------------------


def asks_for_cuda(document: PythonDocument, condition: Node) -> bool:
    """Whether a condition is about CUDA being there: a call, a flag, or a device's type."""
    return any(_is_cuda_test(document, node) for node in _walk(condition))


def _is_cuda_test(document: PythonDocument, node: Node) -> bool:
    if node.type == "call":
        function = node.child_by_field_name("function")
        return function is not None and document.dotted(function) in (
            AVAILABLE,
            "torch.cuda.device_count",
        )
    if node.type in ("identifier", "attribute"):
        parent = node.parent
        if parent is not None and parent.type == "attribute":
            return False
        name = document.slice(node)
        last = name.rpartition(".")[2]
        return last == "is_cuda" or (
            bool(_FLAG.search(last)) and not (document.dotted(node) or "").startswith("torch.")
        )
    if node.type == "string":
        return _DEVICE_VALUE.match(document.slice(node).strip("'\"")) is not None
    return False


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.named_children))


def is_negated(condition: Node) -> bool:
    """Whether a condition begins with ``not``."""
    return unparenthesised(condition).type == "not_operator"


def guard_of(document: PythonDocument, node: Node) -> Node | None:
    """The condition that lets ``node`` run only where CUDA is there, if one does."""
    child, parent = node, node.parent
    while parent is not None and parent.type not in ("function_definition", "class_definition"):
        condition = _guarding_condition(parent, child)
        if condition is not None:
            test, wanted = condition
            if asks_for_cuda(document, test) and is_negated(test) is not wanted:
                return test
        child, parent = parent, parent.parent
    return None


def _guarding_condition(parent: Node, child: Node) -> tuple[Node, bool] | None:
    """The condition on which ``child`` runs, and whether it must be true for that."""
    if parent.type in ("if_statement", "elif_clause"):
        if parent.child_by_field_name("consequence") == child:
            test = parent.child_by_field_name("condition")
            return (test, True) if test is not None else None
    elif parent.type == "else_clause":
        statement = parent.parent
        if statement is not None and statement.type == "if_statement":
            if any(other.type == "elif_clause" for other in statement.children):
                return None
            test = statement.child_by_field_name("condition")
            return (test, False) if test is not None else None
    elif parent.type == "conditional_expression":
        parts = parent.named_children
        if len(parts) == 3 and child == parts[0]:
            return parts[1], True
        if len(parts) == 3 and child == parts[2]:
            return parts[1], False
    elif parent.type == "boolean_operator":
        left = parent.child_by_field_name("left")
        operator = parent.child_by_field_name("operator")
        if left is not None and operator is not None and child != left and operator.text == b"and":
            return left, True
    return None


# -- choices ---------------------------------------------------------------------------------


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
        if choice is not None and choice.node.start_byte not in seen:
            seen.add(choice.node.start_byte)
            yield choice


def _expression_choice(document: PythonDocument, node: Node) -> Choice | None:
    parts = [child for child in node.named_children if child.type != "comment"]
    if len(parts) != 3:
        return None
    cuda, condition, other = parts
    if not asks_for_cuda(document, condition):
        return None
    if is_negated(condition):
        cuda, other = other, cuda
    if not names_device(document, cuda, "cuda"):
        return None
    return Choice(node, condition, cuda, other, mentions_mps(document, _outermost(node)))


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
                handled = mentions_mps(document, ladder) or len(clauses) > 1
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


def names_device(document: PythonDocument, node: Node, device: str) -> bool:
    """Whether an expression is a device of this type: a string or ``torch.device`` of one."""
    node = unparenthesised(node)
    if node.type == "call":
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        if function is None or arguments is None or document.dotted(function) != "torch.device":
            return False
        first = nth(arguments, 0)
        return first is not None and names_device(document, first, device)
    if node.type == "conditional_expression":
        first = nth(node, 0)
        return first is not None and names_device(document, first, device)
    if node.type == "binary_operator":
        left = node.child_by_field_name("left")
        return left is not None and names_device(document, left, device)
    if node.type != "string":
        return False
    text = document.slice(node).lstrip("rRbBfFuU").strip("'\"")
    return text == device or text.startswith(device + ":")


def mentions_mps(document: PythonDocument, node: Node) -> bool:
    """Whether the source of a node names MPS or the accelerator of the machine."""
    return _MPS.search(document.text, node.start_byte, node.end_byte) is not None


def in_mps_ladder(document: PythonDocument, node: Node) -> bool:
    """Whether a node stands in a ladder of branches that has one for MPS.

    The branches are those of one ``if``, or several ``if`` that each return.
    """
    ladder = enclosing(node, ("if_statement", "function_definition"))
    while ladder is not None and ladder.type == "if_statement":
        if mentions_mps(document, ladder):
            return True
        body = ladder.child_by_field_name("consequence")
        last = nth(body, body.named_child_count - 1) if body is not None else None
        if last is not None and last.type == "return_statement" and ladder.parent is not None:
            return mentions_mps(document, ladder.parent)
        ladder = enclosing(ladder, ("if_statement", "function_definition"))
    return False


def calls_of(document: PythonDocument, method: str) -> tuple[tuple[Node, Node, Node], ...]:
    """Calls of a method by name: the call, the receiver, the method's name node.

    Receivers that are modules with a ``cuda`` of their own, such as ``numba``, are left out.
    """
    return document.remember(("calls", method), lambda: tuple(_calls_of(document, method)))


def _calls_of(document: PythonDocument, method: str) -> Iterator[tuple[Node, Node, Node]]:
    pattern = re.compile(rb"\.\s*" + method.encode() + rb"\s*\(")
    for match, _node in document.hits(pattern):
        name = _identifier_in(document, match.start() + 1, match.end() - 1)
        attribute = name.parent if name is not None else None
        call = attribute.parent if attribute is not None else None
        if name is None or attribute is None or attribute.type != "attribute":
            continue
        if call is None or call.type != "call":
            continue
        receiver = attribute.child_by_field_name("object")
        if receiver is None or call.child_by_field_name("function") != attribute:
            continue
        meaning = document.dotted(receiver)
        if meaning is not None and (meaning == "torch" or meaning.split(".")[0] in _OTHER_CUDA):
            continue
        yield call, receiver, name


def _identifier_in(document: PythonDocument, start: int, end: int) -> Node | None:
    match = re.compile(rb"\w+").search(document.text, start, end)
    if match is None:
        return None
    node = document.root.descendant_for_byte_range(match.start(), match.end())
    return node if node is not None and node.type == "identifier" else None


def is_in_choice(document: PythonDocument, node: Node) -> bool:
    """Whether a node is a branch of a choice that asks for CUDA."""
    return any(
        choice.cuda.start_byte <= node.start_byte < choice.cuda.end_byte
        or choice.other.start_byte <= node.start_byte < choice.other.end_byte
        for choice in choices(document)
    )
