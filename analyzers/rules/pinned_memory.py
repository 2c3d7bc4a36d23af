"""D124: page-locked memory."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import is_true, keyword, method_of, passed
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.reach import settled, under_condition
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_FACTORIES = (
    *("empty", "zeros", "ones", "full", "rand", "randn", "randint", "randperm", "arange", "eye"),
    *("tensor", "empty_like", "zeros_like", "ones_like", "full_like", "linspace", "empty_strided"),
)
_NAMES = frozenset(f"torch.{name}" for name in _FACTORIES)
_KEYWORD = re.compile(rb"\bpin_memory(?=\s*=)")
#: A flag of the program's own for pinning, which knows why it is set.
_FLAG = re.compile(rb"(?i)pin|cuda")
_METHODS = ("new_empty", "new_zeros", "new_ones", "new_full", "new_tensor")


def find(document: PythonDocument) -> Iterator[Match]:
    """Tensors that are pinned, and loaders that pin what they give."""
    for call, _receiver, _name in calls_of(document, "pin_memory"):
        if any(child.type != "keyword_argument" for child in passed(call)):
            continue
        if settled(document, call) or _in_own_method(document, call):
            continue
        if under_condition(document, call, _FLAG):
            continue
        yield Match(
            call.start_byte,
            call.end_byte,
            _(
                "Pinning is for copies to CUDA: it raised on MPS in PyTorch 1.13, raises where "
                "there is no accelerator, and brings nothing where the GPU shares the memory. "
                "Tie it, and non_blocking with it, to CUDA."
            ),
        )
    for call in _calls_with_pin(document):
        if not is_true(keyword(call, "pin_memory")) or settled(document, call):
            continue
        function = call.child_by_field_name("function")
        name = document.dotted(function) if function is not None else None
        method = method_of(document, call)
        if name in _NAMES or method in _METHODS:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Asks for a pinned tensor. Without an accelerator this raises; on a Mac such a "
                    "tensor was reported to be on mps:0 whatever device= says, so that .numpy() "
                    "fails. Ask for it on CUDA alone: pin_memory=torch.cuda.is_available()."
                ),
            )
        elif method.endswith("DataLoader"):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Pinning is not done for MPS: the loader ignores the wish, with a warning from "
                    "PyTorch 2.7 on."
                ),
                severity=Severity.COSMETIC,
                since="2.7",
            )


def _calls_with_pin(document: PythonDocument) -> Iterator[Node]:
    """Calls that are given ``pin_memory=``."""
    for _match, node in document.hits(_KEYWORD):
        holder = node.parent if node.type == "identifier" else None
        if holder is not None and holder.type == "keyword_argument" and holder.parent is not None:
            call = holder.parent.parent
            if call is not None and call.type == "call":
                yield call


def _in_own_method(document: PythonDocument, node: Node) -> bool:
    """Whether a call stands in a class's own ``pin_memory``, which a loader calls for CUDA."""
    function = enclosing(node, ("function_definition",))
    label = function.child_by_field_name("name") if function is not None else None
    return label is not None and label.text == b"pin_memory"


RULE = Rule(
    code="D124",
    name="pinned-memory",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"pin_memory",),
    what=N_("Page-locked memory is asked for, which speeds up copies to CUDA."),
    why=N_(
        "A Mac's GPU shares the memory of the machine, so that there is nothing to gain. A loader "
        "ignores the wish; a tensor does not."
    ),
    advice=N_('Pin only where device.type == "cuda".'),
    source=(
        "Called in PyTorch 2.13.0 built without CUDA, on Linux; torch/utils/data/dataloader.py of the "
        "macOS arm64 wheels 2.6 to 2.14, read"
    ),
    since="warning of DataLoader: PyTorch 2.7",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.utils.data import DataLoader
                buffer = torch.empty((1024, 64), device="cpu", pin_memory=True)
                def batch(x, device):
                    if device != "cpu":
                        x = x.pin_memory().to(device, non_blocking=True)
                    return x
                loader = DataLoader(data, batch_size=8, pin_memory=True)
                """,
            finds=(
                'torch.empty((1024, 64), device="cpu", pin_memory=True)',
                "x.pin_memory()",
                "DataLoader(data, batch_size=8, pin_memory=True)",
            ),
        ),
        Example(
            text="""\
                import torch
                def batch(x, device):
                    if device.type == "cuda":
                        return x.pin_memory().to(device, non_blocking=True)
                    return x.to(device)
                """,
        ),
        Example(text="""loader = DataLoader(data, pin_memory=torch.cuda.is_available())\n"""),
        Example(text="""loader = DataLoader(data, pin_memory=False)\n"""),
        Example(text="""if self.pin_memory:\n    rows = [row.pin_memory() for row in rows]\n"""),
        Example(
            text="""\
                class Batch:
                    def pin_memory(self):
                        self.inputs = self.inputs.pin_memory()
                        return self
                """,
        ),
        Example(text="""settings = make_settings(pin_memory=True)\n"""),
    ),
)
