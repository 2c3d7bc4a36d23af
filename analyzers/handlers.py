"""Handlers of exceptions, and whether they are wide enough for what MPS raises."""

import re

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing

#: Exceptions that are wide enough for the RuntimeError of MPS.
_WIDE = re.compile(rb"\bRuntimeError\b|\bException\b|except\s*:")


def clause_of(node: Node) -> Node | None:
    """The ``except`` clause that names ``node`` as what it catches."""
    clause = enclosing(node, ("except_clause", "block", "module"))
    return clause if clause is not None and clause.type == "except_clause" else None


def catches_mps(document: PythonDocument, clause: Node) -> bool:
    """Whether a clause, or another of the same ``try``, catches what MPS raises."""
    return _WIDE.search(_heads(document, clause)) is not None


def _heads(document: PythonDocument, clause: Node) -> bytes:
    """What the ``except`` clauses of one ``try`` name, joined."""
    clauses = clause.parent.named_children if clause.parent is not None else [clause]
    heads = []
    for one in clauses:
        if one.type == "except_clause":
            body = next((child for child in one.children if child.type == "block"), None)
            end = body.start_byte if body is not None else one.end_byte
            heads.append(document.text[one.start_byte : end])
    return b"\n".join(heads)
