"""D105: ``device="cuda"`` becomes ``device=device``."""

from dataclasses import replace

from analyzers.devices import Role, device_strings
from analyzers.documents.python import enclosing, under
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import choose, place

#: Functions that take a device by its place.
_TAKE_A_DEVICE = ("torch.load", "torch.jit.load", "torch.Generator", "torch.set_default_device")


def rewrite(context: Context) -> Draft | None:
    """Replace the value; a function of unknown making is given a string, as before."""
    document = context.document
    for string in device_strings(document):
        node = string.node
        holder = string.holder if string.role is Role.KEYWORD else node
        if string.role not in (Role.KEYWORD, Role.ARGUMENT):
            continue
        if (holder.start_byte, holder.end_byte) != (context.finding.start, context.finding.end):
            continue
        literal = document.slice(node)
        call = enclosing(node, ("call",))
        function = call.child_by_field_name("function") if call is not None else None
        name = document.dotted(function) if function is not None else None
        keyword = holder.child_by_field_name("name") if string.role is Role.KEYWORD else None
        label = document.slice(keyword) if keyword is not None else ""
        if name is not None and under(name, "torch"):
            if label not in ("device", "map_location") and name not in _TAKE_A_DEVICE:
                # Some want a string, some register code for a kind of device.
                return None
            placed = place(context, node, literal)
            fix = placed.fix
            if string.index == 0 and not placed.text.startswith(literal):
                fix = Fix.REVIEW
            edit = Edit(node.start_byte, node.end_byte, placed.text.encode())
            return Draft((edit, *placed.extra), fix, placed.why)
        inline = replace(context, style="inline")
        placed = choose(inline, literal)
        edit = Edit(node.start_byte, node.end_byte, placed.text.encode())
        why = _(
            "What is called may look at the text of its device, so it still gets a string: CUDA "
            "where it is available, then MPS, then the CPU."
        )
        fix = Fix.SAFE if keyword is not None else Fix.REVIEW
        return Draft((edit, *placed.extra), fix, why)
    return None
