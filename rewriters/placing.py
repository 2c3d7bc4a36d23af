"""Naming a device at a place: what is in scope first, then a choice, then a helper."""

from dataclasses import dataclass

from tree_sitter import Node

from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.draft import Context
from rewriters.scope import device_at
from rewriters.wording import HELPER, can_help, helper, import_torch, three_way


@dataclass(frozen=True, slots=True)
class Placed:
    """A device expression, the edits it needs elsewhere, how sure it is, and why it was taken."""

    text: str
    extra: tuple[Edit, ...]
    fix: Fix
    why: str


def place(context: Context, node: Node, cuda: str = '"cuda"') -> Placed:
    """The device to write at ``node``; ``cuda`` is the text for CUDA, as it stood there."""
    document = context.document
    named = device_at(document, node)
    if named is not None:
        why = (
            _("`{name}` is in scope since line {line}, and is CUDA where CUDA is available.")
            if named.certain
            else _(
                "`{name}` is in scope since line {line}; whether it is CUDA on a CUDA machine "
                "is decided elsewhere."
            )
        )
        return Placed(
            named.text,
            (),
            Fix.SAFE if named.certain else Fix.REVIEW,
            why.format(name=named.text, line=named.line),
        )
    return choose(context, cuda)


def choose(context: Context, cuda: str) -> Placed:
    """A choice made on the spot, or by a helper of the module where several places need one."""
    document = context.document
    plain = cuda.strip("\"'") == "cuda"
    if context.style == "helper" and plain and can_help(document):
        why = _(
            "No device is in scope, and several places need one: a helper chooses CUDA, then "
            "MPS, then the CPU."
        )
        return Placed(f"{HELPER}()", (helper(document),), Fix.SAFE, why)
    why = _("No device is in scope: CUDA where it is available, then MPS, then the CPU.")
    quote = cuda[-1] if cuda[-1] in "\"'" else '"'
    return Placed(three_way(document, cuda, quote), import_torch(document), Fix.SAFE, why)
