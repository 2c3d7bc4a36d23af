"""Programs that end where there is no CUDA."""

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, nth, statement_of
from analyzers.guards import sense


def ladder_of(test: Node) -> Node | None:
    """The ``if``, ``elif`` or ``while`` whose condition holds a test, in whatever expression."""
    child, parent = test, test.parent
    while parent is not None and parent.type not in ("block", "module", "argument_list"):
        if parent.type in ("if_statement", "elif_clause", "while_statement"):
            return parent if parent.child_by_field_name("condition") == child else None
        child, parent = parent, parent.parent
    return None


def refuses(document: PythonDocument, test: Node) -> bool:
    """Whether the program ends without CUDA because of a test.

    It asserts the test, or raises an error or exits in the branch that a Mac takes.
    """
    statement = statement_of(test)
    if statement.type == "assert_statement":
        asserted = nth(statement, 0)
        return (
            asserted is not None
            and asserted.start_byte <= test.start_byte < asserted.end_byte
            and sense(document, asserted) == 1
        )
    ladder = ladder_of(test)
    condition = ladder.child_by_field_name("condition") if ladder is not None else None
    if ladder is None or condition is None:
        return False
    body: Node | None = None
    said = sense(document, condition)
    if said == -1:
        body = ladder.child_by_field_name("consequence")
    elif said == 1:
        owner = ladder if ladder.type == "if_statement" else ladder.parent
        clauses = owner.children_by_field_name("alternative") if owner is not None else []
        if clauses and clauses[-1].type == "else_clause" and len(clauses) == 1:
            body = clauses[0].child_by_field_name("body")
    return body is not None and _ends(document, body)


def _ends(document: PythonDocument, body: Node) -> bool:
    last = nth(body, body.named_child_count - 1) if body.named_child_count else None
    if last is None:
        return False
    text = document.slice(last)
    if last.type == "raise_statement":
        return "Skip" not in text
    return text.startswith(("sys.exit(", "exit(", "quit(", "os._exit("))
