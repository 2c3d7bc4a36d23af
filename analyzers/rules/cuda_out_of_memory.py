"""D127: handlers for running out of CUDA's memory."""

import re
from collections.abc import Iterator

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.handlers import catches_mps, clause_of
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TEXT = re.compile(rb"""["']CUDA[^"'\r\n]{0,40}?out of memory""", re.IGNORECASE)
_GENERAL = re.compile(rb"""["']out of memory""")
_CLASSES = ("torch.cuda.OutOfMemoryError", "torch.OutOfMemoryError")


def find(document: PythonDocument) -> Iterator[Match]:
    """Handlers and comparisons that know the error of CUDA alone."""
    message = _(
        'Never true on a Mac: MPS raises a RuntimeError that says "MPS backend out of memory". '
        'Catch RuntimeError and ask for "out of memory", so that both are handled.'
    )
    for name in _CLASSES:
        for reference in document.references(name):
            clause = clause_of(reference.node)
            if clause is None or settled(document, clause) or catches_mps(document, clause):
                continue
            yield Match(reference.node.start_byte, reference.node.end_byte, message)
    for _match, node in document.hits(_TEXT):
        comparison = enclosing(node, ("comparison_operator", "block", "module"))
        if comparison is None or comparison.type != "comparison_operator":
            continue
        condition = comparison
        while condition.parent is not None and condition.parent.type == "boolean_operator":
            condition = condition.parent
        text = document.text[condition.start_byte : condition.end_byte].lower()
        if b"mps" in text or _GENERAL.search(text) is not None:
            continue
        if not settled(document, comparison):
            yield Match(comparison.start_byte, comparison.end_byte, message)


RULE = Rule(
    code="D127",
    name="cuda-out-of-memory",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"OutOfMemoryError", b"out of memory"),
    what=N_("Running out of memory is handled for CUDA alone."),
    why=N_(
        "The program has an answer to too little memory, a smaller batch or a retry. On MPS the "
        "error has another class and text, and the answer is never given."
    ),
    advice=N_('Catch RuntimeError and look for "out of memory", in lower case.'),
    source="aten/src/ATen/mps/MPSAllocator.mm of PyTorch, read: TORCH_CHECK, which is a RuntimeError",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                try:
                    step()
                except torch.cuda.OutOfMemoryError:
                    retry()
                try:
                    step()
                except RuntimeError as error:
                    if "CUDA out of memory" in str(error):
                        retry()
                """,
            finds=("torch.cuda.OutOfMemoryError", '"CUDA out of memory" in str(error)'),
        ),
        Example(
            text="""\
                try:
                    step()
                except RuntimeError as error:
                    if "out of memory" in str(error):
                        retry()
                """,
        ),
        Example(text="""print("If you see CUDA out of memory, lower the batch size.")\n"""),
        Example(
            text="""\
                import torch
                try:
                    step()
                except (RuntimeError, torch.cuda.OutOfMemoryError):
                    retry()
                """,
        ),
        Example(
            text="""\
                import torch
                try:
                    step()
                except torch.cuda.OutOfMemoryError:
                    retry()
                except RuntimeError:
                    give_up()
                """,
        ),
        Example(
            text="""\
                if "CUDA out of memory" in text or "MPS backend out of memory" in text:
                    retry()
                """,
        ),
    ),
)
