"""D107: functions of ``torch.cuda``."""

import re
from collections.abc import Iterator

from analyzers.documents.python import PythonDocument, enclosing, under
from analyzers.guards import AVAILABLE, Standing, standing
from analyzers.messages import handled_message
from analyzers.refusals import refuses
from analyzers.rule import Example, Match, Rule
from analyzers.torch_cuda import HARMLESS, RAISES, is_tensor_type
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TEXT = re.compile(rb"""["']torch\.cuda\.(?!\w*Tensor["'])[\w.]+["']""")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.cuda`` that no narrower rule speaks of."""
    yield from _in_texts(document)
    for reference in document.references("torch.cuda"):
        name = reference.name
        if name == AVAILABLE or under(name, "torch.cuda.amp") or is_tensor_type(name):
            continue
        node = reference.node
        short = name.removeprefix("torch.cuda").lstrip(".")
        call = node.parent
        called = call is not None and call.type == "call"
        match_node = call if called and call is not None else node
        found = standing(document, node)
        if found is not Standing.BARE:
            message = (
                handled_message()
                if found is Standing.HANDLED
                else _("Runs only where CUDA is available, and is skipped on a Mac.")
            )
            yield Match(
                match_node.start_byte,
                match_node.end_byte,
                message,
                severity=Severity.COSMETIC,
                fix=Fix.NONE,
            )
        elif short == "device_count" and refuses(document, match_node):
            message = _("The program refuses to go on without CUDA.")
            yield Match(match_node.start_byte, match_node.end_byte, message, fix=Fix.MANUAL)
        elif short in RAISES:
            yield Match(
                match_node.start_byte,
                match_node.end_byte,
                _("In a PyTorch without CUDA {name} raises {error}.").format(
                    name=name, error=RAISES[short]
                ),
            )
        elif short in HARMLESS:
            yield Match(
                match_node.start_byte,
                match_node.end_byte,
                _(
                    "In a PyTorch without CUDA {name} answers without an error and does nothing; "
                    "what it did for CUDA is not done for MPS."
                ).format(name=name),
                severity=Severity.COSMETIC,
                fix=Fix.MANUAL,
            )
        else:
            yield Match(
                match_node.start_byte,
                match_node.end_byte,
                _("{name} belongs to CUDA; look at what it is used for.").format(name=name),
                severity=Severity.DEGRADES if short or called else Severity.COSMETIC,
                fix=Fix.MANUAL,
            )


def _in_texts(document: PythonDocument) -> Iterator[Match]:
    """Functions of ``torch.cuda`` that a test replaces, or that are looked up, by their name."""
    for match, node in document.hits(_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or (string.start_byte, string.end_byte) != match.span():
            continue
        if string.parent is not None and string.parent.type == "argument_list":
            message = _("Names a function for CUDA in a text, as tests do to replace it.")
            yield Match(*match.span(), message, severity=Severity.COSMETIC, fix=Fix.NONE)


RULE = Rule(
    code="D107",
    name="cuda-call",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A function or class of torch.cuda is used outside a test for CUDA."),
    why=N_(
        "Some of these raise in a PyTorch built without CUDA, some quietly do nothing. None of "
        "them speaks of the Apple GPU."
    ),
    advice=N_(
        "Keep it for CUDA, behind a test for CUDA; look in torch.mps and torch.accelerator for "
        "what your lowest PyTorch offers for the Mac."
    ),
    source="Called one by one in PyTorch 2.13.0 built without CUDA, on Linux; not run on a Mac.",
    since="torch.mps: PyTorch 2.1; torch.accelerator: PyTorch 2.6",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                def step():
                    torch.cuda.synchronize()
                """,
            finds=("torch.cuda.synchronize()",),
            after="""\
                import torch
                def step():
                    if torch.cuda.is_available():
                        torch.cuda.synchronize()
                """,
        ),
        Example(
            text="""\
                from torch import cuda
                import torch.cuda.nvtx as nvtx
                name = cuda.get_device_name(0)
                cuda.empty_cache()
                nvtx.range_push("step")
                """,
            finds=("cuda.get_device_name(0)", "cuda.empty_cache()", 'nvtx.range_push("step")'),
            after="""\
                from torch import cuda
                import torch.cuda.nvtx as nvtx
                name = cuda.get_device_name(0)
                cuda.empty_cache()
                if cuda.is_available():
                    nvtx.range_push("step")
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    print(torch.cuda.get_device_name(0))
                """,
            finds=("torch.cuda.get_device_name(0)",),
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    torch.cuda.synchronize()
                """,
            finds=("torch.cuda.synchronize()",),
        ),
        Example(text="""# torch.cuda.synchronize()\n"""),
        Example(
            text="""@patch("torch.cuda.is_available", return_value=False)\ndef f(): pass\n""",
            finds=('"torch.cuda.is_available"',),
        ),
        Example(text="""text = "torch.cuda.synchronize()"\n"""),
        Example(text="""import numba.cuda\nnumba.cuda.synchronize()\n"""),
        Example(text="""import torch\ntorch.cpu.synchronize()\n"""),
    ),
)
