"""D107: functions of ``torch.cuda``."""

import re
from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from analyzers.counts import divides
from analyzers.devices import indirect_cuda, is_annotation, is_replaced
from analyzers.documents.python import PythonDocument, Reference, enclosing, statement_of, under
from analyzers.guards import AVAILABLE, Standing, standing
from analyzers.handlers import catches_mps, clause_of
from analyzers.messages import handled_message, replaced_message
from analyzers.reach import settled
from analyzers.refusals import refuses
from analyzers.rule import Example, Match, Rule
from analyzers.torch_cuda import AMOUNTS, ANSWERS, HARMLESS, RAISES, SEEDS, is_tensor_type
from analyzers.torch_mps import counterpart
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TEXT = re.compile(rb"""["'](?:[\w{}]{1,40}\.){0,12}torch\.cuda\.(?!\w*Tensor["'])[\w.]+["']""")

#: A name that people give to the number of one device.
_INDEX = re.compile(r"(?i)(?:^|[\W_])(?:idx|index|ordinal|(?:device|gpu|cuda)_?id)\Z")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.cuda`` that no narrower rule speaks of."""
    yield from _in_texts(document)
    for reference in document.references("torch.cuda"):
        if _is_elsewhere(reference.name):
            continue
        if (match := _match(document, reference)) is not None:
            yield match
    for reference in indirect_cuda(document):
        if _is_elsewhere(reference.name):
            continue
        if (match := _match(document, reference)) is not None:
            yield replace(match, fix=Fix.MANUAL)


def _is_elsewhere(name: str) -> bool:
    """Whether a narrower rule speaks of a name."""
    return name == AVAILABLE or under(name, "torch.cuda.amp") or is_tensor_type(name)


def _match(document: PythonDocument, reference: Reference) -> Match | None:
    """What to say of a use; None where a narrower rule says it."""
    node, name = reference.node, reference.name
    short = name.removeprefix("torch.cuda").lstrip(".")
    call = node.parent
    called = call is not None and call.type == "call"
    place = call if called and call is not None else node
    start, end = place.start_byte, place.end_byte
    found = standing(document, node)
    if short == "OutOfMemoryError" and (clause := clause_of(node)) is not None:
        if not catches_mps(document, clause) and not settled(document, clause):
            return None
        message = _("A clause for CUDA, in code that has an answer for MPS too.")
        return Match(start, end, message, Severity.COSMETIC, Fix.NONE)
    if short == "device_count" and _lets_count_pass(document, place):
        message = _(
            "For CUDA alone. Devices are counted from 0: the number that equals the count passes "
            "this test and is no device; compare with >=."
        )
        return Match(start, end, message, Severity.COSMETIC, Fix.MANUAL)
    if found is not Standing.BARE:
        message = (
            handled_message()
            if found is Standing.HANDLED
            else _("Runs only where CUDA is available, and is skipped on a Mac.")
        )
        return Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
    if is_replaced(node):
        return Match(start, end, replaced_message(), Severity.COSMETIC, Fix.NONE)
    if is_annotation(node):
        return Match(start, end, _("Only a type: nothing is done here."), Severity.COSMETIC)
    if short == "device_count" and divides(document, place):
        message = _(
            "In a PyTorch without CUDA the number of cards is 0, and the program divides by it: a "
            "ZeroDivisionError."
        )
        return Match(start, end, message, fix=Fix.MANUAL)
    if short == "device_count" and refuses(document, place):
        message = _("The program refuses to go on without CUDA.")
        return Match(start, end, message, fix=Fix.MANUAL)
    if short in RAISES:
        message = _("In a PyTorch without CUDA {name} raises {error}.")
        message = message.format(name=name, error=RAISES[short])
        return Match(start, end, f"{message} {counterpart(short)}".rstrip())
    if short in HARMLESS:
        return Match(start, end, *_harmless(name, short.rpartition(".")[2]), Fix.MANUAL)
    if f'"{short}"' in document.slice(statement_of(node)):
        message = _("Not in every PyTorch: the program asks for it before it is used.")
        return Match(start, end, message, Severity.COSMETIC, Fix.NONE)
    message = _("{name} belongs to CUDA; look at what it is used for.")
    severity = Severity.DEGRADES if short or called else Severity.COSMETIC
    return Match(start, end, message.format(name=name), severity, Fix.MANUAL)


def _lets_count_pass(document: PythonDocument, count: Node) -> bool:
    """Whether the number of a device is compared with the count by ``>`` and not ``>=``."""
    parent = count.parent
    if parent is None or parent.type != "comparison_operator" or parent.named_child_count != 2:
        return False
    left, operator = parent.named_children[0], parent.children[1].text
    return left != count and operator == b">" and _INDEX.search(document.slice(left)) is not None


def _harmless(name: str, last: str) -> tuple[str, Severity]:
    """What to say of a function that answers without CUDA, and how much is lost."""
    if last in SEEDS:
        message = _(
            "Harmless without CUDA, where {name} does nothing. torch.manual_seed seeds MPS as well "
            "as the CPU and CUDA: no call for MPS is needed beside it."
        )
        return message.format(name=name), Severity.COSMETIC
    if last in AMOUNTS:
        message = _("In a PyTorch without CUDA {name} answers 0: a wrong number and no error.")
        return f"{message.format(name=name)} {counterpart(last)}".rstrip(), Severity.DEGRADES
    if last == "empty_cache":
        message = _(
            "In a PyTorch without CUDA {name} neither fails nor does anything: memory that MPS holds "
            "is not given back. torch.mps.empty_cache() does that; call it as seldom as this one."
        )
        return message.format(name=name), Severity.DEGRADES
    if last in ANSWERS:
        message = _(
            "In a PyTorch without CUDA {name} answers {answer}, whatever the Mac's own GPU can do."
        )
        return message.format(name=name, answer=ANSWERS[last]), Severity.COSMETIC
    message = _(
        "In a PyTorch without CUDA {name} answers without an error and does nothing; "
        "what it did for CUDA is not done for MPS."
    )
    return message.format(name=name), Severity.COSMETIC


def _in_texts(document: PythonDocument) -> Iterator[Match]:
    """Functions of ``torch.cuda`` that a test replaces, or that are looked up, by their name."""
    for match, node in document.hits(_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.end_byte != match.end() or string.parent is None:
            continue
        if match.start() - string.start_byte < 2 and string.parent.type == "argument_list":
            message = _("Names a function for CUDA in a text, as tests do to replace it.")
            yield Match(string.start_byte, string.end_byte, message, Severity.COSMETIC, Fix.NONE)


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
    source=(
        "Called one by one in PyTorch 2.13.0 built without CUDA, on Linux; torch/mps/__init__.py in "
        "the macOS arm64 wheels 2.3.1 to 2.14.1, read; not run on a Mac; Event: "
        "https://github.com/pytorch/pytorch/pull/196395"
    ),
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
        Example(
            text="""\
                import torch
                try:
                    step()
                except (RuntimeError, torch.cuda.OutOfMemoryError):
                    retry()
                """,
            finds=("torch.cuda.OutOfMemoryError",),
        ),
        Example(
            text="""\
                import torch
                try:
                    step()
                except torch.cuda.OutOfMemoryError:
                    retry()
                """,
        ),
        Example(text="""# torch.cuda.synchronize()\n"""),
        Example(
            text="""@patch("torch.cuda.is_available", return_value=False)\ndef f(): pass\n""",
            finds=('"torch.cuda.is_available"',),
        ),
        Example(
            text="""\
                import tools
                monkeypatch.setattr(tools.torch.cuda, "device_count", lambda: 2)
                with patch(f"{module}.torch.cuda.mem_get_info"), patch("tools.torch.cuda.init"):
                    __import__("torch").cuda.synchronize()
                """,
            finds=(
                "tools.torch.cuda",
                'f"{module}.torch.cuda.mem_get_info"',
                '"tools.torch.cuda.init"',
                '__import__("torch").cuda.synchronize()',
            ),
        ),
        Example(text="""# tools.torch.cuda\nfrom tools.torch.cuda import stream\n"""),
        Example(text="""text = "torch.cuda.synchronize()"\n"""),
        Example(
            text="""\
                import torch
                def start(rank, stream: torch.cuda.Stream | None = None):
                    cards = torch.cuda.device_count()
                    local = rank % cards
                    share = 8 // torch.cuda.device_count()
                """,
            finds=(
                "torch.cuda.Stream",
                "torch.cuda.device_count()",
                "torch.cuda.device_count()",
            ),
        ),
        Example(
            text="""\
                import torch
                torch.cuda.synchronize = torch.xpu.synchronize
                if hasattr(torch.cuda, "is_other") and torch.cuda.is_other:
                    pass
                """,
            finds=("torch.cuda.synchronize", "torch.cuda", "torch.cuda.is_other"),
        ),
        Example(text="""import numba.cuda\nnumba.cuda.synchronize()\n"""),
        Example(text="""import torch\ntorch.cpu.synchronize()\n"""),
    ),
)
