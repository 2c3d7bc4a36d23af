"""D102: ``torch.device("cuda")`` chooses its device, or gives way to one in scope."""

from dataclasses import replace

from analyzers.devices import Role, device_strings
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import choose, place


def rewrite(context: Context) -> Draft | None:
    """Where the object is used on the spot, the device in scope; where it is kept, a choice."""
    document = context.document
    for string in device_strings(document):
        call = string.holder
        if string.role is not Role.CONSTRUCTOR:
            continue
        if (call.start_byte, call.end_byte) != (context.finding.start, context.finding.end):
            continue
        literal = document.slice(string.node)
        parent = call.parent
        if parent is not None and parent.type in ("argument_list", "keyword_argument"):
            placed = place(context, call, literal)
            if not placed.extra and " if " not in placed.text:
                fix = Fix.REVIEW if string.index == 0 else placed.fix
                edit = Edit(call.start_byte, call.end_byte, placed.text.encode())
                return Draft((edit,), fix, placed.why)
        placed = choose(replace(context, style="inline"), literal)
        edit = Edit(string.node.start_byte, string.node.end_byte, placed.text.encode())
        return Draft((edit, *placed.extra), placed.fix, placed.why)
    return None
