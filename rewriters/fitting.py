"""What the place of an edit asks of it: its quotes, its names, a compiler that reads along."""

import re
from dataclasses import replace

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing
from project.vocabulary import Edit, Fix
from rewriters.bindings import bindings
from rewriters.draft import Draft
from rewriters.wording import torch_name

_SCRIPT = re.compile(rb"\bjit\s*\.\s*script|\bscript_method\b")


def fitted(document: PythonDocument, draft: Draft | None) -> Draft | None:
    """A draft that fits where its edits go, or None where it cannot."""
    if draft is None:
        return None
    edits = []
    for edit in draft.edits:
        node = document.root.descendant_for_byte_range(edit.start, max(edit.end, edit.start + 1))
        if node is None:
            edits.append(edit)
            continue
        if _is_scripted(document, node) or _torch_is_another(document, node, edit):
            return None
        quoted = _in_other_quotes(document, node, edit)
        if quoted is None:
            return None
        edits.append(quoted)
    # A script compiles the functions that it calls: names of the module may be unknown to it.
    fix = Fix.REVIEW if document.says(_SCRIPT) else draft.fix
    return replace(draft, edits=tuple(edits), fix=fix)


def _in_other_quotes(document: PythonDocument, node: Node, edit: Edit) -> Edit | None:
    """Before Python 3.12 an f-string cannot hold its own quotes."""
    interpolation = node if node.type == "interpolation" else enclosing(node, ("interpolation",))
    string = enclosing(interpolation, ("string",)) if interpolation is not None else None
    if string is None:
        return edit
    own = document.text[string.end_byte - 1 : string.end_byte]
    if own not in edit.replacement:
        return edit
    other = b"'" if own == b'"' else b'"'
    if other in edit.replacement:
        return None
    return replace(edit, replacement=edit.replacement.replace(own, other))


def _is_scripted(document: PythonDocument, node: Node) -> bool:
    """Whether a function around is compiled by TorchScript, which knows little of Python."""
    around = enclosing(node, ("decorated_definition",))
    while around is not None:
        for child in around.named_children:
            if child.type == "decorator" and "script" in document.slice(child):
                return True
        around = enclosing(around, ("decorated_definition",))
    return False


def _torch_is_another(document: PythonDocument, node: Node, edit: Edit) -> bool:
    """Whether the text names torch where a function has its own meaning for that name."""
    name = torch_name(document) or "torch"
    if not re.search(rb"\b" + name.encode() + rb"\.", edit.replacement):
        return False
    function = enclosing(node, ("function_definition", "lambda"))
    while function is not None:
        for one in bindings(document, name):
            parent = one.node.parent
            imported = parent is not None and parent.type == "dotted_name"
            if one.scope == function and not (imported and one.node.end_byte <= edit.start):
                return True
        function = enclosing(function, ("function_definition", "lambda"))
    return False
