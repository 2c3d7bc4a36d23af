"""How Python code speaks of devices: strings that name one, and calls that move things there.

Rules and rewrites ask these questions of a document; nothing here says what is a finding.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tree_sitter import Node

from analyzers.arguments import number_of
from analyzers.documents.python import PythonDocument, Reference, enclosing, nth, unparenthesised
from analyzers.flow import reaches_device, values_of

_DEVICE_TEXT = re.compile(rb"""["']cuda(?::[^"'\\\r\n]{0,40})?["']""")
_CALLED = re.compile(rb"\s*\(")
_DEVICE_VALUE = re.compile(r"cuda(?::(\d{1,9}))?\Z")
_INDIRECT = re.compile(rb"""(?:\w\s*\.\s*torch|__import__\(["']torch["']\))\s*\.\s*cuda\b""")
#: Packages in which ``cuda`` is a module.
_OTHER_CUDA = ("cupy", "numba", "pycuda", "jax", "tensorflow", "warp", "taichi", "cuda")


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
    KEY = "key of a table that has an entry for each device"
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


#: Calls whose string arguments are words and not devices.
_TEXT_CALLS = re.compile(
    r"(?:^|\.)(?:print|log|debug|info|warning|warn|error|exception|critical|write|format|"
    r"hasattr|getattr|setattr|get|pop|setdefault|replace|split|join|append_text|Counter|title|"
    r"xlabel|ylabel|skip|skipIf|mark|\w*Error|add_argument)\Z"
)
_TEST_METHODS = (
    "startswith",
    "endswith",
    "find",
    "index",
    "count",
    "replace",
    "split",
    "removeprefix",
    "lstrip",
    "strip",
)
#: Calls that look something up and take a value for the case that it is not there.
_LOOKUPS = re.compile(r"(?:^|\.)(?:get|getenv|getattr|pop|setdefault|prompt|input|Prompt)\Z")
_AMP_CALL = re.compile(r"(?:^|\.)(?:autocast|GradScaler|custom_fwd|custom_bwd|is_autocast_\w+)\Z")


def device_strings(document: PythonDocument) -> tuple[DeviceString, ...]:
    """Every string that names a CUDA device, with its role."""
    return document.once(_device_strings)


def _device_strings(document: PythonDocument) -> Iterator[DeviceString]:
    seen: set[int] = set()
    for match, node in document.anywhere(_DEVICE_TEXT, b"cuda"):
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
    if value is None and not computed and content != "cuda:" and not set("{%") & set(content):
        return None
    index = -1 if value is None or computed else int(value[1]) if value[1] else None
    role, holder = _role(document, node)
    if content == "cuda:" and not computed and role is not Role.COMPARISON:
        return None
    if role is Role.CONSTRUCTOR:
        index = _second_argument(document, holder, index)
    return DeviceString(node, index, role, holder)


def _second_argument(document: PythonDocument, call: Node, index: int | None) -> int | None:
    """The number in ``torch.device("cuda", 1)``."""
    arguments = call.child_by_field_name("arguments")
    number = nth(arguments, 1) if arguments is not None else None
    if number is None or number.type == "comment":
        return index
    if number.type == "keyword_argument":
        number = number.child_by_field_name("value") or number
    named = number_of(document, number)
    return named if named is not None else -1


_DEVICE_LABEL = re.compile(
    r"(?i)(?:\A|[\W_]|train|eval|main|the)(?:map_location|dev(?:ice)?s?"
    r"(?:_?(?:names?|types?|str|string|id|map|list))?(?:_?\d+)?)\W*\Z"
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
        if label == "default" and call is not None and call.parent is not None:
            # A field of a class: name: type = Field(default="cuda").
            left = call.parent.child_by_field_name("left")
            return document.slice(left) if left is not None else label
        return label
    if holder.type == "call":
        return _looked_up(document, holder) if string.role is Role.ASSIGNMENT else ""
    for field in ("left", "name", "key"):
        target = holder.child_by_field_name(field)
        if target is not None:
            return document.slice(target)
    first = nth(holder, 0)
    if string.role is Role.DEFAULT and first is not None:
        return document.slice(first)
    return ""


def _looked_up(document: PythonDocument, call: Node) -> str:
    """The key of ``get("device", "cuda")``."""
    arguments = call.child_by_field_name("arguments")
    for argument in arguments.named_children if arguments is not None else ():
        if argument.type == "string":
            return document.slice(argument)
    return ""


def sounds_like_device(label: str) -> bool:
    """Whether a name is one that people give to a device."""
    return _DEVICE_LABEL.search(label) is not None


def is_device_name(document: PythonDocument, label: str) -> bool:
    """Whether a name is a device, by how it sounds or by how the file uses it."""
    return (
        sounds_like_device(label)
        or _DEVICE_TEXT.match(label.encode()) is not None
        or reaches_device(document, label)
    )


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
    if kind in _COMPREHENSIONS:
        return (
            Role.COLLECTION if parent.child_by_field_name("body") == node else Role.TEXT
        ), parent
    if kind in ("list", "tuple", "set", "expression_list"):
        above = enclosing(node, ("comparison_operator", "call", "statement", "block", "module"))
        if above is not None and above.type == "comparison_operator":
            return Role.COMPARISON, above
        return Role.COLLECTION, parent
    if kind in ("default_parameter", "typed_default_parameter"):
        return Role.DEFAULT, parent
    if kind in _STORES:
        return Role.ASSIGNMENT, parent
    if kind in ("type", "case_pattern", "union_pattern", "subscript"):
        return _special_role(document, node, parent)
    if kind == "pair":
        if parent.child_by_field_name("key") != node:
            return Role.ASSIGNMENT, parent
        return (Role.KEY if _is_device_key(document, node, parent) else Role.TEXT), parent
    if kind == "keyword_argument":
        call = enclosing(parent, ("call",))
        callee = _callee(document, call) if call is not None else ""
        if call is not None and _AMP_CALL.search(callee):
            return Role.AUTOCAST, call
        if call is not None and callee == "torch.device":
            return Role.CONSTRUCTOR, call
        return Role.KEYWORD, parent
    if kind == "argument_list" and parent.parent is not None and parent.parent.type == "call":
        return _argument_role(document, node, parent.parent)
    return Role.TEXT, parent


def _is_compared(node: Node) -> bool:
    above = enclosing(node, ("comparison_operator", "call", "assignment", "block", "module"))
    return above is not None and above.type == "comparison_operator"


_COMPREHENSIONS = ("list_comprehension", "set_comprehension", "generator_expression")
_STORES = (
    "assignment",
    "augmented_assignment",
    "return_statement",
    "named_expression",
    "boolean_operator",
    "lambda",
    "yield",
)


def _special_role(document: PythonDocument, node: Node, parent: Node) -> tuple[Role, Node]:
    """A member of ``Literal["cpu", "cuda"]``, a case of a ``match``, or a key of a table."""
    if parent.type in ("case_pattern", "union_pattern"):
        return Role.COMPARISON, parent
    if parent.type == "subscript" and _is_numbered(document, node):
        return Role.KEY, parent
    whole = parent if parent.type == "subscript" else enclosing(parent, ("generic_type", "block"))
    if whole is not None and whole.type in ("subscript", "generic_type"):
        name = document.slice(whole).partition("[")[0]
        if name.rpartition(".")[2] == "Literal":
            return Role.COLLECTION, whole
    return Role.TEXT, parent


_OTHER_DEVICE = re.compile(rb"""["'](?:cpu|mps|xpu|npu|hip|rocm|cuda:\d+)["']\Z""")
#: Tables that say where things go: what is found of them is not a matter of their keys.
_PLACES = re.compile(rb"(?:map_location|max_memory|device_map)\W*\Z")
#: Members of a table that are looked at for another device.
_MOST_MEMBERS = 24


def _is_device_key(document: PythonDocument, node: Node, pair: Node) -> bool:
    """Whether a key of a dictionary is a device: by its number, or by another device beside it."""
    table = pair.parent
    if table is None or table.type != "dictionary" or table.parent is None:
        return False
    before = document.text[table.parent.start_byte : table.start_byte].rstrip()
    if _PLACES.search(before.rstrip(b" =:")):
        return False
    return _is_numbered(document, node) or any(
        one.type == "pair" and _OTHER_DEVICE.match(_key_of(one))
        for one in table.named_children[:_MOST_MEMBERS]
    )


def _key_of(pair: Node) -> bytes:
    key = pair.child_by_field_name("key")
    return key.text or b"" if key is not None else b""


def _is_numbered(document: PythonDocument, node: Node) -> bool:
    """Whether a string names one CUDA device by its number, as ``"cuda:0"`` does."""
    return node.type == "string" and ("cuda:" in document.slice(node))


def _argument_role(document: PythonDocument, node: Node, call: Node) -> tuple[Role, Node]:
    callee = _callee(document, call)
    last = callee.rpartition(".")[2]
    if callee == "torch.device":
        whole = call
        if whole.parent is not None and whole.parent.type == "attribute":
            whole = whole.parent
        compared = _role(document, whole) if _is_compared(call) else None
        return compared if compared is not None else (Role.CONSTRUCTOR, call)
    if last == "to" and "." in callee:
        return Role.TO, call
    if _AMP_CALL.search(callee) or _is_autocast(document, callee):
        return Role.AUTOCAST, call
    if last in _TEST_METHODS:
        return Role.COMPARISON, call
    if _LOOKUPS.search(callee) and not _is_first(node):
        return Role.ASSIGNMENT, call
    if last in ("get", "pop", "setdefault") and "." in callee and _is_numbered(document, node):
        return Role.KEY, call
    if _TEXT_CALLS.search(callee):
        return Role.TEXT, call
    return Role.ARGUMENT, call


def _is_autocast(document: PythonDocument, callee: str) -> bool:
    """Whether a name was given autocast, as ``scope = autocast if half else nullcontext`` does."""
    return callee.isidentifier() and any(
        b"autocast" in document.text[one.start_byte : one.end_byte]
        for one in values_of(document, callee)
    )


def _is_first(node: Node) -> bool:
    """Whether an argument is the one that says what is looked up."""
    before = node.prev_named_sibling
    return before is None or before.type == "comment"


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


def calls_of(document: PythonDocument, method: str) -> tuple[tuple[Node, Node, Node], ...]:
    """Calls of a method by name: the call, the receiver, the method's name node.

    Receivers that are modules with a ``cuda`` of their own, such as ``numba``, are left out.
    """
    return document.remember(("calls", method), lambda: tuple(_calls_of(document, method)))


def _calls_of(document: PythonDocument, method: str) -> Iterator[tuple[Node, Node, Node]]:
    for start in document.named(method):
        if not _CALLED.match(document.text, start + len(method)):
            continue
        node = document.root.descendant_for_byte_range(start, start + len(method))
        name = node if node is not None and node.type == "identifier" else None
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
        if meaning is not None and (meaning == "torch" or is_other_cuda(meaning)):
            continue
        yield call, receiver, name


def indirect_cuda(document: PythonDocument) -> Iterator[Reference]:
    """``torch.cuda`` as a module of the project imported it, or as ``__import__`` gives it."""
    for match, node in document.anywhere(_INDIRECT, b"cuda"):
        if node.type != "attribute" or node.end_byte != match.end():
            continue
        short = ""
        while (parent := node.parent) is not None and parent.type == "attribute":
            name = parent.child_by_field_name("attribute")
            short += "." + (document.slice(name) if name is not None else "")
            node = parent
        yield Reference(node, "torch.cuda" + short)


def is_replaced(node: Node) -> bool:
    """Whether a name gets another value here: ``torch.cuda.synchronize = nothing``."""
    parent = node.parent
    return (
        parent is not None
        and parent.type == "assignment"
        and parent.child_by_field_name("left") == node
    )


def is_annotation(node: Node) -> bool:
    """Whether an expression only says of what type something is."""
    parent = node.parent
    while parent is not None and parent.type in _OF_TYPES:
        if parent.type == "type":
            return True
        parent = parent.parent
    return False


_OF_TYPES = (
    *("type", "generic_type", "type_parameter", "union_type", "member_type", "subscript"),
    *("binary_operator", "list", "tuple"),
)


def is_other_cuda(meaning: str) -> bool:
    """Whether a dotted name belongs to a package in which ``cuda`` is a module."""
    return meaning.split(".")[0] in _OTHER_CUDA


def guard_of(document: PythonDocument, node: Node) -> Node | None:
    """``node`` itself where it runs only with CUDA, else None."""
    from analyzers.guards import is_guarded

    return node if is_guarded(document, node) else None
