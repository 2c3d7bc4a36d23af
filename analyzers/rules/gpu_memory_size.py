"""D128: decisions by the size of a CUDA card's memory."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_CALLS = (
    "torch.cuda.mem_get_info",
    "torch.cuda.memory.mem_get_info",
    "torch.cuda.get_device_properties",
)
_THROUGH = ("attribute", "call", "subscript", "parenthesized_expression")
_COUNTS = ("binary_operator", "comparison_operator")


def find(document: PythonDocument) -> Iterator[Match]:
    """Calculations and comparisons with the memory that a card has, or has free."""
    for name in _CALLS:
        for reference in document.references(name):
            place = _calculation(document, reference.node, whole="properties" not in name)
            if place is not None and not settled(document, place):
                yield Match(
                    place.start_byte,
                    place.end_byte,
                    _(
                        "Calculates with the memory of a CUDA card. A Mac has one memory "
                        "for everything: torch.mps.recommended_max_memory() is an upper bound, not "
                        "what is free. Give another way to set what depends on it."
                    ),
                )


def _calculation(document: PythonDocument, node: Node, whole: bool) -> Node | None:
    """The calculation that the call takes part in, if it is about memory."""
    about_memory = whole
    child, parent = node, node.parent
    while parent is not None and parent.type in _THROUGH:
        if (
            parent.type == "attribute"
            and b"memory" in document.text[child.end_byte : parent.end_byte]
        ):
            about_memory = True
        child, parent = parent, parent.parent
    if parent is None or parent.type not in _COUNTS or not about_memory:
        return None
    while parent.parent is not None and parent.parent.type in (
        *_COUNTS,
        "parenthesized_expression",
    ):
        parent = parent.parent
    return parent


RULE = Rule(
    code="D128",
    name="gpu-memory-size",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"mem_get_info", b"total_memory"),
    what=N_("The memory of a CUDA card decides about a size or a way."),
    why=N_(
        "The calls raise in a PyTorch without CUDA, and guarded or not, the figure that the program "
        "then works with means something else where CPU and GPU share their memory."
    ),
    advice=N_("Let the size be given by the user, with a default that suits the device."),
    source="https://docs.pytorch.org/docs/stable/generated/torch.mps.recommended_max_memory.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                batch = int(torch.cuda.mem_get_info()[0] * 0.8 / 1e9)
                if torch.cuda.get_device_properties(0).total_memory > 16e9:
                    batch *= 2
                """,
            finds=(
                "torch.cuda.mem_get_info()[0] * 0.8 / 1e9",
                "torch.cuda.get_device_properties(0).total_memory > 16e9",
            ),
        ),
        Example(text="""import torch\nprint(torch.cuda.mem_get_info())\n"""),
        Example(text="""import torch\nbig = torch.cuda.get_device_properties(0).major >= 8\n"""),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    batch = torch.cuda.mem_get_info()[0] // 1000
                """,
        ),
        Example(text="""total_memory = psutil.virtual_memory().total / 2\n"""),
    ),
)
