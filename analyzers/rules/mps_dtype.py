"""D121: complex128, and bfloat16 that is sent to MPS by name."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import passed, string_of
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from analyzers.reach import reaches_device, settled
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """complex128 that reaches a device, and bfloat16 that is sent to MPS."""
    for name in ("torch.complex128", "torch.cdouble"):
        for reference in document.references(name):
            call = _call_given(reference.node)
            if call is None or not reaches_device(document, call) or settled(document, call):
                continue
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "MPS has no complex128, in any release: use complex64 there, or compute this "
                    "part on the CPU, and leave the CUDA path as it is."
                ),
            )
    for call, _receiver, _name in calls_of(document, "to"):
        if not _names_mps(document, call) or settled(document, call):
            continue
        if b"bfloat16" in document.text[call.start_byte : call.end_byte]:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "bfloat16 on MPS needs PyTorch 2.3, macOS 14 and Apple silicon, all of them: "
                    "elsewhere take float16 or float32. torch.backends.mps.is_macos_or_newer(14, 0) "
                    "asks for the macOS."
                ),
                until="2.9",
            )


def _call_given(node: Node) -> Node | None:
    """The call that is given ``node`` as an argument."""
    parent = node.parent
    if parent is not None and parent.type == "keyword_argument":
        parent = parent.parent
    if parent is None or parent.type != "argument_list":
        return None
    return parent.parent


def _names_mps(document: PythonDocument, call: Node) -> bool:
    for one in passed(call):
        value = one.child_by_field_name("value") if one.type == "keyword_argument" else one
        if (string_of(document, value) or "").startswith("mps"):
            return True
    return False


RULE = Rule(
    code="D121",
    name="mps-dtype",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        b"complex128",
        b"cdouble",
        *(Word(quote + b"mps", beside=(b"bfloat16",)) for quote in (b"'", b'"')),
    ),
    what=N_("A type that MPS does not have, or has only with a late PyTorch and macOS."),
    why=N_(
        "complex128 is two float64, which Metal does not have. bfloat16 came to MPS with PyTorch "
        "2.3 and needs macOS 14, which is the least that PyTorch 2.9 and later run on."
    ),
    advice=N_("Choose the type together with the device, and ask for the macOS where it matters."),
    source=(
        "aten/src/ATen/mps/EmptyTensor.cpp of PyTorch, read; "
        "https://github.com/pytorch/pytorch/pull/119641 of February 2024 for bfloat16; "
        "https://github.com/pytorch/pytorch/issues/141864 for Macs with Intel processors"
    ),
    since="bfloat16: PyTorch 2.3 with macOS 14",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                def spectrum(x, device):
                    grid = torch.zeros(8, dtype=torch.complex128, device=device)
                    return grid + x.to(device).to(torch.cdouble)
                embedding = torch.nn.Embedding(10, 4).to(torch.bfloat16).to("mps")
                """,
            finds=(
                "torch.zeros(8, dtype=torch.complex128, device=device)",
                "x.to(device).to(torch.cdouble)",
                'torch.nn.Embedding(10, 4).to(torch.bfloat16).to("mps")',
            ),
        ),
        Example(text="""import torch\nx = torch.zeros(4, dtype=torch.complex128)\n"""),
        Example(text="""import torch\nx = torch.zeros(4).to(device, torch.bfloat16)\n"""),
        Example(
            text="""\
                import torch
                if x.dtype == torch.complex128:
                    x = x.cpu().to(torch.complex128)
                """,
        ),
        Example(text="""import torch\nx = torch.ones(2, dtype=torch.complex64, device="mps")\n"""),
    ),
)
