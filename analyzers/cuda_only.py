"""Calls of libraries that have no version without CUDA, and what is handed to them."""

from tree_sitter import Node

from analyzers import libraries
from analyzers.documents.python import PythonDocument
from analyzers.libraries import OnMac
from project.translation import _


def handed_over(document: PythonDocument, value: Node) -> str | None:
    """What to say of a value that moves to CUDA on its way into a library for CUDA alone.

    None where it goes elsewhere.
    """
    holder = value.parent
    if holder is not None and holder.type == "keyword_argument":
        holder = holder.parent
    call = holder.parent if holder is not None and holder.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    name = document.dotted(function) if function is not None else None
    found = libraries.imported(name) if name is not None else None
    if found is None or found[1].on_mac is not OnMac.CUDA_ONLY:
        return None
    return _(
        "On its way into {name}, which runs on CUDA alone: keep it there. Sent to another device "
        "it fails one call later; decide about that call."
    ).format(name=found[0])
