"""D117: NCCL, NVIDIA's library for several GPUs."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.guards import Standing, standing
from analyzers.refusals import refuses
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TEXT = re.compile(rb"""(?i)["'](?:(?:cpu:\w+,)?cuda:)?nccl(?:,cpu:\w+)?["']""")
_ASKS = "torch.distributed.is_nccl_available"
_CONSTANT = "torch.distributed.Backend.NCCL"
_STORES = (
    "assignment",
    "keyword_argument",
    "default_parameter",
    "typed_default_parameter",
    "return_statement",
    "argument_list",
    "pair",
    "boolean_operator",
    "lambda",
)


def find(document: PythonDocument) -> Iterator[Match]:
    """The backend by its name, and the question whether it is there."""
    for match, node in document.hits(_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.start_byte != match.start() or string.parent is None:
            continue
        if string.end_byte == match.end() and string.parent.type != "expression_statement":
            yield _match(document, string, string.parent)
    for reference in document.references("torch.distributed"):
        if reference.name == _ASKS:
            node = reference.node
            message = _("On a Mac this is False: PyTorch is built there without NCCL.")
            severity = Severity.BLOCKS if refuses(document, node) else Severity.COSMETIC
            yield Match(node.start_byte, node.end_byte, message, severity=severity)
        elif reference.name == _CONSTANT and reference.node.parent is not None:
            yield _match(document, reference.node, reference.node.parent)


def _match(document: PythonDocument, string: Node, parent: Node) -> Match:
    start, end = string.start_byte, string.end_byte
    if parent.type == "keyword_argument":
        start = parent.start_byte
    if parent.type == "conditional_expression":
        message = _("One of two branches is NCCL; a Mac needs the other one.")
        return Match(start, end, message, severity=Severity.COSMETIC)
    if parent.type not in _STORES or _is_text(parent):
        message = _("NCCL is asked for or listed; a Mac never has it.")
        return Match(start, end, message, severity=Severity.COSMETIC)
    if standing(document, string) is not Standing.BARE:
        message = _("Runs only where CUDA is available, and is skipped on a Mac.")
        return Match(start, end, message, severity=Severity.COSMETIC)
    return Match(
        start,
        end,
        _(
            "PyTorch on a Mac is built without NCCL and raises an error. One process needs no "
            "process group; gloo carries tensors of the CPU alone."
        ),
    )


def _is_text(parent: Node) -> bool:
    """Whether an argument is one of ``print``, of a test for a word, or a key."""
    call = parent.parent if parent.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    name = (function.text or b"").rpartition(b".")[2] if function is not None else b""
    return name in (b"print", b"startswith", b"endswith", b"info", b"debug", b"warning", b"replace")


RULE = Rule(
    code="D117",
    name="nccl-backend",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"nccl", rb"NCCL"),
    what=N_("Processes talk to each other through NCCL, NVIDIA's library for several GPUs."),
    why=N_(
        "A PyTorch without CUDA has no NCCL. Behind this line there are often two more of its "
        "kind: the number of a card for each process, and tensors that only CUDA has."
    ),
    advice=N_(
        "A Mac has one GPU: run one process without a process group there, and keep NCCL for the "
        "CUDA machine. Replacing nccl by gloo alone moves the error to the next line."
    ),
    source=(
        "https://docs.pytorch.org/docs/stable/distributed.html; init_process_group('nccl') in "
        "PyTorch 2.13.0 built without CUDA, on Linux"
    ),
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                import torch.distributed as dist
                dist.init_process_group("nccl", rank=0)
                dist.init_process_group(backend='nccl')
                backend = "nccl" if torch.cuda.is_available() else "gloo"
                if backend == "nccl" and dist.is_nccl_available():
                    pass
                """,
            finds=('"nccl"', "backend='nccl'", '"nccl"', '"nccl"', "dist.is_nccl_available"),
        ),
        Example(
            text="""\
                import torch.distributed as dist
                dist.init_process_group("cuda:nccl,cpu:gloo")
                backend = dist.Backend.NCCL
                if dist.get_backend() == dist.Backend.NCCL:
                    pass
                """,
            finds=('"cuda:nccl,cpu:gloo"', "dist.Backend.NCCL", "dist.Backend.NCCL"),
        ),
        Example(text="""import torch.distributed as dist\ndist.init_process_group("gloo")\n"""),
        Example(text="""# backend="nccl"\n"""),
        Example(text="""print("the nccl backend is used")\n"""),
        Example(text="""nccl_timeout = 30\n"""),
    ),
)
