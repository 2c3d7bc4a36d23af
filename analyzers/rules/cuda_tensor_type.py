"""D113: legacy tensor types such as ``torch.cuda.FloatTensor``."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.devices import is_replaced
from analyzers.documents.python import PythonDocument, enclosing, statement_of
from analyzers.guards import Standing, standing
from analyzers.messages import replaced_message
from analyzers.rule import Example, Match, Rule
from analyzers.torch_cuda import is_tensor_type
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TYPE_TEXT = re.compile(rb"""["']torch\.cuda\.\w*Tensor["']""")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of the CUDA tensor types, as names and as texts that name one."""
    for reference in document.references("torch.cuda"):
        if is_tensor_type(reference.name):
            yield _graded(document, reference.node)
    for match, node in document.hits(_TYPE_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is not None and string.end_byte == match.end():
            yield _graded(document, string)


def _graded(document: PythonDocument, node: Node) -> Match:
    start, end = node.start_byte, node.end_byte
    if is_replaced(node):
        return Match(start, end, replaced_message(), Severity.COSMETIC, Fix.NONE)
    if _is_annotation(node):
        message = _("An annotation: nothing is made of this type here, and nothing fails.")
        return Match(start, end, message, Severity.COSMETIC, Fix.NONE)
    if _is_demanded(document, node):
        message = _("Demands a tensor on the CPU or on CUDA: one on MPS fails here.")
        return Match(start, end, message)
    if node.parent is not None and node.parent.type in ("comparison_operator", "tuple", "list"):
        message = _("Asks whether a tensor is on CUDA: one on MPS takes the other way.")
    elif standing(document, node) is not Standing.BARE:
        message = _("Runs only where CUDA is available, and is skipped on a Mac.")
    else:
        return Match(
            start,
            end,
            _("In a PyTorch without CUDA this type is not available and raises an error."),
        )
    return Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)


def _is_annotation(node: Node) -> bool:
    """Whether a name says of which type a parameter, a result or a variable is."""
    around = enclosing(node, ("type", "call", "block", "module"))
    return around is not None and around.type == "type"


def _is_demanded(document: PythonDocument, node: Node) -> bool:
    """Whether the program asserts that a tensor is of one of several types."""
    if node.parent is None or node.parent.type not in ("tuple", "list"):
        return False
    statement = statement_of(node)
    return (
        statement.type == "assert_statement"
        and standing(document, node) is Standing.BARE
        and b"isinstance" in (statement.text or b"")
    )


RULE = Rule(
    code="D113",
    name="cuda-tensor-type",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A tensor type of CUDA is named."),
    why=N_("These types exist only in a build with CUDA; PyTorch keeps them for old code."),
    advice=N_("Give dtype= and device= instead."),
    source="https://docs.pytorch.org/docs/stable/tensors.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                x = torch.cuda.FloatTensor(3)
                torch.set_default_tensor_type(torch.cuda.FloatTensor)
                """,
            finds=("torch.cuda.FloatTensor", "torch.cuda.FloatTensor"),
        ),
        Example(
            text="""\
                import torch
                Tensor = torch.cuda.FloatTensor if torch.cuda.is_available() else torch.FloatTensor
                """,
            finds=("torch.cuda.FloatTensor",),
        ),
        Example(
            text="""\
                import torch
                assert isinstance(target, (torch.LongTensor, torch.cuda.LongTensor))
                torch.cuda.IntTensor = torch.xpu.IntTensor
                """,
            finds=("torch.cuda.LongTensor", "torch.cuda.IntTensor"),
        ),
        Example(
            text="""\
                x = x.type("torch.cuda.FloatTensor")
                if x.type() == "torch.cuda.HalfTensor":
                    x = x.float()
                """,
            finds=('"torch.cuda.FloatTensor"', '"torch.cuda.HalfTensor"'),
        ),
        Example(text="""import torch\nx = torch.FloatTensor(3)\n"""),
        Example(text="""# torch.cuda.FloatTensor\n"""),
        Example(text="""import torch\nx = torch.Tensor(3)\n"""),
    ),
)
