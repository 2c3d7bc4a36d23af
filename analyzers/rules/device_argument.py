"""D105: ``device="cuda"`` and other arguments that name CUDA."""

import re
from collections.abc import Iterator

from analyzers.devices import DeviceString, Role, device_strings, is_device_name, label_of
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, standing
from analyzers.messages import device_match, other_meaning
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Functions that register a kernel for a kind of device.
_REGISTERS = re.compile(r"(?:register_\w+|impl|impl_\w+|Library)\Z")


def find(document: PythonDocument) -> Iterator[Match]:
    """Arguments of calls, by keyword or by place, whose value is a CUDA device."""
    for string in device_strings(document):
        if string.role not in (Role.KEYWORD, Role.ARGUMENT):
            continue
        node = string.holder if string.role is Role.KEYWORD else string.node
        remark = _remark(document, string)
        if remark is not None:
            start, end = node.start_byte, node.end_byte
            yield Match(start, end, remark, severity=Severity.COSMETIC, fix=Fix.NONE)
            continue
        label = label_of(document, string)
        if label == "accelerator" and standing(document, node) is Standing.BARE:
            message = _(
                "Lightning stops with an error where the accelerator is CUDA and there is none: "
                'give it "auto", or "gpu", which is MPS on a Mac.'
            )
            yield Match(node.start_byte, node.end_byte, message, fix=Fix.MANUAL)
            continue
        bare = standing(document, node) is Standing.BARE
        if label and bare and not is_device_name(document, label):
            yield Match(
                node.start_byte,
                node.end_byte,
                other_meaning(label),
                severity=Severity.DEGRADES,
                fix=Fix.MANUAL,
            )
            continue
        yield device_match(document, string, node.start_byte, node.end_byte, node)


def _remark(document: PythonDocument, string: DeviceString) -> str | None:
    """What to say of an argument that is no device to compute on."""
    if string.role is not Role.ARGUMENT:
        return None
    call = string.holder
    function = call.child_by_field_name("function")
    name = document.slice(function).rpartition(".")[2] if function is not None else ""
    if _REGISTERS.match(name):
        return _("Registers code for CUDA: on a Mac it is there and not called.")
    if name == "param" and b"marks" in (call.text or b""):
        return _("One case of a test, with marks of its own that say where it runs.")
    return None


RULE = Rule(
    code="D105",
    name="device-argument",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A call is given CUDA as its device."),
    why=N_(
        'A tensor made there raises "Torch not compiled with CUDA enabled" on a Mac; a library '
        "that takes the name refuses it in its own words."
    ),
    advice=N_("Pass the device that the code around it already has."),
    source="https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                mask = torch.zeros(4, device="cuda")
                state = torch.load("last.pt", map_location='cuda:0')
                """,
            finds=('device="cuda"', "map_location='cuda:0'"),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                mask = torch.zeros(4, device=device)
                state = torch.load("last.pt", map_location=device)
                """,
        ),
        Example(
            text="""\
                import torch
                scores = evaluate(model, device="cuda")
                """,
            finds=('device="cuda"',),
            after="""\
                import torch
                scores = evaluate(model, device="cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                scores = evaluate(model, "cuda:1")
                """,
            finds=('"cuda:1"',),
        ),
        Example(
            text="""\
                import torch
                parser.add_argument("--device", default="cuda")
                parser.add_argument("--impl", default="cuda")
                """,
            finds=('default="cuda"', 'default="cuda"'),
            after="""\
                import torch
                parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                parser.add_argument("--impl", default="cuda")
                """,
        ),
        Example(
            text="""fabric = Fabric(accelerator="cuda", devices=2)\n""",
            finds=('accelerator="cuda"',),
        ),
        Example(text="""import torch\ntorch.load("last.pt", map_location={"cuda:0": "cpu"})\n"""),
        Example(text="""print("cuda")\nlogger.info("cuda")\nos.environ.get("cuda")\n"""),
        Example(
            text="""import torch\ntorch.zeros(1, device="cpu")\ntorch.zeros(1, device=device)\n"""
        ),
    ),
)
