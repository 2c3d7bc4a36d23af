"""D103: ``.cuda()`` on a tensor or module."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.cuda_only import handed_over
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument, nth
from analyzers.guards import Standing, is_on_request, standing
from analyzers.messages import (
    handled_message,
    is_test_file,
    requested_message,
    skipped_message,
)
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Modules of ``torch.nn`` without parameters and buffers: each was made in PyTorch 2.13.0, asked
#: for both, and its ``.cuda()`` called without CUDA.
_EMPTY = re.compile(
    r"(?:ReLU6?|LeakyReLU|[CES]E?LU|GELU|SiLU|Mish|GLU|(?:Log)?Sigmoid|Tanh|Softplus|Softsign|"
    r"Hard(?:tanh|swish|sigmoid)|(?:Log)?Softmax|Softmax2d|Softmin|Threshold|"
    r"(?:Alpha)?Dropout|Dropout[123]d|Identity|(?:Unf|F)latten|(?:Unf|F)old|"
    r"(?:Max|Avg|AdaptiveMax|AdaptiveAvg)Pool[123]d|Upsample|Upsampling(?:Nearest|Bilinear)2d|"
    r"Pixel(?:Uns|S)huffle|(?:Zero|Reflection|Replication|Constant)Pad2d|"
    r"CosineSimilarity|PairwiseDistance)\Z"
)
_EMPTY_LOSS = re.compile(
    r"(?:CrossEntropy|NLL|BCE|BCEWithLogits|MSE|L1|SmoothL1|Huber|KLDiv|PoissonNLL|GaussianNLL|CTC|"
    r"MarginRanking|HingeEmbedding|CosineEmbedding|TripletMargin|SoftMargin|Multi(?:Label)?Margin|"
    r"MultiLabelSoftMargin)Loss\Z"
)


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls of a method named ``cuda``."""
    for call, receiver, name in calls_of(document, "cuda"):
        start = call.start_byte
        if receiver.start_point.row != receiver.end_point.row:
            start = name.start_byte
        found = standing(document, call)
        if found is Standing.HANDLED:
            message, end = handled_message(), call.end_byte
            yield Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
        elif found is Standing.SKIPPED or (found is Standing.GUARDED and is_test_file(document)):
            message, end = skipped_message(), call.end_byte
            yield Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
        elif found is Standing.GUARDED:
            yield Match(
                start,
                call.end_byte,
                requested_message()
                if is_on_request(document, call)
                else _(
                    "Runs only where CUDA is available: on a Mac this stays on the CPU "
                    "instead of moving to the Apple GPU."
                ),
                severity=Severity.DEGRADES,
                fix=Fix.REVIEW,
            )
        elif _holds_nothing(document, receiver):
            yield Match(
                start,
                call.end_byte,
                _(
                    "This module has no parameters and no buffers: there is nothing to move, and "
                    "nothing fails without CUDA. The call can go."
                ),
                severity=Severity.COSMETIC,
                fix=Fix.MANUAL,
            )
        elif (number := _number(document, call)) > 0:
            yield Match(
                start,
                call.end_byte,
                _(
                    "CUDA device number {index} has no counterpart on a Mac, which has exactly one "
                    "MPS device; look at what the other card is for."
                ).format(index=number),
                fix=Fix.REVIEW,
            )
        elif (reason := handed_over(document, call)) is not None:
            yield Match(start, call.end_byte, reason, fix=Fix.NONE)
        else:
            yield Match(
                start,
                call.end_byte,
                _(
                    'On a Mac this raises "Torch not compiled with CUDA enabled", unless it is '
                    "a module without parameters and buffers."
                ),
            )


def _number(document: PythonDocument, call: Node) -> int:
    """The number in ``x.cuda(1)``; nought where there is none in words."""
    arguments = call.child_by_field_name("arguments")
    first = nth(arguments, 0) if arguments is not None else None
    if first is None or first.type != "integer":
        return 0
    text = document.slice(first)
    return int(text) if text.isdigit() and len(text) < 4 else 0


def _holds_nothing(document: PythonDocument, receiver: Node) -> bool:
    """Whether a module is made on the spot that has neither parameters nor buffers."""
    function = receiver.child_by_field_name("function") if receiver.type == "call" else None
    arguments = receiver.child_by_field_name("arguments")
    name = document.dotted(function) if function is not None else None
    if name is None or arguments is None or not name.startswith("torch.nn."):
        return False
    kind = name.rpartition(".")[2]
    if _EMPTY.match(kind):
        return True
    # A loss keeps the weights that it is given, by name or in the first place.
    return _EMPTY_LOSS.match(kind) is not None and not any(
        argument.type != "keyword_argument"
        or (argument.child_by_field_name("name") or argument).text in (b"weight", b"pos_weight")
        for argument in arguments.named_children
        if argument.type != "comment"
    )


RULE = Rule(
    code="D103",
    name="cuda-method",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(b"cuda",),
    what=N_("A tensor or module is moved with .cuda(), which names CUDA and nothing else."),
    why=N_(
        'A PyTorch built without CUDA raises "Torch not compiled with CUDA enabled". '
        ".to(device) does the same on a CUDA machine and works on any other."
    ),
    advice=N_(
        "Use .to(device) with the device that the code around it already has. A module should leave "
        "the choice to its caller; inside it, the device of a parameter or an input is at hand."
    ),
    source="https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html",
    find=find,
    examples=(
        Example(
            text="""\
                import nvdiffrast.torch as dr
                rast = dr.rasterize(context, points.cuda(), faces, resolution=[64, 64])
                """,
            finds=("points.cuda()",),
            after="""\
                import nvdiffrast.torch as dr
                rast = dr.rasterize(context, points.cuda(), faces, resolution=[64, 64])
                """,
        ),
        Example(
            text="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                model = build().cuda()
                batch = batch.cuda(non_blocking=True)
                """,
            finds=("build().cuda()", "batch.cuda(non_blocking=True)"),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                model = build().to(device)
                batch = batch.to(device, non_blocking=True)
                """,
        ),
        Example(
            text="""\
                import torch
                x = torch.ones(3).cuda()
                """,
            finds=("torch.ones(3).cuda()",),
            after="""\
                import torch
                x = torch.ones(3).to("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    model.cuda()
                if torch.cuda.is_available() and flag:
                    model.cuda()  # all of it
                    x, y = x.cuda(), y.cuda(non_blocking=True)
                count = 1
                if torch.cuda.is_available():
                    y.cuda()
                    print("on the card")
                """,
            finds=(
                "model.cuda()",
                "model.cuda()",
                "x.cuda()",
                "y.cuda(non_blocking=True)",
                "y.cuda()",
            ),
            after="""\
                import torch
                if torch.cuda.is_available():
                    model.cuda()
                elif torch.backends.mps.is_available():
                    model.to("mps")
                if torch.cuda.is_available() and flag:
                    model.cuda()  # all of it
                    x, y = x.cuda(), y.cuda(non_blocking=True)
                elif torch.backends.mps.is_available() and flag:
                    model.to("mps")  # all of it
                    x, y = x.to("mps"), y.to("mps")
                count = 1
                if torch.cuda.is_available():
                    y.cuda()
                    print("on the card")
                """,
        ),
        Example(
            text="""\
                import torch
                def step(args, rank, device, thing):
                    x = torch.ones(3).cuda(args.gpu, non_blocking=True)
                    y = x.cuda(rank)
                    z = x.cuda(device)
                    return x.cuda(thing), x.cuda(*rest), x.cuda(async_=True)
                """,
            finds=(
                "torch.ones(3).cuda(args.gpu, non_blocking=True)",
                "x.cuda(rank)",
                "x.cuda(device)",
                "x.cuda(thing)",
                "x.cuda(*rest)",
                "x.cuda(async_=True)",
            ),
            after="""\
                import torch
                def step(args, rank, device, thing):
                    x = torch.ones(3).to(torch.device("cuda", args.gpu) if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu", non_blocking=True)
                    y = x.to(torch.device("cuda", rank) if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                    z = x.to(device)
                    return x.cuda(thing), x.cuda(*rest), x.cuda(async_=True)
                """,
        ),
        Example(
            text="""\
                import pytest
                pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
                def test_here():
                    model.cuda()
                """,
            finds=("model.cuda()",),
        ),
        Example(
            path="tests/test_ops.py",
            text="""\
                import torch
                def test_both():
                    if torch.cuda.is_available():
                        check(op(x.cuda()))
                """,
            finds=("x.cuda()",),
        ),
        Example(
            text="""\
                import cupy as cp
                import numba
                cp.cuda.Device(0).use()
                stream = cp.cuda.Stream()
                kernel = numba.cuda.jit(f)
                """,
        ),
        Example(
            text="""\
                import torch.nn as nn
                act = nn.ReLU().cuda()
                loss = nn.CrossEntropyLoss().cuda()
                x = x.cuda(1)
                """,
            finds=("nn.ReLU().cuda()", "nn.CrossEntropyLoss().cuda()", "x.cuda(1)"),
            after="""\
                import torch.nn as nn
                import torch
                act = nn.ReLU().cuda()
                loss = nn.CrossEntropyLoss().cuda()
                x = x.to("cuda:1" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(text="""# model.cuda()\n"""),
        Example(text="""note = "call model.cuda() first"\n"""),
        Example(text="""import torch\ntorch.cuda.is_available\nmodel.cudas()\n"""),
    ),
)
