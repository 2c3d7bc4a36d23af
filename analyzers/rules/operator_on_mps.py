"""K220: PyTorch operators that MPS lacks, or has since a late release."""

import re
from collections.abc import Iterator
from functools import cache

from tree_sitter import Node

from analyzers.arguments import argument, call_of, is_true, keyword, passed, string_of
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from analyzers.operators import INTERPOLATION, METHODS, OPERATORS, Operator
from analyzers.reach import is_cpu, settled
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_INTERPOLATIONS = (
    "torch.nn.functional.interpolate",
    "torch.nn.functional.upsample",
    "torch.nn.Upsample",
)
_POOL = ("torch.nn.functional.adaptive_avg_pool3d", "torch.nn.AdaptiveAvgPool3d")
_UNIQUE = "torch.unique"
#: The last parts of all names, and those that are words of any program.
_LAST = sorted(
    {name.rpartition(".")[2].encode() for name in (*OPERATORS, *_INTERPOLATIONS, *_POOL, _UNIQUE)}
)
#: Names that only ``torch`` itself has, under whatever name it was imported.
_OF_TORCH = frozenset(_LAST) - {
    name.rpartition(".")[2].encode()
    for name in (*OPERATORS, *_INTERPOLATIONS, *_POOL)
    if name.count(".") > 1
}
_MODES = (b"bicubic", b"trilinear", b"antialias")
_IN_IMPORT = re.compile(rb"\bimport\b|^[\w, \t]+[,)\\]?\s*$", re.MULTILINE)
_ONE = re.compile(r"1|[(\[]\s*1\s*,\s*1\s*,\s*1\s*,?\s*[)\]]")


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls of operators whose state on MPS depends on the release, or that have none."""
    calls = list(_calls(document))
    needs = [_release(one.since) for _call, _name, one in calls if not one.on_cpu]
    newest = max(needs) if needs and all(needs) else ()
    for call, name, operator in calls:
        yield _match(call, name, operator, newest)


def _release(since: str) -> tuple[int, ...]:
    return tuple(int(part) for part in since.split(".")) if since else ()


def _calls(document: PythonDocument) -> Iterator[tuple[Node, str, Operator]]:
    """The calls, what they are called, and what MPS has of them."""
    for _found, node in document.hits(_names()):
        if node.type != "identifier":
            continue
        function = node
        parent = node.parent
        if parent is not None and parent.type == "attribute":
            if parent.child_by_field_name("attribute") != node:
                continue
            function = parent
        call = call_of(function)
        name = document.dotted(function) if call is not None else None
        if call is None or name is None or not name.startswith("torch"):
            continue
        operator = OPERATORS.get(name) or _by_arguments(document, call, name)
        if operator is not None and not _elsewhere(document, call):
            yield call, name, operator
    for method, operator in METHODS.items():
        if method.encode() not in document.text:
            continue
        for call, receiver, _name in calls_of(document, method):
            if document.dotted(receiver) is None and not _elsewhere(document, call):
                yield call, f"Tensor.{method}", operator


@cache
def _names() -> re.Pattern[bytes]:
    """The last parts of all names, as they are called."""
    return re.compile(rb"\b(?:" + b"|".join(_LAST) + rb")(?=\s*\()")


def _called(name: bytes) -> Word:
    """The call of a name; what is PyTorch's alone is called on a module, which is a plain name."""
    word = b"." + name + b"("
    if name.decode() in ("interpolate", "upsample", "Upsample"):
        return Word(word, beside=_MODES)
    if name in _OF_TORCH:
        return Word(word, re.compile(rb"(?<![\w.)\]])[A-Za-z_]\w*" + re.escape(word)))
    return Word(word)


def _by_arguments(document: PythonDocument, call: Node, name: str) -> Operator | None:
    if name in _INTERPOLATIONS:
        mode = string_of(document, argument(call, "mode", 2 if name.endswith("Upsample") else 3))
        return INTERPOLATION.get((mode or "", is_true(keyword(call, "antialias"))))
    if name in _POOL:
        size = argument(call, "output_size", 0 if name.endswith("Pool3d") else 1)
        if size is not None and _ONE.fullmatch(document.slice(size)) is None:
            return Operator() if size.type in ("integer", "tuple", "list") else None
    if name == _UNIQUE:
        return Operator("2.10") if keyword(call, "dim") is not None else None
    return None


def _elsewhere(document: PythonDocument, call: Node) -> bool:
    """Whether the call runs on CUDA alone, or on the CPU by what it is given."""
    given = passed(call)
    if given and b".cpu()" in document.text[given[0].start_byte : given[0].end_byte]:
        return True
    if given and _is_made_on_cpu(document, given[0]):
        return True
    if b".cpu()" in document.text[call.start_byte : call.start_byte + 200].split(b"\n")[0]:
        return True
    return is_cpu(document, keyword(call, "device")) or settled(document, call)


def _is_made_on_cpu(document: PythonDocument, value: Node) -> bool:
    """Whether a value is made by PyTorch in place, from Python's own values and on no device."""
    if value.type != "call" or keyword(value, "device") is not None:
        return False
    function = value.child_by_field_name("function")
    name = document.dotted(function) if function is not None else None
    return name in ("torch.tensor", "torch.from_numpy", "torch.Tensor")


def _match(call: Node, name: str, operator: Operator, newest: tuple[int, ...]) -> Match:
    if operator.on_cpu:
        message = _(
            "Before PyTorch {since} {name} runs on the CPU by itself when its tensor is on MPS: "
            "right, but with a copy there and back each time, and one warning a process."
        )
    elif operator.since:
        message = _(
            "PyTorch has {name} for MPS from {since} on. Before, it raises NotImplementedError "
            "there, or is a copy to the CPU and back with PYTORCH_ENABLE_MPS_FALLBACK=1."
        )
    else:
        message = _(
            "PyTorch has no {name} for MPS up to 2.14: it raises NotImplementedError there, or is a "
            "copy to the CPU and back with PYTORCH_ENABLE_MPS_FALLBACK=1. Compute this step on the "
            "CPU, or by other operators."
        )
    message = message.format(name=name, since=operator.since)
    if is_true(keyword(call, "antialias")):
        message += " " + _("Without antialias it runs, and gives other numbers.")
    elif name.startswith(("torch.fft.", "torch.stft", "torch.istft")):
        message += " " + _("It asks for macOS 14 as well, and never takes complex128.")
    elif "onvTranspose3d" in name or "conv_transpose3d" in name:
        message += " " + _("float16 and bfloat16 are refused there as well.")
    if operator.since and not operator.on_cpu and newest > _release(operator.since):
        message += " " + _("All that this file uses is there from PyTorch {newest} on.").format(
            newest=".".join(map(str, newest))
        )
    return Match(
        call.start_byte,
        call.end_byte,
        message,
        severity=Severity.DEGRADES if operator.on_cpu else None,
        until=operator.since or None,
    )


RULE = Rule(
    code="K220",
    name="operator-on-mps",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        *(_called(name) for name in _LAST),
        *(b"import " + name for name in _LAST),
        *(
            Word(b", " + name + after, _IN_IMPORT)
            for name in _LAST
            for after in (b",", b"\n", b")")
        ),
        *(b"." + name.encode() + b"(" for name in METHODS),
    ),
    what=N_("A PyTorch operator is used that MPS does not have, or got in a late release."),
    why=N_(
        "Where an operator has no kernel for MPS, the program stops, unless the CPU fallback is on: "
        "then it copies data to the CPU and back, with one warning a process."
    ),
    advice=N_(
        "Raise the lowest PyTorch to the release that has it, or compute this step on the CPU and "
        "move the result back."
    ),
    source=(
        "native_functions.yaml and common_mps.py in the macOS arm64 wheels 2.3.1 to 2.14.1, read; "
        "not run on a Mac"
    ),
    since="named in each message",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                import torch.nn.functional as F
                from torch import nn
                from torchvision.ops import nms
                net = nn.Sequential(nn.Conv3d(1, 8, 3), nn.MaxPool3d(2), nn.AdaptiveAvgPool3d((2, 2, 2)))
                loss = F.ctc_loss(logits, targets, lengths, sizes)
                y = F.interpolate(x, size=(560, 560), mode="bilinear", antialias=True)
                u, s, v = torch.linalg.svd(a)
                w = torch.linalg.eig(a)
                keep = nms(boxes, scores, 0.7)
                small = x.kthvalue(3)
                """,
            finds=(
                "nn.Conv3d(1, 8, 3)",
                "nn.MaxPool3d(2)",
                "nn.AdaptiveAvgPool3d((2, 2, 2))",
                "F.ctc_loss(logits, targets, lengths, sizes)",
                'F.interpolate(x, size=(560, 560), mode="bilinear", antialias=True)',
                "torch.linalg.svd(a)",
                "torch.linalg.eig(a)",
                "nms(boxes, scores, 0.7)",
                "x.kthvalue(3)",
            ),
        ),
        Example(text="""import numpy as np\nimport torch\nw, v = np.linalg.eig(a)\n"""),
        Example(text="""import torch\nw = torch.linalg.eig(a.cpu())\n"""),
        Example(text="""import torch\nm = torch.mode(torch.tensor(labels))\n"""),
        Example(text="""import torch\npool = torch.nn.AdaptiveAvgPool3d((1, 1, 1))\n"""),
        Example(
            text="""import torch.nn.functional as F\ny = F.interpolate(x, size=8, mode="bilinear")\n"""
        ),
        Example(text="""import torch\nm = rows.mode()\nt = table.take([1, 2])\n"""),
        Example(
            text="""import torch\nclass CTCLoss(torch.nn.Module):\n    pass\nloss = CTCLoss()\n"""
        ),
        Example(
            text="""\
                import torch
                if x.is_cuda:
                    w = torch.linalg.eig(x)
                """,
        ),
    ),
)
