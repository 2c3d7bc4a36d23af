"""D103: ``x.cuda()`` becomes ``x.to(device)``."""

import re
from dataclasses import dataclass, replace

from tree_sitter import Node

from analyzers.arguments import passed
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, is_on_request, standing
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.branches import beside
from rewriters.draft import Context, Draft
from rewriters.placing import Placed, choose, place
from rewriters.wording import torch_name

#: A class of the project with a method of this name: its objects may have no other.
_OWN_METHOD = re.compile(rb"\bdef\s+cuda\s*\(")
#: What the number of a card is called.
_INDEX = re.compile(
    r"(?:\w+\.)*(?:\w*_)?(?:gpus?|rank|gpu_?idx?|gpu_?nums?|device_ids?|idx|index)(?:\[\w+\])?\Z"
    r"|(?:\w+\.)*(?:get_device|current_device|get_rank|get_local_rank)\(\)\Z"
)
#: What may be a device, or its number.
_DEVICE = re.compile(r"(?:\w+\.)*(?:\w*_)?(?:device|dev)\Z")
#: The release from which on a number is a card of whatever accelerator there is.
_NUMBERS_SINCE = "2.5"


@dataclass(frozen=True, slots=True)
class _Call:
    """A call of ``.cuda()``: its first argument, if any, and those that ``.to()`` takes too."""

    node: Node
    receiver: Node
    name: Node
    first: str
    kept: tuple[str, ...]

    def format_alone(self) -> tuple[str, ...]:
        """The arguments without ``non_blocking``."""
        return tuple(one for one in self.kept if one.startswith("memory_format"))

    def edit(self, device: str) -> Edit:
        """The edit that moves to a device in place of CUDA."""
        text = f"to({', '.join([device, *self.kept])})"
        return Edit(self.name.start_byte, self.node.end_byte, text.encode())


def _calls(document: PythonDocument) -> dict[int, _Call]:
    """The calls of ``.cuda()`` that have a counterpart, by where they end."""

    def read() -> dict[int, _Call]:
        found = (_read(document, *one) for one in calls_of(document, "cuda"))
        return {one.node.end_byte: one for one in found if one is not None}

    return document.remember("cuda calls by end", read)


def _read(document: PythonDocument, call: Node, receiver: Node, name: Node) -> _Call | None:
    if document.says(_OWN_METHOD) and document.slice(receiver) in ("self", "super()"):
        return None
    first = ""
    kept = []
    for argument in passed(call):
        keyword = argument.child_by_field_name("name")
        if argument.type == "keyword_argument" and keyword is not None:
            if document.slice(keyword) not in ("non_blocking", "memory_format"):
                return None
            kept.append(document.slice(argument))
        elif first or argument.type in ("list_splat", "dictionary_splat", "true", "false"):
            return None
        else:
            first = document.slice(argument)
    return _Call(call, receiver, name, first, tuple(kept))


def rewrite(context: Context) -> Draft | None:
    """Replace the call's name and put the device first; other arguments stay as written."""
    document = context.document
    call = _calls(document).get(context.finding.end)
    if call is None:
        return None
    found = standing(document, call.node)
    asked = is_on_request(document, call.node)
    if found is Standing.GUARDED and not asked:
        # A copy to MPS that does not wait may arrive damaged (pytorch/pytorch#139550).
        waiting = [replace(one, kept=one.format_alone()) for one in _calls(document).values()]
        moves = [one.edit('"mps"') for one in waiting]
        return beside(document, call.node, moves)
    placed = _placed(context, call)
    if placed is None:
        return None
    fix = Fix.REVIEW if call.first or asked or document.says(_OWN_METHOD) else placed.fix
    return Draft((call.edit(placed.text), *placed.extra), fix, placed.why)


def _placed(context: Context, call: _Call) -> Placed | None:
    """The device for a call; where a card is named, the same card on a CUDA machine."""
    if call.first in ("", "None"):
        return place(context, call.node)
    if call.first == "0":
        return place(context, call.node, '"cuda:0"')
    inline = replace(context, style="inline")
    if call.first.isdecimal():
        return choose(inline, f'"cuda:{call.first}"')
    if _INDEX.match(call.first):
        torch = torch_name(context.document) or "torch"
        return choose(inline, f'{torch}.device("cuda", {call.first})')
    if _DEVICE.match(call.first) and context.has(_NUMBERS_SINCE):
        why = _(
            "`{name}` goes to .to() as it is: on CUDA the same card, and a number is the Apple GPU "
            "on a Mac from PyTorch {release} on; look that it is no name of a CUDA device there."
        ).format(name=call.first, release=_NUMBERS_SINCE)
        return Placed(call.first, (), Fix.REVIEW, why)
    return None
