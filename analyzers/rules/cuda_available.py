"""D108: ``torch.cuda.is_available()`` as a flag, a guard or a condition to start at all."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.choices import is_in_condition
from analyzers.devices import indirect_cuda, is_replaced
from analyzers.documents.python import PythonDocument, enclosing, statement_of
from analyzers.guards import AVAILABLE, is_guarded, is_handled, sense
from analyzers.messages import handled_message, replaced_message
from analyzers.refusals import ladder_of, refuses
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Tests for CUDA that are no condition of an expression which chooses a device."""
    for reference in (*document.references("torch.cuda"), *indirect_cuda(document)):
        node = reference.node
        if reference.name != AVAILABLE or is_in_condition(document, node):
            continue
        call = node.parent if node.parent is not None and node.parent.type == "call" else node
        message, severity, fix = _judge(document, call)
        yield Match(call.start_byte, call.end_byte, message, severity=severity, fix=fix)


def _judge(document: PythonDocument, call: Node) -> tuple[str, Severity, Fix]:
    if is_replaced(call):
        return replaced_message(), Severity.COSMETIC, Fix.NONE
    if is_handled(document, call):
        return handled_message(), Severity.COSMETIC, Fix.NONE
    if not is_guarded(document, call) and refuses(document, call):
        message = _("Without CUDA this stops with an error, on a Mac too.")
        return message, Severity.BLOCKS, Fix.MANUAL
    around = enclosing(call, ("decorator", "block"))
    if (around is not None and around.type == "decorator") or _marks_a_test(call):
        message = _("Without CUDA this is skipped, on a Mac too.")
        return message, Severity.COSMETIC, Fix.NONE
    choosing = enclosing(call, ("conditional_expression", "argument_list", "block"))
    if (
        ladder_of(call) is not None
        or statement_of(call).type == "assert_statement"
        or (choosing is not None and choosing.type == "conditional_expression")
    ):
        return _branch(document, call), Severity.COSMETIC, Fix.NONE
    if _skips_tests(document, call):
        message = _("Tests are skipped by this without CUDA, on a Mac too.")
        return message, Severity.COSMETIC, Fix.NONE
    if _is_text(call):
        message = _("Only said aloud: on a Mac this is False.")
        return message, Severity.COSMETIC, Fix.NONE
    message = _("On a Mac this is False, and whatever depends on it is off: look there.")
    return message, Severity.COSMETIC, Fix.MANUAL


def _branch(document: PythonDocument, call: Node) -> str:
    """Which branch of a Mac's a test decides about."""
    ladder = ladder_of(call)
    condition = ladder.child_by_field_name("condition") if ladder is not None else None
    negated = call.parent is not None and call.parent.type == "not_operator"
    if condition is not None and (negated or sense(document, condition) == -1):
        return _("A branch for machines without CUDA: a Mac takes it, with MPS or not.")
    return _("A branch for CUDA alone; it is not taken on a Mac.")


def _skips_tests(document: PythonDocument, call: Node) -> bool:
    """Whether the answer is kept under a name that only marks tests."""
    parent = call.parent
    left = parent.child_by_field_name("left") if parent is not None else None
    if left is None or left.type != "identifier":
        return False
    name = re.escape(left.text or b"")
    uses = len(re.findall(rb"\b" + name + rb"\b", document.text)) - 1
    marks = len(
        re.findall(rb"(?i)skip(?:if|unless)\([^\n]{0,60}?\b" + name + rb"\b", document.text)
    )
    return 0 < uses == marks


def _marks_a_test(call: Node) -> bool:
    """Whether a test is the condition of ``skipif`` or its kin, wherever that is called."""
    outer = enclosing(call, ("call", "block"))
    function = outer.child_by_field_name("function") if outer is not None else None
    name = (function.text or b"").rpartition(b".")[2] if function is not None else b""
    return name.lower() in (b"skipif", b"skipunless")


def _is_text(call: Node) -> bool:
    """Whether a test is an argument of ``print`` or of a logger."""
    outer = enclosing(call, ("call",))
    function = outer.child_by_field_name("function") if outer is not None else None
    name = (function.text or b"").rpartition(b".")[2] if function is not None else b""
    return name in (b"print", b"info", b"debug", b"warning", b"write", b"log", b"format")


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
            finds=("torch.cuda.is_available()",),
        ),
        Example(text="""# torch.cuda.is_available()\ntext = "torch.cuda.is_available()"\n"""),
        Example(text="""from tensorflow import cuda\ncuda.is_available()\n"""),
        Example(
            text="""\
                @pytest.mark.skipif(not __import__("torch").cuda.is_available(), reason="no GPU")
                def test_on_gpu():
                    assert tools.torch.cuda.is_available()
                """,
            finds=(
                '__import__("torch").cuda.is_available()',
                "tools.torch.cuda.is_available()",
            ),
        ),
        Example(
            text="""\
                import torch
                needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
                """,
            finds=("torch.cuda.is_available()",),
        ),
        Example(
            text="""\
                import torch
                HAS_GPU = torch.cuda.is_available()
                @unittest.skipIf(not HAS_GPU, "no GPU")
                def test_on_gpu():
                    if not torch.cuda.is_available():
                        print("using CPU")
                """,
            finds=("torch.cuda.is_available()", "torch.cuda.is_available()"),
        ),
        Example(text="""shop.is_available()\ntorch.backends.mps.is_available()\n"""),
    ),
)
