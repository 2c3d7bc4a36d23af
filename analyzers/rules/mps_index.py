"""D137: a second MPS device."""

import re
from collections.abc import Iterator

from analyzers.arguments import call_of, number_of, positional, string_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_QUOTED = (b'"mps"', b"'mps'")
_STRING = re.compile(rb"""["']mps:(?:[1-9]\d{0,2}["']|\{)""")


def find(document: PythonDocument) -> Iterator[Match]:
    """``"mps:1"``, ``f"mps:{rank}"`` and ``torch.device("mps", 1)``."""
    message = _(
        "There is exactly one MPS device, mps:0; several cards have no counterpart on a Mac."
    )
    for match, node in document.hits(_STRING):
        while node.type in ("string_start", "string_content", "interpolation", "{") and node.parent:
            node = node.parent
        if node.type != "string" or match.start() - node.start_byte > 2:
            continue
        if match[0].endswith(b"{") and "f" not in document.slice(node)[:2].lower():
            continue
        if node.parent is not None and node.parent.type != "expression_statement":
            yield Match(node.start_byte, node.end_byte, message)
    for reference in document.references("torch.device"):
        call = call_of(reference.node)
        if call is None or string_of(document, positional(call, 0)) != "mps":
            continue
        if number_of(document, positional(call, 1)):
            yield Match(call.start_byte, call.end_byte, message)


RULE = Rule(
    code="D137",
    name="mps-index",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        *(Word(b"mps:", re.compile(rb"[\"']mps:[1-9{]")),),
        *(Word(word, re.compile(rb"mps[\"'][ \t]*,"), beside=(b"device(",)) for word in _QUOTED),
    ),
    what=N_("An MPS device is named that no Mac has."),
    why=N_('torch.device("mps", 1) can be made, but nothing can be put there.'),
    advice=N_(
        'Use "mps" without a number, and compare device.type: "mps" and "mps:0" are not equal.'
    ),
    source="https://docs.pytorch.org/docs/stable/notes/mps.html; torch/mps/__init__.py of PyTorch 2.13.0",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                a = torch.zeros(2, device="mps:1")
                b = torch.device("mps", 2)
                c = f"mps:{rank}"
                """,
            finds=('"mps:1"', 'torch.device("mps", 2)', 'f"mps:{rank}"'),
        ),
        Example(text="""a = "mps:0"\n"""),
        Example(text="""import torch\nb = torch.device("mps", 0)\n"""),
        Example(text="""# device = "mps:1"\n"""),
        Example(text="""print("maps:1", "mps:{rank}")\n"""),
    ),
)
