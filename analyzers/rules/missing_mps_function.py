"""D136: functions that torch.mps does not have."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, positional, string_of
from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from analyzers.torch_mps import ABSENT, PRESENT
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Names under ``torch.mps`` that no release has, or that came late."""
    for reference in document.references("torch.mps"):
        first = reference.name.removeprefix("torch.mps").lstrip(".").split(".")[0]
        node = call_of(reference.node) or reference.node
        if first in ABSENT and not _is_asked_for(document, first):
            yield Match(node.start_byte, node.end_byte, _absent(first))
        elif PRESENT.get(first) and not _is_asked_for(document, first):
            yield Match(
                node.start_byte,
                node.end_byte,
                _("torch.mps.{name} is there from PyTorch {since} on.").format(
                    name=first, since=PRESENT[first]
                ),
                until=PRESENT[first],
            )
    seen: set[tuple[int, str]] = set()
    for reference in document.references("torch.get_device_module"):
        call = call_of(reference.node)
        if call is None or string_of(document, positional(call, 0)) in ("cuda", "cpu"):
            continue
        yield from _through_module(document, call, seen)


def _absent(name: str) -> str:
    instead = ABSENT[name]
    if name == "max_memory_allocated":
        return _(
            "torch.mps has no max_memory_allocated up to PyTorch 2.14: this raises an "
            "AttributeError. current_allocated_memory() is what is held now, not a peak."
        )
    if instead:
        return _(
            "torch.mps has no {name} up to PyTorch 2.14: this raises an AttributeError. Look at "
            "torch.mps.{instead}()."
        ).format(name=name, instead=instead)
    return _(
        "torch.mps has no {name} up to PyTorch 2.14: this raises an AttributeError on a Mac."
    ).format(name=name)


def _is_asked_for(document: PythonDocument, name: str) -> bool:
    """Whether the file asks first if the module has the name."""
    asked = re.compile(rb"""hasattr\([^()\r\n]{0,80}["']""" + name.encode() + rb"""["']""")
    return document.says(asked)


def _through_module(
    document: PythonDocument, call: Node, seen: set[tuple[int, str]]
) -> Iterator[Match]:
    """What a program asks of the module of whatever device there is.

    ``seen`` holds the names, with the start of their scope, that were followed already.
    """
    function = call.parent
    if function is not None and function.type == "attribute":
        yield from _asked(document, function)
        return
    assigned = nth(statement_of(call), 0)
    left = assigned.child_by_field_name("left") if assigned is not None else None
    if assigned is None or assigned.type != "assignment" or left is None:
        return
    if assigned.child_by_field_name("right") != call or left.type != "identifier":
        return
    scope = enclosing(call, ("function_definition", "module")) or document.root
    if (scope.start_byte, document.slice(left)) in seen:
        return
    seen.add((scope.start_byte, document.slice(left)))
    name = document.text[left.start_byte : left.end_byte]
    pattern = re.compile(rb"(?<![\w.])" + re.escape(name) + rb"\s*\.\s*\w+")
    for match in pattern.finditer(document.text, scope.start_byte, scope.end_byte):
        node = document.root.descendant_for_byte_range(match.start(), match.end())
        if node is not None and node.type == "attribute":
            yield from _asked(document, node)


def _asked(document: PythonDocument, attribute: Node) -> Iterator[Match]:
    name = attribute.child_by_field_name("attribute")
    if name is None:
        return
    wanted = document.slice(name)
    if (
        wanted in ABSENT
        and not _is_asked_for(document, wanted)
        and not settled(document, attribute)
    ):
        node = call_of(attribute) or attribute
        yield Match(node.start_byte, node.end_byte, _absent(wanted))


RULE = Rule(
    code="D136",
    name="missing-mps-function",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"torch.mps", b"import mps", b"get_device_module"),
    what=N_("A function is asked of torch.mps that it does not have."),
    why=N_(
        "torch.mps is no mirror of torch.cuda: it has no devices to choose between, no names, no "
        "streams and no peak of memory. Code that takes the module of the current device looks "
        "general and fails on a Mac just so."
    ),
    advice=N_(
        "Ask with hasattr, or branch on device.type; leave out what has no meaning for one GPU."
    ),
    source="torch/mps/__init__.py in the macOS arm64 wheels 2.3 to 2.14.1, read",
    since="Event: PyTorch 2.1; device_count: 2.4; is_available: 2.5; compile_shader: 2.7",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                torch.mps.set_device(0)
                peak = torch.mps.max_memory_allocated()
                if torch.mps.is_available():
                    module = torch.get_device_module()
                    print(module.get_device_name(0))
                """,
            finds=(
                "torch.mps.set_device(0)",
                "torch.mps.max_memory_allocated()",
                "torch.mps.is_available()",
                "module.get_device_name(0)",
            ),
        ),
        Example(text="""import torch\ntorch.mps.empty_cache()\ntorch.mps.synchronize()\n"""),
        Example(
            text="""import torch\nmodule = torch.get_device_module("cuda")\nmodule.get_device_name(0)\n"""
        ),
        Example(
            text="""import torch\nif hasattr(torch.mps, "device_count"):\n    n = torch.mps.device_count()\n"""
        ),
        Example(text="""import torch\nready = torch.backends.mps.is_available()\n"""),
    ),
)
