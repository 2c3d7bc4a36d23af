"""D106: ``device = "cuda"`` becomes a choice."""

import re

from analyzers.devices import Role, device_strings
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import choose

_DEVICE_TARGET = re.compile(r"(?:^|[._\"'])(?:\w*_)?dev(?:ice)?(?:_name|_type)?[\"'\]]*\Z")


def rewrite(context: Context) -> Draft | None:
    """Put a choice in the string's place; the value stays a string."""
    document = context.document
    for string in device_strings(document):
        node = string.node
        if string.role not in (Role.ASSIGNMENT, Role.DEFAULT):
            continue
        if node.end_byte != context.finding.end or node.start_byte < context.finding.start:
            continue
        holder = string.holder
        if holder.type == "boolean_operator":
            return None
        placed = choose(Context(context.finding, document, "inline"), document.slice(node))
        target = next(
            (
                child
                for field in ("left", "name", "key")
                if (child := holder.child_by_field_name(field)) is not None
            ),
            None,
        )
        certain = target is not None and _DEVICE_TARGET.search(document.slice(target))
        # A default is chosen when the function is defined: too early in some programs.
        fix = Fix.SAFE if certain and string.role is Role.ASSIGNMENT else Fix.REVIEW
        edit = Edit(node.start_byte, node.end_byte, placed.text.encode())
        return Draft((edit, *placed.extra), fix, placed.why)
    return None
