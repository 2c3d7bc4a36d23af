"""D108: ``torch.cuda.is_available()`` as a flag, a guard or a condition to start at all."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.devices import AVAILABLE, choices, in_mps_ladder, mentions_mps
from analyzers.documents.python import PythonDocument, nth, statement_of
from analyzers.rule import Example, Match, Rule
from analyzers.torch_cuda import EFFECT_ONLY
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Tests for CUDA that are no choice of a device."""
    spans = [
        (choice.condition.start_byte, choice.condition.end_byte) for choice in choices(document)
    ]
    for reference in document.references(AVAILABLE):
        node = reference.node
        if any(start <= node.start_byte and node.end_byte <= end for start, end in spans):
            continue
        call = node.parent if node.parent is not None and node.parent.type == "call" else node
        if mentions_mps(document, statement_of(call)) or in_mps_ladder(document, call):
            continue
        if _guards_only_effects(document, call):
            continue
        message, severity, fix = _judge(call)
        yield Match(call.start_byte, call.end_byte, message, severity=severity, fix=fix)


def _guards_only_effects(document: PythonDocument, call: Node) -> bool:
    """Whether this is the guard of calls that matter to CUDA alone: nothing is left to decide."""
    statement = statement_of(call)
    body = statement.child_by_field_name("consequence")
    if statement.type != "if_statement" or body is None:
        return False
    if statement.child_by_field_name("condition") != call:
        return False
    if statement.child_by_field_name("alternative") is not None:
        return False
    return all(_is_effect(document, one) for one in body.named_children if one.type != "comment")


def _is_effect(document: PythonDocument, statement: Node) -> bool:
    call = nth(statement, 0) if statement.type == "expression_statement" else None
    function = call.child_by_field_name("function") if call is not None else None
    name = document.dotted(function) if function is not None else None
    return name is not None and name.removeprefix("torch.cuda.") in EFFECT_ONLY


def _judge(call: Node) -> tuple[str, Severity, Fix]:
    statement = statement_of(call)
    if statement.type == "assert_statement":
        message = _("The program refuses to start without CUDA.")
        return message, Severity.BLOCKS, Fix.MANUAL
    if statement.type == "if_statement":
        body = statement.child_by_field_name("consequence")
        test = statement.child_by_field_name("condition")
        negated = test is not None and test.type == "not_operator"
        if negated and body is not None and b"raise" in (body.text or b""):
            message = _("The program refuses to start without CUDA.")
            return message, Severity.BLOCKS, Fix.MANUAL
        message = _("A branch for CUDA alone; it is not taken on a Mac.")
        return message, Severity.COSMETIC, Fix.NONE
    message = _("On a Mac this is False, and whatever depends on it is off.")
    return message, Severity.DEGRADES, Fix.MANUAL


RULE = Rule(
    code="D108",
    name="cuda-available",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("The program asks whether CUDA is available, and not in order to choose a device."),
    why=N_(
        "As a guard around CUDA code this is right and stays. As a flag it switches features off "
        "on a Mac, and as an assertion it keeps the program from starting."
    ),
    advice=N_("Ask for what is really needed: an accelerator, a dtype, memory."),
    source="https://docs.pytorch.org/docs/stable/generated/torch.cuda.is_available.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                assert torch.cuda.is_available(), "needs a GPU"
                use_cuda = torch.cuda.is_available()
                if torch.cuda.is_available():
                    torch.backends.cudnn.benchmark = True
                """,
            finds=(
                "torch.cuda.is_available()",
                "torch.cuda.is_available()",
                "torch.cuda.is_available()",
            ),
        ),
        Example(
            text="""\
                from torch.cuda import is_available as has_cuda
                if not has_cuda():
                    raise SystemExit("no GPU")
                """,
            finds=("has_cuda()",),
        ),
        Example(
            text="""\
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    seed_cuda()
                elif torch.backends.mps.is_available():
                    seed_mps()
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                """,
        ),
        Example(
            text="""\
                import torch
                def pick_device():
                    if torch.cuda.is_available():
                        return torch.device("cuda")
                    if torch.backends.mps.is_available():
                        return torch.device("mps")
                    return torch.device("cpu")
                """,
        ),
        Example(text="""shop.is_available()\ntorch.backends.mps.is_available()\n"""),
    ),
)
