"""D101: a choice between CUDA and the CPU that never picks MPS."""

from collections.abc import Iterator

from analyzers.devices import choices, mentions_mps, names_device
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Choices whose other branch is the CPU and that have no branch for MPS."""
    for choice in choices(document):
        if choice.handled or not names_device(document, choice.other, "cpu"):
            continue
        if _later_step_of_a_ladder(document, choice.node.start_byte):
            continue
        start, end = choice.node.start_byte, choice.node.end_byte
        if choice.node.type == "if_statement":
            start, end = choice.cuda.start_byte, choice.cuda.end_byte
        yield Match(
            start,
            end,
            _("Without CUDA this picks the CPU: on a Mac the Apple GPU is never used."),
        )


def _later_step_of_a_ladder(document: PythonDocument, offset: int) -> bool:
    """Whether the choice sits under an ``if`` that asked for MPS before."""
    node = document.root.descendant_for_byte_range(offset, offset + 1)
    while node is not None:
        node = enclosing(node, ("if_statement",))
        condition = node.child_by_field_name("condition") if node is not None else None
        if condition is not None and mentions_mps(document, condition):
            return True
    return False


RULE = Rule(
    code="D101",
    name="device-choice",
    severity=Severity.DEGRADES,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A device is chosen between CUDA and the CPU, and MPS is not among the choices."),
    why=N_(
        "The program starts on a Mac and says nothing, but computes on the CPU. A third branch "
        "leaves the first one as it is: where CUDA is available, CUDA is still chosen."
    ),
    advice=N_("Ask for CUDA first, then for MPS, and take the CPU last."),
    source="https://docs.pytorch.org/docs/stable/notes/mps.html",
    since="torch.backends.mps: PyTorch 1.12",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
                """,
            finds=('"cuda" if torch.cuda.is_available() else "cpu"',),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                import torch as th
                device = th.device("cpu") if not th.cuda.is_available() else th.device("cuda:0")
                """,
            finds=('th.device("cpu") if not th.cuda.is_available() else th.device("cuda:0")',),
            after="""\
                import torch as th
                device = (th.device("mps") if th.backends.mps.is_available() else th.device("cpu")) if not th.cuda.is_available() else th.device("cuda:0")
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    device = "cuda"
                else:
                    device = "cpu"
                """,
            finds=('"cuda"',),
            after="""\
                import torch
                if torch.cuda.is_available():
                    device = "cuda"
                else:
                    device = "mps" if torch.backends.mps.is_available() else "cpu"
                """,
        ),
        Example(
            text="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu")
                device_type = "cuda" if "cuda" in name else "cpu"
                other = "cuda" if args.cuda else "cpu"
                """,
            finds=(
                '"cuda" if torch.cuda.is_available() and not args.no_cuda else "cpu"',
                '"cuda" if "cuda" in name else "cpu"',
                '"cuda" if args.cuda else "cpu"',
            ),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() and not args.no_cuda else "mps" if torch.backends.mps.is_available() and not args.no_cuda else "cpu")
                device_type = "cuda" if "cuda" in name else "mps" if "mps" in name else "cpu"
                other = "cuda" if args.cuda else "mps" if torch.backends.mps.is_available() else "cpu"
                """,
        ),
        Example(
            text="""\
                import torch
                device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                if torch.cuda.is_available():
                    other = "cuda"
                elif torch.backends.mps.is_available():
                    other = "mps"
                else:
                    other = "cpu"
                """,
        ),
        Example(
            text="""\
                import torch
                def pick():
                    if torch.backends.mps.is_available():
                        return "mps"
                    else:
                        return "cuda" if torch.cuda.is_available() else "cpu"
                """,
        ),
        Example(text="""kind = "cuda" if fast else "metal"\n"""),
        Example(text="""words = ["cuda"] if torch.cuda.is_available() else []\n"""),
    ),
)
