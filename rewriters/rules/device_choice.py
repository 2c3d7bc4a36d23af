"""D101: a third branch, for MPS, in a choice between CUDA and the CPU."""

from analyzers.devices import Choice, choices
from analyzers.documents.python import PythonDocument
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.wording import import_torch, mps_or


def rewrite(context: Context) -> Draft | None:
    """Put the question for MPS before the CPU; the CUDA branch is not touched."""
    document = context.document
    choice = _choice_at(document, context.finding.start)
    if choice is None:
        return None
    other = choice.other
    cpu = document.slice(other)
    if cpu.count("cpu") != 1:
        return None
    text = mps_or(document, cpu.replace("cpu", "mps"), cpu)
    if choice.node.type != "if_statement" and other.start_byte < choice.condition.start_byte:
        text = f"({text})"
    why = _("CUDA is asked for first, as before; MPS comes before the CPU.")
    edit = Edit(other.start_byte, other.end_byte, text.encode())
    return Draft((edit, *import_torch(document)), Fix.SAFE, why)


def _choice_at(document: PythonDocument, start: int) -> Choice | None:
    for choice in choices(document):
        node = choice.cuda if choice.node.type == "if_statement" else choice.node
        if node.start_byte == start:
            return choice
    return None
