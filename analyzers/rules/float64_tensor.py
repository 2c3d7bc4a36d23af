"""D120: float64 on its way to a device."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, keyword, method_of, passed, positional
from analyzers.devices import calls_of, device_strings
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.reach import moves, reaches_device, settled, under_condition
from analyzers.rule import WHOLE, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_NUMPY64 = re.compile(
    rb"""\bastype\(\s*(?:(?:np|numpy)\s*\.\s*(?:float64|double)|float|["'](?:float64|double|f8)["'])\s*[,)]"""
    rb"""|\bdtype\s*=\s*(?:(?:np|numpy)\s*\.\s*(?:float64|double)|["'](?:float64|double|f8)["'])"""
)
#: A dtype that is given; one that is compared, or the last of a choice, is none.
_OF_TORCH = re.compile(rb"(?<!\belse )(?<![!=]= )\b(?!(?:np|numpy|jnp|tf)\.)[A-Za-z_]\w*\.\Z")
_OF_NUMPY = re.compile(rb"(?:\b(?:np|numpy)\s*\.\s*|[\"'])\Z")
_IMPORTED = re.compile(rb"\bimport\b|^[ \t]*\Z", re.MULTILINE)
_NOT_CHOSEN = re.compile(rb"(?!\w| if\b)")
_OPTION = re.compile(rb"(?i)double|float64|fp64|f64|precision")
_FROM_NUMPY = ("torch.from_numpy", "torch.tensor", "torch.as_tensor")


def find(document: PythonDocument) -> Iterator[Match]:
    """Tensors and models that become float64 and are on a device, or go there."""
    message = _(
        "MPS has no float64: this raises a TypeError on a Mac. Cast to float32 before the move "
        "there, or compute this part on the CPU, and leave the CUDA path in float64."
    )
    for call, _receiver, _name in calls_of(document, "double"):
        if not passed(call) and reaches_device(document, call) and not settled(document, call):
            yield _match(document, call, call, message)
    for name in ("torch.float64", "torch.double"):
        for reference in document.references(name):
            place = _dtype_of(document, reference.node)
            if place is None:
                continue
            call, shown = place
            if reaches_device(document, call) and not settled(document, call):
                yield _match(document, call, shown, message)
    yield from _defaults(document)
    yield from _from_numpy(document, message)


def _match(document: PythonDocument, call: Node, shown: Node, message: str) -> Match:
    """The place, milder where the program has an option for the precision."""
    asked = under_condition(document, call, _OPTION)
    severity = Severity.DEGRADES if asked else None
    return Match(shown.start_byte, shown.end_byte, message, severity=severity)


def _dtype_of(document: PythonDocument, node: Node) -> tuple[Node, Node] | None:
    """The call that is given ``node`` as the dtype of what it makes, and what to show of it."""
    parent = node.parent
    if parent is None:
        return None
    if parent.type == "keyword_argument":
        label = parent.child_by_field_name("name")
        call = enclosing(parent, ("call",))
        if call is None or label is None or label.text != b"dtype":
            return None
        if method_of(document, call) in ("finfo", "sum", "mean", "cumsum", "softmax", "autocast"):
            return None
        return call, call if method_of(document, call) == "to" else parent
    if parent.type == "argument_list" and parent.parent is not None:
        call = parent.parent
        if method_of(document, call) in ("to", "type") and keyword(call, "dtype") is None:
            return call, call
    return None


def _defaults(document: PythonDocument) -> Iterator[Match]:
    """``torch.set_default_dtype(torch.float64)`` in a file that has to do with devices."""
    for name, wanted in (
        ("torch.set_default_dtype", ("torch.float64", "torch.double")),
        ("torch.set_default_tensor_type", ("torch.DoubleTensor",)),
    ):
        for reference in document.references(name):
            call = call_of(reference.node)
            value = positional(call, 0) if call is not None else None
            if call is None or value is None or settled(document, call):
                continue
            if document.dotted(value) not in wanted and not _is_double_name(document, value):
                continue
            if moves(document) or device_strings(document):
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "Every tensor that is made without a dtype becomes float64, which MPS does "
                        "not have: the first one on the device raises a TypeError on a Mac."
                    ),
                )


def _is_double_name(document: PythonDocument, value: Node) -> bool:
    return document.slice(value).strip("'\"") == "torch.DoubleTensor"


def _from_numpy(document: PythonDocument, message: str) -> Iterator[Match]:
    """Arrays that are made float64 by name, made tensors, and moved."""
    if not document.says(_NUMPY64):
        return
    for name in _FROM_NUMPY:
        for reference in document.references(name):
            call = call_of(reference.node)
            array = positional(call, 0) if call is not None else None
            if call is None or array is None or keyword(call, "dtype") is not None:
                continue
            if not _is_numpy64(document, array) or settled(document, call):
                continue
            if reaches_device(document, call):
                yield Match(call.start_byte, call.end_byte, message)


def _is_numpy64(document: PythonDocument, array: Node) -> bool:
    text = document.text[array.start_byte : array.end_byte]
    if array.type != "identifier":
        ends = [match.end() for match in _NUMPY64.finditer(text)]
        return bool(ends) and b".astype(" not in text[ends[-1] :]
    scope = enclosing(array, ("function_definition", "module")) or document.root
    before = document.text[max(scope.start_byte, array.start_byte - 20_000) : array.start_byte]
    assigned = re.compile(rb"(?m)^[ \t]*" + re.escape(text) + rb"[ \t]*=(?!=)(.{0,400})")
    values = [match[1] for match in assigned.finditer(before)]
    return bool(values) and _NUMPY64.search(values[-1]) is not None


def _triggers() -> Iterator[Word]:
    yield Word(b"float64", before=_OF_TORCH, after=_NOT_CHOSEN)
    yield Word(b"float64", before=_IMPORTED)
    yield Word(b".double", after=_NOT_CHOSEN)
    yield Word(b"DoubleTensor")
    arrays = (b"from_numpy", b"tensor")
    yield Word(b"float64", before=_OF_NUMPY, after=WHOLE, beside=arrays)
    yield Word(b"astype(float", after=WHOLE, beside=arrays)


RULE = Rule(
    code="D120",
    name="float64-tensor",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=tuple(_triggers()),
    what=N_("A tensor or a model becomes float64 and is on a device, or goes there."),
    why=N_(
        "The MPS framework has no float64, in any release. The cast must come before the move: "
        ".to(device).float() fails on .to(device)."
    ),
    advice=N_(
        "Off CUDA, cast to float32 before the move, or where the precision matters compute on the "
        "CPU in float64 and move the float32 result. Do not lower the precision on CUDA."
    ),
    source="https://docs.pytorch.org/docs/stable/mps.html; https://github.com/pytorch/pytorch/issues/77764",
    find=find,
    examples=(
        Example(
            text="""\
                import numpy as np
                import torch
                def load(path, device):
                    volume = np.load(path).astype(np.float64)
                    return torch.tensor(volume).to(device)
                def table(positions, width):
                    scale = torch.arange(0, width, 2, dtype=torch.float64, device=positions.device)
                    return positions.double() / scale
                def build(device):
                    net = Net().double()
                    net.to(device)
                    return net, torch.zeros(2, dtype=torch.double).to(device)
                """,
            finds=(
                "torch.tensor(volume)",
                "dtype=torch.float64",
                "positions.double()",
                "Net().double()",
                "dtype=torch.double",
            ),
        ),
        Example(
            text="""\
                import torch
                torch.set_default_dtype(torch.float64)
                x = torch.zeros(2).to("cuda")
                class Net(torch.nn.Module):
                    def forward(self, x):
                        return x[..., 0].to(torch.float64)
                """,
            finds=("torch.set_default_dtype(torch.float64)", "x[..., 0].to(torch.float64)"),
        ),
        Example(
            text="""\
                import numpy as np
                rows = np.zeros(4, dtype=np.float64)
                def mean(values):
                    return values.astype(np.float64).mean()
                """,
        ),
        Example(
            text="""\
                import torch
                def table(p):
                    q = p.to("cpu", torch.float64) if p.device.type == "mps" else p.double()
                    return q
                def metric(pred):
                    pred = pred.detach().cpu()
                    return pred.double().mean(), torch.tensor([0.5], dtype=torch.float64)
                """,
        ),
        Example(
            text="""\
                import torch
                def check(x, device):
                    assert x.dtype == torch.float64
                    return x.cpu().double(), torch.ones(2, dtype=torch.float64, device="cpu")
                """,
        ),
        Example(
            text="""import torch\ntorch.set_default_dtype(torch.float64)\nprint(torch.ones(1))\n"""
        ),
        Example(
            text="""\
                import torch
                def check(x):
                    device = torch.device("cpu")
                    y = torch.zeros(3, dtype=torch.float64, device=device)
                    return x.to(dtype=torch.double, device=device) + y
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    x = torch.ones(2).cuda().double()
                """,
        ),
    ),
)
