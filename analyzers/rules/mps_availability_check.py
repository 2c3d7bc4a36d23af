"""E342: programs for which it decides all that MPS is available."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of
from analyzers.devices import names_device
from analyzers.documents.python import PythonDocument, nth
from analyzers.reach import under_condition
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: A condition of a program that was asked for MPS.
_ASKED = re.compile(rb"mps")
#: Any line but a plain ``if``, which goes on without MPS.
_DECIDES = re.compile(rb"^(?![ \t]*(?:el)?if [\w.]*mps\.is_available\(\):)", re.MULTILINE)
_CUDA = re.compile(rb"(?i)cuda")
_NAMES = ("torch.backends.mps.is_available", "torch.mps.is_available")


def find(document: PythonDocument) -> Iterator[Match]:
    """Assertions that MPS is there, errors when it is not, and choices that rest on it alone."""
    for name in _NAMES:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None:
                continue
            if _is_trusted(document, call) and not document.says(_CUDA):
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "Available is not yet usable: virtual Macs, as continuous integration has "
                        "them, say yes and refuse the first bytes as out of memory. Where this runs "
                        "on such a machine, try a small tensor, and go on with the CPU and a message."
                    ),
                    severity=Severity.COSMETIC,
                )
            place = _stops(document, call)
            if place is not None:
                yield Match(
                    place.start_byte,
                    place.end_byte,
                    _(
                        "A sandbox, a daemon or a virtual machine can hide the GPU, so that a good "
                        "Mac stops here. Say that MPS is not available in this process, with "
                        "is_built(), the macOS version and the machine, and not that the Mac has "
                        "none."
                    ),
                )


def _is_trusted(document: PythonDocument, call: Node) -> bool:
    """Whether the call alone decides between MPS and the CPU."""
    choice = call.parent
    if choice is None or choice.type != "conditional_expression" or nth(choice, 1) != call:
        return False
    first, last = nth(choice, 0), nth(choice, 2)
    return (
        first is not None
        and last is not None
        and names_device(document, first, "mps")
        and names_device(document, last, "cpu")
    )


def _stops(document: PythonDocument, call: Node) -> Node | None:
    """The ``assert``, or the condition of an ``if`` that raises, which the call decides alone."""
    parent = call.parent
    if parent is None:
        return None
    if parent.type == "assert_statement" and nth(parent, 0) == call:
        return parent
    if parent.type != "not_operator" or parent.parent is None:
        return None
    branch = parent.parent
    if branch.type != "if_statement" or branch.child_by_field_name("condition") != parent:
        return None
    body = branch.child_by_field_name("consequence")
    last = nth(body, body.named_child_count - 1) if body is not None else None
    if last is None or under_condition(document, branch, _ASKED):
        return None
    text = document.text[last.start_byte : last.end_byte]
    stops = last.type == "raise_statement" or text.startswith((b"sys.exit(", b"exit("))
    return (
        parent
        if stops and b"built" not in document.text[branch.start_byte : branch.end_byte]
        else None
    )


RULE = Rule(
    code="E342",
    name="mps-availability-check",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(Word(b"mps.is_available", on_line=_DECIDES),),
    what=N_("The program stops unless MPS is available, or takes it where it is, untried."),
    why=N_(
        "is_available() is about this process, in this session. It is false in sandboxes that hide "
        "the Metal device, and true on virtual machines that refuse the first tensor, so that it is "
        "neither proof that a Mac lacks MPS nor that MPS can be used."
    ),
    advice=N_(
        "Report is_built() and is_available() apart, try one small tensor, and go on with the CPU "
        "if you can. Raising the memory limit, as the error proposes, does not help on such a "
        "machine, and the error says nothing about the model."
    ),
    source="https://github.com/openai/codex/issues/10199; https://docs.pytorch.org/docs/stable/notes/mps.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                assert torch.backends.mps.is_available(), "This Mac has no MPS"
                if not torch.backends.mps.is_available():
                    raise RuntimeError("no MPS")
                """,
            finds=(
                'assert torch.backends.mps.is_available(), "This Mac has no MPS"',
                "not torch.backends.mps.is_available()",
            ),
        ),
        Example(
            text="""import torch\ndevice = "mps" if torch.backends.mps.is_available() else "cpu"\n""",
            finds=("torch.backends.mps.is_available()",),
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    device = "cuda"
                else:
                    device = "mps" if torch.backends.mps.is_available() else "cpu"
                """
        ),
        Example(
            text="""\
                import torch
                if not torch.backends.mps.is_available():
                    if not torch.backends.mps.is_built():
                        print("built without MPS")
                    raise SystemExit("not available in this process")
                """,
        ),
        Example(text="""import torch\nassert torch.cuda.is_available()\n"""),
        Example(
            text="""\
                import torch
                if name == "mps":
                    if not torch.backends.mps.is_available():
                        raise ValueError("mps was asked for and is not available")
                """,
        ),
        Example(
            text="""import torch\nassert torch.cuda.is_available() or torch.backends.mps.is_available()\n"""
        ),
    ),
)
