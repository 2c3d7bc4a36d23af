"""D104: ``x.to("cuda")`` becomes ``x.to(device)``."""

from analyzers.devices import Role, device_strings
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import place


def rewrite(context: Context) -> Draft | None:
    """Replace the string alone."""
    document = context.document
    for string in device_strings(document):
        if string.role is not Role.TO or string.holder.end_byte != context.finding.end:
            continue
        node = string.node
        if not context.finding.start <= node.start_byte < context.finding.end:
            continue
        placed = place(context, node, document.slice(node))
        fix = (
            Fix.REVIEW
            if string.index == 0
            and placed.fix is Fix.SAFE
            and not _same(placed.text, document.slice(node))
            else placed.fix
        )
        edit = Edit(node.start_byte, node.end_byte, placed.text.encode())
        return Draft((edit, *placed.extra), fix, placed.why)
    return None


def _same(text: str, literal: str) -> bool:
    """Whether the new expression still has the literal, card number and all."""
    return text.startswith(literal)
