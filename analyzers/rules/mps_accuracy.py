"""D145: operators that ran on MPS and gave wrong results in some releases."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import (
    argument,
    call_of,
    is_true,
    keyword,
    method_of,
    number_of,
    positional,
)
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_HALF = re.compile(
    rb"""\btorch\.(?:b?float16|half)\b|\.half\(\)|\bautocast\(|["'](?:b?float16|fp16|bf16)["']"""
)
_ON_MPS = re.compile(rb"""\bdevice ?= ?["']mps["']|\.to\( ?["']mps["']""")
_CAUSAL = (b"is_causal=True", b"is_causal = True")
#: What :data:`_ON_MPS` has one of.
_NAMES_MPS = tuple(
    before + quote + b"mps"
    for before in (b"device=", b"device= ", b"device =", b"device = ", b".to(", b".to( ")
    for quote in (b"'", b'"')
)
_ATTENTION = "torch.nn.functional.scaled_dot_product_attention"


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls that match a reported silent fault."""
    for reference in document.references(_ATTENTION):
        call = call_of(reference.node)
        if call is None or settled(document, call):
            continue
        if is_true(keyword(call, "is_causal")) and document.says(_HALF):
            yield _match(
                call,
                _(
                    "In half precision on MPS, is_causal=True was reported in 2026 to let later keys "
                    "leak into earlier outputs in some releases. Change a future key: the earlier "
                    "outputs must stay. Where they do not, pass an explicit mask."
                ),
            )
        elif argument(call, "attn_mask", 3) is not None and _on_mps_by_name(document, call):
            yield _match(
                call,
                _(
                    "Rows whose mask is False throughout give NaN on one back end and 0 on another. "
                    "Compare rows that have a key alone, or make the others harmless."
                ),
            )
    yield from _recurrent(document)
    yield from _parameters(document)
    yield from _decompositions(document)


def _match(call: Node, message: str, since: str | None = None, until: str | None = None) -> Match:
    return Match(call.start_byte, call.end_byte, message, since=since, until=until)


def _on_mps_by_name(document: PythonDocument, node: Node) -> bool:
    scope = enclosing(node, ("function_definition", "module")) or document.root
    return document.remember(
        ("on MPS by name", scope.start_byte, scope.end_byte),
        lambda: _ON_MPS.search(document.text, scope.start_byte, scope.end_byte) is not None,
    )


def _recurrent(document: PythonDocument) -> Iterator[Match]:
    for reference in document.references("torch.nn.LSTM"):
        call = call_of(reference.node)
        if call is None:
            continue
        layers, dropout = argument(call, "num_layers", 2), keyword(call, "dropout")
        if (number_of(document, layers) or 0) < 2 or dropout is None or dropout.type != "float":
            continue
        if document.slice(dropout).strip("0._") == "":
            continue
        yield _match(
            call,
            _(
                "Two or more layers with dropout on MPS: several silent faults were reported in "
                "2026, a mask that is not applied and gradients without it. Compare gradients with "
                "the CPU, or put Dropout between LSTMs of one layer, which renames the weights."
            ),
        )


def _parameters(document: PythonDocument) -> Iterator[Match]:
    """Parameters made of a transposed tensor, whose memory is not contiguous."""
    for name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
        for reference in document.references(name):
            call = call_of(reference.node)
            value = positional(call, 0) if call is not None else None
            if call is None or value is None:
                continue
            turned = value.type == "call" and method_of(document, value) in (
                "t",
                "transpose",
                "permute",
            )
            turned = turned or (value.type == "attribute" and document.slice(value).endswith(".T"))
            if turned:
                yield _match(
                    call,
                    _(
                        "Before PyTorch 2.4 an optimizer step on MPS leaves such a parameter as it "
                        "is, without an error: its memory is not contiguous. Add .contiguous()."
                    ),
                    until="2.4",
                )


def _decompositions(document: PythonDocument) -> Iterator[Match]:
    for name in ("torch.linalg.svd", "torch.linalg.eigh", "torch.svd"):
        for reference in document.references(name):
            call = call_of(reference.node)
            value = positional(call, 0) if call is not None else None
            if call is None or value is None or settled(document, call):
                continue
            if b".cpu()" in document.text[value.start_byte : value.end_byte]:
                continue
            yield _match(
                call,
                _(
                    "PyTorch 2.14 brought kernels of its own for MPS, which were reported to be "
                    "inaccurate for matrices that are nearly singular. Check the residual, or "
                    "compute this on the CPU."
                ),
                since="2.14",
            )


RULE = Rule(
    code="D145",
    name="mps-accuracy",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        Word(b"scaled_dot_product_attention", beside=_CAUSAL),
        Word(b"scaled_dot_product_attention", beside=_NAMES_MPS),
        Word(b"LSTM(", beside=(b"dropout",)),
        Word(b".t())", beside=(b"Parameter",)),
        Word(b".T)", beside=(b"Parameter",)),
        Word(b".mT)", beside=(b"Parameter",)),
        b"svd(",
        b".eigh(",
        b"import eigh",
    ),
    what=N_("A call that gave wrong results on MPS in some releases, without an error."),
    why=N_(
        "That a program runs and its loss falls does not show that MPS computes what CUDA did. These "
        "faults were found by comparing."
    ),
    advice=N_("Compare this part with the CPU on the release that you use, forward and backward."),
    source=(
        "https://github.com/pytorch/pytorch/issues/195910, 173640, 180744, 190056, 167515; "
        "https://github.com/pytorch/pytorch/pull/124442"
    ),
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                import torch.nn.functional as F
                def attend(q, k, v):
                    with torch.autocast(device.type, dtype=torch.float16):
                        return F.scaled_dot_product_attention(q, k, v, is_causal=True)
                lstm = torch.nn.LSTM(8, 8, num_layers=2, dropout=0.3)
                weight = torch.nn.Parameter(torch.randn(6, 4).t())
                u, s, v = torch.linalg.svd(a)
                """,
            finds=(
                "F.scaled_dot_product_attention(q, k, v, is_causal=True)",
                "torch.nn.LSTM(8, 8, num_layers=2, dropout=0.3)",
                "torch.nn.Parameter(torch.randn(6, 4).t())",
                "torch.linalg.svd(a)",
            ),
        ),
        Example(
            text="""\
                import torch
                import torch.nn.functional as F
                mask = torch.tensor([[[[False], [True]]]], device="mps")
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
                """,
            finds=("F.scaled_dot_product_attention(q, k, v, attn_mask=mask)",),
        ),
        Example(
            text="""import torch.nn.functional as F\nout = F.scaled_dot_product_attention(q, k, v, is_causal=True)\n"""
        ),
        Example(
            text="""import torch.nn.functional as F\nout = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)\n"""
        ),
        Example(text="""import torch\nlstm = torch.nn.LSTM(8, 8, num_layers=1, dropout=0.3)\n"""),
        Example(text="""import torch\nlstm = torch.nn.LSTM(8, 8, num_layers=2, dropout=0.0)\n"""),
        Example(
            text="""import torch\nw = torch.nn.Parameter(torch.randn(6, 4).t().contiguous())\n"""
        ),
        Example(text="""import torch\nu, s, v = torch.linalg.svd(a.cpu())\n"""),
        Example(text="""import numpy as np\nu, s, v = np.linalg.svd(a)\n"""),
    ),
)
