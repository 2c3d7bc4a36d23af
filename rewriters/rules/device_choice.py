"""D101: a third branch, for MPS, in a choice between CUDA and the CPU."""

import re

from analyzers.choices import Choice, choices, is_off_twice
from analyzers.documents.python import PythonDocument, unparenthesised
from analyzers.guards import is_negated
from project.translation import _
from project.vocabulary import Edit, Fix
from rewriters.draft import Context, Draft
from rewriters.wording import import_torch, mps_test

_CUDA_WORD = re.compile(r"""(["'])cuda\1""")


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
    question, fix, why = _question(document, choice)
    text = f"{cpu.replace('cpu', 'mps')} if {question} else {cpu}"
    if choice.node.type != "if_statement" and other.start_byte < choice.condition.start_byte:
        text = f"({text})"
    edit = Edit(other.start_byte, other.end_byte, text.encode())
    return Draft((edit, *import_torch(document)), fix, why)


def _question(document: PythonDocument, choice: Choice) -> tuple[str, Fix, str]:
    """What to ask before taking MPS: the question asked for CUDA, asked for MPS."""
    plain = mps_test(document)
    condition = unparenthesised(choice.condition)
    text = document.slice(condition)
    if is_negated(condition) and not is_off_twice(document, condition):
        return plain, Fix.SAFE, _("CUDA is asked for first, as before; MPS comes before the CPU.")
    asked = re.sub(r"\b(?:\w+\.)?cuda\.is_available\(\)", plain, text)
    if asked != text and "cuda" not in asked.replace("no_cuda", ""):
        return asked, Fix.SAFE, _("CUDA is asked for first, as before; MPS comes before the CPU.")
    if condition.type == "comparison_operator" and _CUDA_WORD.search(text):
        return (
            _CUDA_WORD.sub(r"\1mps\1", text),
            Fix.REVIEW,
            _(
                "The same question is asked for MPS, and the branch for CUDA is as before; look "
                "whether what follows, such as autocast, takes MPS in your PyTorch."
            ),
        )
    return (
        plain,
        Fix.REVIEW,
        _(
            "The choice hangs on `{flag}`, which speaks of CUDA: look whether the Apple GPU is "
            "wanted too when it is off."
        ).format(flag=text),
    )


def _choice_at(document: PythonDocument, start: int) -> Choice | None:
    for choice in choices(document):
        node = choice.cuda if choice.node.type == "if_statement" else choice.node
        if node.start_byte == start:
            return choice
    return None
