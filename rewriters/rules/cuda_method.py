"""D103: ``x.cuda()`` becomes ``x.to(device)``."""

import re

from tree_sitter import Node

from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import place

#: A class of the project with a method of this name: its objects may have no other.
_OWN_METHOD = re.compile(rb"\bdef\s+cuda\s*\(")


def _by_end(document: PythonDocument) -> dict[int, tuple[Node, Node, Node]]:
    """The calls of ``.cuda()`` by where they end."""
    return document.remember(
        "cuda calls by end", lambda: {one[0].end_byte: one for one in calls_of(document, "cuda")}
    )


def rewrite(context: Context) -> Draft | None:
    """Replace the call's name and put the device first; other arguments stay as written."""
    document = context.document
    found = _by_end(document).get(context.finding.end)
    if found is None:
        return None
    call, receiver, name = found
    own = document.says(_OWN_METHOD)
    if own and document.slice(receiver) in ("self", "super()"):
        return None
    arguments = call.child_by_field_name("arguments")
    if arguments is None:
        return None
    kept = []
    numbered = False
    for argument in arguments.named_children:
        text = document.slice(argument)
        keyword = argument.child_by_field_name("name")
        if argument.type == "keyword_argument" and keyword is not None:
            if document.slice(keyword) in ("non_blocking", "memory_format"):
                kept.append(text)
                continue
            return None
        if argument.type != "integer" or text != "0" or numbered:
            # Another GPU, or an object that only the program knows.
            return None
        numbered = True
    placed = place(context, call, '"cuda:0"' if numbered else '"cuda"')
    text = f"to({', '.join([placed.text, *kept])})"
    # .cuda(0) is that card even where another one is the current device.
    fix = Fix.REVIEW if numbered or own else placed.fix
    edit = Edit(name.start_byte, call.end_byte, text.encode())
    return Draft((edit, *placed.extra), fix, placed.why)
