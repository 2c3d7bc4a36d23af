"""Which names of a Python program stand for things on a device.

Tensors have no types to read here. What speaks for a device is code that moves a name there
(``x.to(device)``, ``net.cuda()``), or asks the name for its device (``x.device``), in the same
function; what speaks against it is code that brings it back (``x.cpu()``).
"""

import bisect
import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, keyword, method_of, passed, positional, string_of
from analyzers.devices import calls_of
from analyzers.documents.python import (
    PythonDocument,
    enclosing,
    nth,
    statement_of,
    unparenthesised,
)
from analyzers.guards import is_guarded

_DEVICE_NAME = re.compile(
    r"(?i)(?!.*cpu)(?:.*_)?(?:dev(?:ice)?s?|gpu|cuda|mps)(?:_?(?:id|idx|index|str))?\Z"
)
_MPS_TEST = re.compile(
    rb"""[=!]=\s*["']mps|["']mps["']\s*(?:[=!]=|in\b|not\s+in\b)|\bis_mps|\bon_mps|"""
    rb"""startswith\(\s*["']mps|\bin\s*[(\[{][^)\]}\r\n]{0,80}["']mps"""
)
_DEVICE = re.compile(rb"(?<=\.)device\b(?!\s*\()")
_LEAVES = ("cpu", "numpy", "item", "tolist")
_SCOPE = ("function_definition", "module")


def settled(document: PythonDocument, node: Node) -> bool:
    """Whether ``node`` runs on CUDA alone, or where the function asks for MPS itself."""
    if is_guarded(document, node):
        return True
    scope = enclosing(node, ("function_definition",))
    if scope is not None:
        span = scope.start_byte, scope.end_byte
    else:
        child: Node | None = node
        while child is not None and child.type not in ("if_statement", "conditional_expression"):
            child = child.parent
        if child is None:
            return False
        span = child.start_byte, child.end_byte
    return document.remember(
        ("asks for MPS", span), lambda: _MPS_TEST.search(document.text, *span) is not None
    )


def under_condition(document: PythonDocument, node: Node, word: re.Pattern[bytes]) -> bool:
    """Whether ``node`` runs on a condition, in its function, that says ``word``."""
    child, parent = node, node.parent
    while parent is not None and parent.type not in ("function_definition", "class_definition"):
        test = None
        if parent.type in ("if_statement", "elif_clause"):
            test = parent.child_by_field_name("condition")
        elif parent.type == "conditional_expression":
            test = nth(parent, 1)
        if test is not None and test != child and word.search(test.text or b"") is not None:
            return True
        child, parent = parent, parent.parent
    return False


def may_fail(node: Node) -> bool:
    """Whether ``node`` stands in a ``try`` whose ``except`` goes on without it."""
    block = enclosing(node, ("try_statement", "function_definition", "module"))
    while block is not None and block.type == "try_statement":
        body = block.child_by_field_name("body")
        inside = body is not None and body.start_byte <= node.start_byte < body.end_byte
        if inside and any(child.type == "except_clause" for child in block.named_children):
            return True
        block = enclosing(block, ("try_statement", "function_definition", "module"))
    return False


_CPU = re.compile(rb"(?:torch\.device\(\s*)?[\"']cpu[\"']\s*\)?\s*(?:#|\Z)")
#: How far back a name is looked for, in bytes.
_BEFORE = 20_000


def is_device(document: PythonDocument, node: Node | None) -> bool:
    """Whether an argument is a device other than the CPU, as far as its spelling says."""
    if node is None:
        return False
    node = unparenthesised(node)
    if node.type == "identifier" and _is_set_to_cpu(document, node):
        return False
    if node.type == "string":
        return (string_of(document, node) or "").startswith(("cuda", "mps"))
    if node.type == "call":
        function = node.child_by_field_name("function")
        if function is None or document.dotted(function) != "torch.device":
            return False
        first = positional(node, 0)
        return first is not None and string_of(document, first) != "cpu"
    if node.type == "conditional_expression":
        return any(is_device(document, nth(node, place)) for place in (0, 2))
    if node.type == "attribute":
        name = node.child_by_field_name("attribute")
        return name is not None and _DEVICE_NAME.match(document.slice(name)) is not None
    return node.type == "identifier" and _DEVICE_NAME.match(document.slice(node)) is not None


def _is_set_to_cpu(document: PythonDocument, name: Node) -> bool:
    """Whether a name is set to the CPU in the same function, the last time before it is used."""
    scope = enclosing(name, ("function_definition", "module")) or document.root
    start = max(scope.start_byte, name.start_byte - _BEFORE)
    values = re.findall(
        rb"(?m)^[ \t]*" + re.escape(name.text or b"") + rb"[ \t]*=(?!=)[ \t]*([^\r\n]{0,200})",
        document.text[start : name.start_byte],
    )
    return bool(values) and _CPU.match(values[-1]) is not None


def is_cpu(document: PythonDocument, node: Node | None) -> bool:
    """Whether an argument is the CPU by its spelling, or a name that was just set to it."""
    if node is not None and node.type == "identifier" and _is_set_to_cpu(document, node):
        return True
    if node is not None and node.type == "call":
        node = positional(node, 0)
    if node is not None and node.type in ("identifier", "attribute"):
        return "cpu" in document.slice(node).lower()
    return string_of(document, node) == "cpu"


def is_move(document: PythonDocument, call: Node) -> bool:
    """Whether a call moves its receiver to a device: ``.cuda()``, ``.to(device)``."""
    method = method_of(document, call)
    if method == "cuda":
        return True
    return method == "to" and is_device(document, keyword(call, "device") or positional(call, 0))


def moves(document: PythonDocument) -> tuple[Node, ...]:
    """Every call of the file that moves something to a device."""
    return document.once(_moves)


def _moves(document: PythonDocument) -> Iterator[Node]:
    for method in ("cuda", "to"):
        for call, _receiver, _name in calls_of(document, method):
            if is_move(document, call):
                yield call


def root_of(document: PythonDocument, node: Node) -> str | None:
    """The name that an expression starts from: ``x`` in ``x[0].pow(2)``; None for a module's."""
    while True:
        inner = (
            node.child_by_field_name("object")
            if node.type == "attribute"
            else node.child_by_field_name("value")
            if node.type == "subscript"
            else node.child_by_field_name("function")
            if node.type == "call"
            else nth(node, 0)
            if node.type == "parenthesized_expression"
            else None
        )
        if inner is None:
            break
        if node.type == "attribute" and document.slice(inner) == "self":
            return document.slice(node)
        node = inner
    if node.type != "identifier" or document.dotted(node) is not None:
        return None
    return document.slice(node)


def _assigned_names(document: PythonDocument, node: Node) -> list[str]:
    inner = nth(statement_of(node), 0)
    left = inner.child_by_field_name("left") if inner is not None else None
    if inner is None or inner.type != "assignment" or left is None:
        return []
    names = left.named_children if left.type in ("pattern_list", "tuple_pattern") else [left]
    return [document.slice(name) for name in names if name.type in ("identifier", "attribute")]


def _places(document: PythonDocument) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
    """Where names are said to be on a device, and where they are brought back from it."""
    there: dict[str, list[int]] = {}
    back: dict[str, list[int]] = {}
    for method in _LEAVES[:2]:
        for call, _receiver, _name in calls_of(document, method):
            for name in _assigned_names(document, call):
                back.setdefault(name, []).append(call.start_byte)
    returned = {start for starts in back.values() for start in starts}
    for call in moves(document):
        function = call.child_by_field_name("function")
        receiver = function.child_by_field_name("object") if function is not None else None
        root = root_of(document, receiver) if receiver is not None else None
        names = [] if call.start_byte in returned else _assigned_names(document, call)
        for name in {*names, *([root] if root else [])}:
            there.setdefault(name, []).append(call.start_byte)
    for match, node in document.anywhere(_DEVICE, b".device"):
        parent = node.parent
        owner = parent.child_by_field_name("object") if parent is not None else None
        root = root_of(document, owner) if owner is not None else None
        if root is not None and root not in ("self", "args", "cfg", "config"):
            there.setdefault(root, []).append(match.start())
    for starts in (*there.values(), *back.values()):
        starts.sort()
    return there, back


def _within(starts: list[int], scope: Node) -> bool:
    place = bisect.bisect_left(starts, scope.start_byte)
    return place < len(starts) and starts[place] < scope.end_byte


def on_device(document: PythonDocument, name: str, at: Node) -> bool:
    """Whether the code around ``at`` puts ``name`` on a device, and does not bring it back."""
    there, back = document.remember("places", lambda: _places(document))
    kinds = ("class_definition", "module") if name.startswith("self.") else _SCOPE
    scope = enclosing(at, kinds) or document.root
    return _within(there.get(name, []), scope) and not _within(back.get(name, []), scope)


def brought_back(document: PythonDocument, name: str, at: Node) -> bool:
    """Whether the code around ``at`` brings ``name`` back to the CPU."""
    _there, back = document.remember("places", lambda: _places(document))
    return _within(back.get(name, []), enclosing(at, _SCOPE) or document.root)


def in_forward(document: PythonDocument, node: Node) -> bool:
    """Whether a node stands in the ``forward`` of a class, where tensors are the model's."""
    function = enclosing(node, ("function_definition",))
    label = function.child_by_field_name("name") if function is not None else None
    if function is None or label is None or not document.slice(label).startswith("forward"):
        return False
    return enclosing(function, ("class_definition",)) is not None


def reaches_device(document: PythonDocument, call: Node) -> bool:
    """Whether what a call makes or changes is on a device, or goes there.

    ``call`` makes a tensor, or changes one or a model: ``torch.zeros(...)``, ``x.double()``.
    """
    device = keyword(call, "device")
    if device is not None:
        return is_device(document, device) or not is_cpu(document, device)
    if any(is_device(document, one) for one in passed(call)):
        return True
    last = call
    while (above := _chained(last)) is not None:
        if is_move(document, above):
            return True
        if method_of(document, above) in (*_LEAVES, "float", "half", "bfloat16"):
            return False
        last = above
    function = call.child_by_field_name("function")
    receiver = function.child_by_field_name("object") if function is not None else None
    if receiver is not None and document.dotted(receiver) is None:
        inner: Node | None = receiver
        while inner is not None:
            if inner.type == "call":
                if is_move(document, inner):
                    return True
                if method_of(document, inner) in _LEAVES or any(
                    is_cpu(document, one) for one in passed(inner)
                ):
                    return False
                inner = inner.child_by_field_name("function")
            elif inner.type == "attribute":
                inner = inner.child_by_field_name("object")
            else:
                break
        root = root_of(document, receiver)
        if root is not None:
            if on_device(document, root, call):
                return True
            if in_forward(document, call) and not root.startswith("self."):
                return not brought_back(document, root, call)
    statement = nth(statement_of(call), 0)
    if statement is not None and statement.child_by_field_name("right") == last:
        return any(on_device(document, name, call) for name in _assigned_names(document, call))
    return False


def _chained(call: Node) -> Node | None:
    """The method call that is made on what ``call`` gives: ``.b()`` in ``a().b()``."""
    parent = call.parent
    if parent is None or parent.type != "attribute":
        return None
    return call_of(parent)
