"""D101: a choice between CUDA and the CPU that never picks MPS."""

import re
from collections.abc import Iterator

from analyzers.choices import Choice, choices
from analyzers.devices import names_device
from analyzers.documents.python import PythonDocument, unparenthesised
from analyzers.flow import is_off, is_on
from analyzers.guards import asks_what_is_there, is_handled
from analyzers.messages import handled_message
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: A condition that looks at the name of a device that was chosen before.
_COMPARES = re.compile(rb"""["']cuda""")


def find(document: PythonDocument) -> Iterator[Match]:
    """Choices between CUDA and another device; mild where MPS has a branch."""
    for choice in choices(document):
        start, end = choice.node.start_byte, choice.node.end_byte
        if choice.node.type == "if_statement":
            start, end = choice.cuda.start_byte, choice.cuda.end_byte
        if choice.handled or is_handled(document, choice.node):
            yield Match(start, end, handled_message(), severity=Severity.COSMETIC, fix=Fix.NONE)
        elif names_device(document, choice.other, "cpu"):
            severity = Severity.BLOCKS if _is_on_by_default(document, choice) else None
            yield Match(start, end, _picks_cpu(document, choice), severity=severity)
        else:
            message = _("Without CUDA the other branch is taken: look whether it fits MPS.")
            yield Match(start, end, message, severity=Severity.DEGRADES, fix=Fix.MANUAL)


def _picks_cpu(document: PythonDocument, choice: Choice) -> str:
    condition = choice.condition
    if _COMPARES.search(document.text, condition.start_byte, condition.end_byte):
        return _(
            "Whatever is not CUDA is taken for the CPU here, MPS included: what hangs on this, such "
            "as autocast, is then off on a Mac, which works, and slower. Ask the device itself for "
            "its type."
        )
    if _is_on_by_default(document, choice):
        return _(
            "A setting picks CUDA unless somebody turns it off: on a Mac that fails, and the other "
            "branch leaves the Apple GPU alone."
        )
    if not asks_what_is_there(document, condition):
        return _(
            "A setting picks CUDA or the CPU, and never MPS: on a Mac one fails and the other "
            "leaves the Apple GPU alone."
        )
    return _("Without CUDA this picks the CPU: on a Mac the Apple GPU is never used.")


def _is_on_by_default(document: PythonDocument, choice: Choice) -> bool:
    """Whether the condition is a flag of the program that is on, and CUDA was not asked about."""
    condition = unparenthesised(choice.condition)
    negated = condition.type == "not_operator"
    inner = condition.child_by_field_name("argument") if negated else condition
    if inner is None or inner.type not in ("identifier", "attribute"):
        return False
    if asks_what_is_there(document, condition):
        return False
    name = document.slice(inner).rpartition(".")[2]
    return is_off(document, name) if negated else is_on(document, name)


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
    advice=N_(
        "Ask for CUDA first, then for MPS, and take the CPU last. Look at what else hangs on the "
        "choice of the CPU, such as fewer threads or smaller batches: it makes the run slower still."
    ),
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
                device = "cuda" if not args.no_cuda else "cpu"
                """,
            finds=('"cuda" if not args.no_cuda else "cpu"',),
            after="""\
                import torch
                device = "cuda" if not args.no_cuda else "mps" if torch.backends.mps.is_available() else "cpu"
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
        Example(
            text="""device = torch.device("cuda" if tools.use_gpu(opt) else "cpu")\n""",
            finds=('"cuda" if tools.use_gpu(opt) else "cpu"',),
            after="""import torch\ndevice = torch.device("cuda" if tools.use_gpu(opt) else "mps" if torch.backends.mps.is_available() else "cpu")\n""",
        ),
        Example(text="""words = ["cuda"] if torch.cuda.is_available() else []\n"""),
    ),
)
