"""D106: ``device = "cuda"`` becomes a choice."""

import re
from dataclasses import replace

from analyzers.devices import Role, device_strings, label_of
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.placing import choose

_LATE = re.compile(rb"CUDA_VISIBLE_DEVICES|\bfork\b|multiprocessing")


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
        placed = choose(replace(context, style="inline"), document.slice(node))
        # A default is chosen when the function is defined: too early in some programs.
        named = bool(label_of(document, string))
        fix = Fix.SAFE if named and string.role is Role.ASSIGNMENT else Fix.REVIEW
        if document.says(_LATE):
            # The question would be asked before the cards are chosen, or before a fork.
            fix = Fix.REVIEW
        edit = Edit(node.start_byte, node.end_byte, placed.text.encode())
        return Draft((edit, *placed.extra), fix, placed.why)
    return None
