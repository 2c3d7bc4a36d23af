"""D138: half precision that was right because the device was CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import passed
from analyzers.choices import choices
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument, unparenthesised
from analyzers.reach import reaches_device, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TRUE = re.compile(rb"(?m)^(\w+)[ \t]*=[ \t]*True\b")


def find(document: PythonDocument) -> Iterator[Match]:
    """``.half()`` without a condition, where the device may also be the CPU."""
    if not any(_is_cpu(document, choice.other) for choice in choices(document)):
        return
    for call, _receiver, _name in calls_of(document, "half"):
        if passed(call) or not _is_unconditional(document, call):
            continue
        if reaches_device(document, call) and not settled(document, call):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Half precision is chosen whatever the device is. On the CPU, which this "
                    "program falls back to, PyTorch before 2.3 has not all operators for it and "
                    "raises. Choose the type together with the device."
                ),
                severity=Severity.BLOCKS,
                until="2.3",
            )
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Half precision is chosen whatever the device is. On the CPU, which this "
                    "program falls back to, it is slow. Choose the type together with the device."
                ),
                since="2.3",
            )


def _is_cpu(document: PythonDocument, node: Node) -> bool:
    return b"cpu" in document.text[node.start_byte : node.end_byte]


def _is_unconditional(document: PythonDocument, node: Node) -> bool:
    """Whether nothing decides about the call but a flag that the file sets to True."""
    child, parent = node, node.parent
    while parent is not None and parent.type not in ("function_definition", "class_definition"):
        if parent.type in (
            "conditional_expression",
            "elif_clause",
            "else_clause",
            "match_statement",
        ):
            return False
        if parent.type == "if_statement":
            test = parent.child_by_field_name("condition")
            if test is None or child == test:
                return False
            test = unparenthesised(test)
            name = document.text[test.start_byte : test.end_byte]
            constants = document.remember(
                "true", lambda: frozenset(one[1] for one in _TRUE.finditer(document.text))
            )
            if test.type != "identifier" or name not in constants:
                return False
        child, parent = parent, parent.parent
    return True


RULE = Rule(
    code="D138",
    name="half-precision-choice",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b".half()",),
    what=N_("A model or tensor becomes float16 without a look at the device."),
    why=N_(
        "It is safe on CUDA alone. On the CPU it is slow, and older releases raise for single "
        "operators, which reads like a fault of the device."
    ),
    advice=N_("Choose device and type in one place: float16 on CUDA and MPS, float32 on the CPU."),
    source="Reports of slow_conv2d_cpu and LayerNormKernelImpl not implemented for 'Half', PyTorch 1.13 to 2.2",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                is_half = True
                device = "cuda" if torch.cuda.is_available() else "cpu"
                net = Net().to(device)
                if is_half:
                    net = net.half()
                out = net(sound.to(device).half())
                """,
            finds=(
                "net.half()",
                "net.half()",
                "sound.to(device).half()",
                "sound.to(device).half()",
            ),
        ),
        Example(
            text="""\
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                net = Net().to(device)
                if device != "cpu":
                    net = net.half()
                """,
        ),
        Example(text="""net = Net().to(device).half()\n"""),
        Example(
            text="""\
                import torch
                device = "cuda" if torch.cuda.is_available() else "cpu"
                table = torch.zeros(4).half()
                net = Net().to(device)
                """,
        ),
    ),
)
