"""D103: ``x.cuda()`` becomes ``x.to(device)``."""

import re

from analyzers.devices import calls_of
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import place

#: A class of the project with a method of this name: its objects may have no other.
_OWN_METHOD = re.compile(rb"\bdef\s+cuda\s*\(")


def rewrite(context: Context) -> Draft | None:
    """Replace the call's name and put the device first; other arguments stay as written."""
    document = context.document
    for call, receiver, name in calls_of(document, "cuda"):
        if call.end_byte != context.finding.end:
            continue
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
    return None
