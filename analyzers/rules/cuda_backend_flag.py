"""D110: settings of cuDNN and of CUDA's matrix products."""

from collections.abc import Iterator

from analyzers.documents.python import PythonDocument, nth, statement_of
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.backends.cudnn`` and ``torch.backends.cuda``."""
    for prefix in ("torch.backends.cudnn", "torch.backends.cuda"):
        for reference in document.references(prefix):
            node = reference.node
            statement = statement_of(node)
            assigned = nth(statement, 0)
            left = assigned.child_by_field_name("left") if assigned is not None else None
            if assigned is not None and assigned.type == "assignment" and left == node:
                node = assigned
            elif node.parent is not None and node.parent.type == "call":
                node = node.parent
            yield Match(
                node.start_byte,
                node.end_byte,
                _("Speaks to CUDA's libraries alone: harmless on a Mac, and without effect there."),
            )


RULE = Rule(
    code="D110",
    name="cuda-backend-flag",
    severity=Severity.COSMETIC,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(rb"cudnn", rb"cuda"),
    what=N_("A setting of cuDNN or of CUDA's matrix products."),
    why=N_(
        "It can be set without CUDA and does nothing then. It matters to whoever compares numbers: "
        "TF32 or a benchmark mode on the CUDA side has no counterpart on a Mac."
    ),
    advice=N_("Leave it; write it down with the CUDA baseline."),
    source="Set one by one in PyTorch 2.13.0 built without CUDA, on Linux; not run on a Mac.",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                import torch.backends.cudnn as cudnn
                torch.backends.cudnn.benchmark = True
                cudnn.deterministic = True
                torch.backends.cuda.matmul.allow_tf32 = False
                """,
            finds=(
                "torch.backends.cudnn.benchmark = True",
                "cudnn.deterministic = True",
                "torch.backends.cuda.matmul.allow_tf32 = False",
            ),
        ),
        Example(text="""import torch.backends.cudnn as cudnn\n"""),
        Example(text="""# torch.backends.cudnn.benchmark = True\n"""),
        Example(text="""import torch\ntorch.backends.mps.is_available()\n"""),
    ),
)
