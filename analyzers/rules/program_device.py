"""E328: a TorchScript or exported program with a CUDA device in its code."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """Each device that the program's code names, once."""
    if "exported" in document.all("form"):
        message = _(
            "The program was exported on {device}: torch.export.load raises without CUDA. Export "
            "it again on the CPU, or pass it through move_to_device_pass on the CUDA machine."
        )
    else:
        message = _(
            "The program's own code names {device}: tracing wrote down the device of that day, "
            "and map_location changes the weights alone. Trace it again on the CPU."
        )
    for device in document.all("code"):
        yield Match(0, 0, message.format(device=device), text=device)


RULE = Rule(
    code="E328",
    name="program-device",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"code ",),
    what=N_("A TorchScript or exported program names a CUDA device in its code."),
    why=N_(
        "torch.jit.trace and torch.export record devices as constants. Loaded elsewhere the "
        "program still makes tensors on CUDA, and raises where there is none."
    ),
    advice=N_(
        "Trace or script the model again on the CPU; in the model take the device of an input "
        "(torch.zeros(..., device=x.device)) instead of a fixed one."
    ),
    source="https://docs.pytorch.org/docs/stable/generated/torch.jit.load.html",
    find=find,
    examples=(
        Example(
            path="traced.pt",
            text="""\
                kind checkpoint-zip
                form torchscript
                storage cpu
                code torch.device("cuda:0")
                """,
            finds=('torch.device("cuda:0")',),
        ),
        Example(
            path="exported.pt2",
            text="kind checkpoint-zip\nform exported\ncode cuda:0\n",
            finds=("cuda:0",),
        ),
        Example(path="traced.pt", text="kind checkpoint-zip\nform torchscript\nstorage cpu\n"),
        Example(path="traced.pt", text="kind checkpoint-zip\nform torchscript\nstorage cuda:0\n"),
        Example(path="cuda.pt", text="kind checkpoint-zip\nform checkpoint\nstorage cpu\n"),
    ),
)
