"""D113: legacy tensor types such as ``torch.cuda.FloatTensor``."""

from collections.abc import Iterator

from analyzers.devices import guard_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from analyzers.torch_cuda import is_tensor_type
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of the CUDA tensor types."""
    for reference in document.references("torch.cuda"):
        if not is_tensor_type(reference.name):
            continue
        guarded = guard_of(document, reference.node) is not None
        yield Match(
            reference.node.start_byte,
            reference.node.end_byte,
            _("Runs only where CUDA is available, and is skipped on a Mac.")
            if guarded
            else _("In a PyTorch without CUDA this type is not available and raises TypeError."),
            severity=Severity.COSMETIC if guarded else None,
            fix=Fix.NONE if guarded else None,
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
        Example(text="""import torch\nx = torch.FloatTensor(3)\n"""),
        Example(text="""# torch.cuda.FloatTensor\n"""),
        Example(text="""import torch\nx = torch.Tensor(3)\n"""),
    ),
)
