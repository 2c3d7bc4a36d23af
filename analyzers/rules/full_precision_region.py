"""D123: regions that turn autocast off for CUDA alone."""

from collections.abc import Iterator

from analyzers.arguments import call_of
from analyzers.autocast import AUTOCAST, is_full_precision_region
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """``autocast("cuda", enabled=False)`` as decorator or context."""
    for name in AUTOCAST:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is not None and is_full_precision_region(document, call):
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "Keeps this part in full precision under CUDA's autocast alone. Once the "
                        "autocast around it is ported, the part runs in half precision on a Mac, "
                        "without a warning: port both together."
                    ),
                )


RULE = Rule(
    code="D123",
    name="full-precision-region",
    severity=Severity.DEGRADES,
    fix=Fix.REVIEW,
    reads=PythonDocument,
    triggers=(Word(b"autocast", beside=(b"cuda",)),),
    what=N_("A part of the program is kept out of mixed precision, on CUDA by name."),
    why=N_(
        "autocast(enabled=False) speaks to the device type that it names. It prints nothing where "
        "it has no effect, so results get worse in silence when the outer autocast is for MPS."
    ),
    advice=N_(
        "Give it the device type of the tensors: torch.autocast(x.device.type, enabled=False)."
    ),
    source="torch/amp/autocast_mode.py of PyTorch 2.13.0, read, and tried on Linux without CUDA",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.cuda.amp import autocast
                class Rotary(torch.nn.Module):
                    @torch.autocast("cuda", enabled=False)
                    def forward(self, t):
                        with autocast(enabled=False):
                            return torch.outer(t.float(), self.inv_freq)
                """,
            finds=('torch.autocast("cuda", enabled=False)', "autocast(enabled=False)"),
            after="""\
                import torch
                from torch.cuda.amp import autocast
                class Rotary(torch.nn.Module):
                    @torch.autocast("mps" if torch.backends.mps.is_available() else "cuda", enabled=False)
                    def forward(self, t):
                        with torch.autocast("mps" if torch.backends.mps.is_available() else "cuda", enabled=False):
                            return torch.outer(t.float(), self.inv_freq)
                """,
        ),
        Example(
            text="""import torch\nwith torch.autocast(x.device.type, enabled=False):\n    pass\n"""
        ),
        Example(
            text="""\
                import torch
                if x.is_cuda:
                    with torch.autocast("cuda", enabled=False):
                        pass
                """,
        ),
        Example(text="""import torch\nwith torch.autocast("cuda", enabled=use_amp):\n    pass\n"""),
        Example(text="""import torch\nscaler = torch.cuda.amp.GradScaler(enabled=False)\n"""),
        Example(text="""import torch\nwith torch.autocast("cpu", enabled=False):\n    pass\n"""),
    ),
)
