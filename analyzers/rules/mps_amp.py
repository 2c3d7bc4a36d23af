"""D122: mixed precision that names MPS, in releases that do not have it."""

from collections.abc import Iterator

from analyzers.arguments import argument, call_of, string_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import NOT_COMPARED, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """``GradScaler("mps")`` and ``autocast("mps")``."""
    for name in ("torch.amp.GradScaler", "torch.GradScaler"):
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or string_of(document, argument(call, "device", 0)) != "mps":
                continue
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Before PyTorch 2.8 GradScaler computes in float64 by itself, which MPS does "
                    "not have, and its two kernels have no MPS version: the first step raises. "
                    "Take PyTorch 2.8, or train there in float32."
                ),
                until="2.8",
            )
    for name in ("torch.amp.autocast", "torch.autocast", "torch.amp.autocast_mode.autocast"):
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or string_of(document, argument(call, "device_type", 0)) != "mps":
                continue
            dtype = argument(call, "dtype", 1)
            bfloat16 = dtype is not None and document.dotted(dtype) == "torch.bfloat16"
            yield Match(
                call.start_byte,
                call.end_byte,
                _("autocast('mps') is an error before PyTorch 2.5."),
                until="2.5",
            )
            if bfloat16:
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "PyTorch 2.5 warns of bfloat16 on MPS and switches autocast off; from 2.6 on "
                        "it takes it, on macOS 14."
                    ),
                    severity=Severity.DEGRADES,
                    since="2.5",
                    until="2.6",
                )


RULE = Rule(
    code="D122",
    name="mps-amp",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=tuple(
        Word(quote + b"mps", before=NOT_COMPARED, beside=(b"autocast", b"GradScaler"))
        for quote in (b"'", b'"')
    ),
    what=N_("Mixed precision on MPS is asked for by name."),
    why=N_(
        "It came in steps: autocast with float16 in PyTorch 2.5, with bfloat16 in 2.6, GradScaler "
        "in 2.8. float16 without a scaler trains on gradients that underflow to zero."
    ),
    advice=N_(
        "Ask for PyTorch 2.8, or turn autocast and the scaler off together on older releases; do "
        "not disable the scaler alone."
    ),
    source=(
        "torch/amp in the macOS arm64 wheels 2.6.0 and 2.8.0, read; the issue "
        "https://github.com/pytorch/pytorch/issues/142397 and the pull requests 99272, 139390 and "
        "150255 there for what was before and between"
    ),
    since="autocast: PyTorch 2.5; GradScaler: PyTorch 2.8",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                scaler = torch.amp.GradScaler("mps")
                with torch.autocast("mps", dtype=torch.bfloat16):
                    pass
                with torch.amp.autocast(device_type="mps"):
                    pass
                """,
            finds=(
                'torch.amp.GradScaler("mps")',
                'torch.autocast("mps", dtype=torch.bfloat16)',
                'torch.autocast("mps", dtype=torch.bfloat16)',
                'torch.amp.autocast(device_type="mps")',
            ),
        ),
        Example(text="""import torch\nscaler = torch.amp.GradScaler(device.type)\n"""),
        Example(text="""import torch\nwith torch.autocast("cpu"):\n    pass\n"""),
        Example(text="""import torch\nwith torch.autocast(device_type):\n    x = x.to("mps")\n"""),
    ),
)
