"""D111: code that asks whether a device is CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.choices import is_in_condition
from analyzers.devices import DeviceString, Role, device_strings
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.guards import Standing, is_handled, standing
from analyzers.messages import handled_message
from analyzers.refusals import refuses
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_IS_CUDA = re.compile(rb"\.\s*is_cuda\b")


def find(document: PythonDocument) -> Iterator[Match]:
    """Comparisons of a device with CUDA, ``.is_cuda``, and tables with an entry for each device."""
    message = _("A branch for CUDA: a tensor on MPS takes the other way, as one on the CPU does.")
    for string in device_strings(document):
        if string.role is Role.KEY:
            yield _entry(document, string)
            continue
        node = string.holder
        if string.role is not Role.COMPARISON or is_in_condition(document, node):
            continue
        if is_handled(document, node):
            yield Match(node.start_byte, node.end_byte, handled_message())
        else:
            yield _judged(document, node, message)
    for match, node in document.hits(_IS_CUDA):
        attribute = node if node.type == "attribute" else enclosing(node, ("attribute",))
        if attribute is None or attribute.end_byte != match.end():
            continue
        if is_in_condition(document, attribute):
            continue
        yield _judged(document, attribute, message)


def _entry(document: PythonDocument, string: DeviceString) -> Match:
    """An entry for CUDA in a table of devices; MPS has one where its name is beside it."""
    node, holder = string.node, string.holder
    table = holder.parent if holder.type == "pair" else None
    if table is not None and b"mps" in document.text[table.start_byte : table.end_byte]:
        return Match(node.start_byte, node.end_byte, handled_message())
    message = _("An entry for CUDA in a table of devices: look which one MPS gets.")
    return Match(node.start_byte, node.end_byte, message)


def _judged(document: PythonDocument, node: Node, message: str) -> Match:
    if standing(document, node) is not Standing.BARE or not refuses(document, node):
        return Match(node.start_byte, node.end_byte, message)
    return Match(
        node.start_byte,
        node.end_byte,
        _("The program refuses whatever is not on CUDA, MPS included."),
        severity=Severity.BLOCKS,
        fix=Fix.MANUAL,
    )


RULE = Rule(
    code="D111",
    name="device-test",
    severity=Severity.COSMETIC,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(rb"is_cuda", rb"cuda"),
    what=N_("The code asks whether a device or a tensor is CUDA."),
    why=N_(
        "A guarded branch for CUDA is what a portable program has. It deserves a look all the "
        "same: everything that is not CUDA is treated as the CPU, MPS included."
    ),
    advice=N_("Leave it where the branch is right for MPS; else compare device.type with 'mps'."),
    source="https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_cuda.html",
    find=find,
    examples=(
        Example(
            text="""\
                if device.type == "cuda" or x.is_cuda:
                    pass
                if name.startswith("cuda"):
                    pass
                """,
            finds=('device.type == "cuda"', "x.is_cuda", 'name.startswith("cuda")'),
        ),
        Example(
            text="""if device.type in ("cuda", "mps"):\n    pass\n""",
            finds=('device.type in ("cuda", "mps")',),
        ),
        Example(
            text="""\
                assert x.is_cuda and y.device == torch.device("cuda")
                text = name.replace("cuda:", "")
                """,
            finds=("x.is_cuda", 'y.device == torch.device("cuda")', 'name.replace("cuda:", "")'),
        ),
        Example(
            text="""\
                if device.type == torch.device("cuda").type:
                    limit = {"cpu": 1e-2, "cuda": 2e-2}[device.type]
                    free = memory["cuda:0"] + memory.get(f"cuda:{index}", 0)
                """,
            finds=(
                'device.type == torch.device("cuda").type',
                '"cuda"',
                '"cuda:0"',
                'f"cuda:{index}"',
            ),
        ),
        Example(
            text="""\
                match kind:
                    case "cpu" | "cuda":
                        limits = {"cuda": 1, "mps": 2}
                """,
            finds=('"cpu" | "cuda"', '"cuda"'),
        ),
        Example(
            text="""versions = {"cuda": "12.1", "python": "3.12"}\nprint(versions["cuda"])\n"""
        ),
        Example(text="""torch.load(path, map_location={"cuda:0": "cpu"})\n"""),
        Example(text="""if device.type == "mps" or kind == "cuda_graph":\n    pass\n"""),
        Example(text="""if device.type == "cpu":\n    pass\n"""),
        Example(text="""# x.is_cuda\nlabel = "is_cuda"\n"""),
    ),
)
