"""D109: automatic mixed precision that names CUDA."""

from collections.abc import Iterator

from analyzers.devices import Role, device_strings
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.cuda.amp`` and of autocast or GradScaler for CUDA."""
    message = _(
        "Without CUDA this warns and switches itself off: on a Mac the program runs in full "
        "precision."
    )
    for reference in document.references("torch.cuda.amp"):
        node = reference.node
        if node.parent is not None and node.parent.type == "call":
            node = node.parent
        yield Match(node.start_byte, node.end_byte, message)
    for string in device_strings(document):
        if string.role is Role.AUTOCAST:
            yield Match(string.holder.start_byte, string.holder.end_byte, message)


RULE = Rule(
    code="D109",
    name="cuda-amp",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("Mixed precision is asked for on CUDA by name."),
    why=N_(
        "torch.cuda.amp is deprecated, and for CUDA alone. A mechanical autocast('mps') is no "
        "cure: it is an error before PyTorch 2.5."
    ),
    advice=N_(
        "torch.autocast(device.type, dtype=...) takes 'mps' from PyTorch 2.5 on (float16; bfloat16 "
        "from 2.6), and GradScaler from 2.8 on; keep the old form for older releases."
    ),
    source="https://docs.pytorch.org/docs/stable/amp.html; macOS arm64 wheels 2.4 to 2.8, read",
    since="autocast('mps'): PyTorch 2.5",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.cuda.amp import autocast as ac
                scaler = torch.cuda.amp.GradScaler()
                with ac():
                    pass
                with torch.autocast("cuda", dtype=torch.float16):
                    pass
                with torch.amp.autocast(device_type="cuda"):
                    pass
                """,
            finds=(
                "torch.cuda.amp.GradScaler()",
                "ac()",
                'torch.autocast("cuda", dtype=torch.float16)',
                'torch.amp.autocast(device_type="cuda")',
            ),
        ),
        Example(text="""with torch.autocast(device.type):\n    pass\n"""),
        Example(text="""with torch.autocast("cpu"):\n    pass\n"""),
        Example(text="""from torch.cuda.amp import autocast\n# autocast()\n"""),
    ),
)
