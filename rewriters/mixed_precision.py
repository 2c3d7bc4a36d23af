"""Mixed precision: calls of autocast and GradScaler that take MPS where it is there."""

import re

from tree_sitter import Node

from analyzers.arguments import passed
from analyzers.autocast import AUTOCAST, SCALERS
from analyzers.devices import Role, device_strings
from analyzers.documents.python import PythonDocument, nth
from project.vocabulary import Edit
from rewriters.draft import Context
from rewriters.wording import import_torch, kind_for_amp, torch_name

#: The first releases in which autocast, and a scaler, take MPS; before, they raise an error.
AUTOCAST_SINCE, SCALER_SINCE = "2.5", "2.8"
_SCALER = re.compile(rb"\bGradScaler\b")
_IS_SCALER = re.compile(rb"\bisinstance\s*\([^()]{1,80}\bGradScaler\b")
#: What the names in ``torch.cuda.amp`` take by place, and ``torch.autocast`` takes elsewhere.
_PLACES = ("enabled", "dtype", "cache_enabled")


def needed(document: PythonDocument) -> str:
    """The release that mixed precision needs here: float16 loses gradients without a scaler."""
    return SCALER_SINCE if document.says(_SCALER) else AUTOCAST_SINCE


def for_mps(context: Context) -> tuple[Edit, ...] | None:
    """The edits that give the call of a finding the kind of device; None where they would be wrong.

    With CUDA, and on the CPU, the call does what it did.
    """
    document = context.document
    call = document.node_at(context.finding.start, context.finding.end)
    while call is not None and call.type in ("with_clause", "with_item"):
        call = nth(call, 0)
    if call is None or call.type != "call" or not context.has(needed(document)):
        return None
    edits = _named(document, call) or _called(document, call)
    return None if edits is None else (*edits, *import_torch(document))


def _named(document: PythonDocument, call: Node) -> tuple[Edit, ...] | None:
    """Where the kind of device is given already: the string alone is replaced."""
    for string in device_strings(document):
        node = string.node
        if string.role is Role.AUTOCAST and string.holder == call and string.index is None:
            if node.parent is None or node.parent.type not in ("argument_list", "keyword_argument"):
                return None
            text = kind_for_amp(document, document.slice(node)[-1])
            return (Edit(node.start_byte, node.end_byte, text.encode()),)
    return None


def _called(document: PythonDocument, call: Node) -> tuple[Edit, ...] | None:
    """A name of ``torch.cuda.amp``: the one in ``torch.amp`` takes the kind of device first."""
    function = call.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    name = document.dotted(function) if function is not None else None
    if function is None or arguments is None or arguments.type != "argument_list":
        return None
    torch = torch_name(document) or "torch"
    labels: tuple[str, ...] = ()
    if name in SCALERS:
        if document.says(_IS_SCALER):
            # One in torch.amp is no instance of the class in torch.cuda.amp.
            return None
        new = f"{torch}.amp.GradScaler"
    elif name in AUTOCAST:
        new, labels = f"{torch}.autocast", _PLACES
    else:
        return None
    given = passed(call)
    edits = [Edit(function.start_byte, function.end_byte, new.encode())]
    start = arguments.start_byte + 1
    kind = kind_for_amp(document)
    edits.append(Edit(start, start, (f"{kind}, " if given else kind).encode()))
    for index, one in enumerate(given if labels else ()):
        if one.type == "list_splat":
            return None
        if one.type in ("keyword_argument", "dictionary_splat"):
            continue
        if index >= len(labels):
            return None
        edits.append(Edit(one.start_byte, one.start_byte, f"{labels[index]}=".encode()))
    return _merged(edits)


def _merged(edits: list[Edit]) -> tuple[Edit, ...]:
    """Insertions at one place, in their order, as one edit."""
    merged: list[Edit] = []
    for edit in edits:
        last = merged[-1] if merged else None
        if last is not None and last.start == last.end == edit.start == edit.end:
            merged[-1] = Edit(last.start, last.end, last.replacement + edit.replacement)
        else:
            merged.append(edit)
    return tuple(merged)
