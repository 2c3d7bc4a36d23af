"""D101: a choice between CUDA and the CPU that never picks MPS."""

from collections.abc import Iterator

from analyzers.choices import choices
from analyzers.devices import names_device
from analyzers.documents.python import PythonDocument
from analyzers.guards import is_handled
from analyzers.messages import handled_message
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Choices between CUDA and another device; mild where MPS has a branch."""
    for choice in choices(document):
        start, end = choice.node.start_byte, choice.node.end_byte
        if choice.node.type == "if_statement":
            start, end = choice.cuda.start_byte, choice.cuda.end_byte
        if choice.handled or is_handled(document, choice.node):
            yield Match(start, end, handled_message(), severity=Severity.COSMETIC, fix=Fix.NONE)
        elif names_device(document, choice.other, "cpu"):
            message = _("Without CUDA this picks the CPU: on a Mac the Apple GPU is never used.")
            yield Match(start, end, message)
        else:
            message = _("Without CUDA the other branch is taken: look whether it fits MPS.")
            yield Match(start, end, message, severity=Severity.DEGRADES, fix=Fix.MANUAL)


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
            finds=(
                '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"',
                '"cuda"',
            ),
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
            finds=('"cuda" if torch.cuda.is_available() else "cpu"',),
        ),
        Example(text="""kind = "cuda" if fast else "metal"\n"""),
        Example(text="""# device = "cuda" if torch.cuda.is_available() else "cpu"\n"""),
        Example(text="""words = ["cuda"] if torch.cuda.is_available() else []\n"""),
    ),
)
