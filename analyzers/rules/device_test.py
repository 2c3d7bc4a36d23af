"""D111: code that asks whether a device is CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.choices import is_in_condition
from analyzers.devices import DeviceString, Role, device_strings, names_device
from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of
from analyzers.guards import Standing, is_handled, standing
from analyzers.messages import handled_message
from analyzers.refusals import refuses
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_IS_CUDA = re.compile(rb"\.\s*is_cuda\b")
#: The number of a device, cut out of its name.
_NUMBER = re.compile(rb"""\bint\(\s*[\w.]{1,60}\.(?:r?split|r?partition)\(\s*["']:["']""")

#: Names for a choice between implementations.
_KIND = re.compile(
    r"(?i)(?:\w+_)?(?:impl|implementation|backend|method|mode|kind|engine|library)\Z"
)


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
        if (name := _another(document, node)) is not None:
            yield Match(node.start_byte, node.end_byte, _of_another(name))
        elif is_handled(document, node):
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


def _another(document: PythonDocument, node: Node) -> str | None:
    """The name of what is compared with CUDA, where it does not sound like a device."""
    first = nth(node, 0)
    if node.type != "comparison_operator" or first is None or first.type != "identifier":
        return None
    name = document.slice(first)
    return name if _KIND.match(name) is not None else None


def _of_another(name: str) -> str:
    message = _("`{name}` has CUDA among its values: look what the others do on a Mac.")
    return message.format(name=name)


def _is_in_a_test(document: PythonDocument, node: Node) -> bool:
    """Whether a device is asserted in a test, which looks at what was done before."""
    if statement_of(node).type != "assert_statement":
        return False
    function = enclosing(node, ("function_definition",))
    name = function.child_by_field_name("name") if function is not None else None
    return name is not None and document.slice(name).startswith("test")


def _judged(document: PythonDocument, node: Node, message: str) -> Match:
    if _is_in_a_test(document, node):
        message = _(
            "A test says which device it expects: what needs CUDA, if anything, stands before."
        )
        return Match(node.start_byte, node.end_byte, message)
    place, statement = node, statement_of(node)
    if statement.type == "assert_statement":
        message = _("Asserted of a device: on MPS the answer is that of the CPU.")
        # What the assertion demands first does not guard what it demands next.
        place = statement
    if standing(document, place) is not Standing.BARE:
        return Match(node.start_byte, node.end_byte, message)
    branch = enclosing(node, ("if_statement", "block", "module"))
    if branch is not None and _falls_to_cpu(document, branch, node):
        message = _("Whatever is not CUDA becomes the CPU here without a word, MPS among it.")
        if _NUMBER.search(document.text, node.end_byte, branch.end_byte) is not None:
            message += " " + _(
                "The number is cut out of the name: a plain cuda raises an error here, as mps would. "
                "torch.device(name) reads all of them, and its index is None where there is none."
            )
        return Match(node.start_byte, node.end_byte, message, Severity.DEGRADES, Fix.MANUAL)
    if not refuses(document, node):
        return Match(node.start_byte, node.end_byte, message)
    return Match(
        node.start_byte,
        node.end_byte,
        _("The program refuses whatever is not on CUDA, MPS included."),
        severity=Severity.BLOCKS,
        fix=Fix.MANUAL,
    )


def _falls_to_cpu(document: PythonDocument, branch: Node, condition: Node) -> bool:
    """Whether a function takes CUDA's names as devices, and returns the CPU for all others."""
    if branch.type != "if_statement" or branch.child_by_field_name("condition") != condition:
        return False
    body = branch.child_by_field_name("consequence")
    clauses = branch.children_by_field_name("alternative")
    other: Node | None = branch.next_named_sibling
    if clauses:
        block = clauses[0].child_by_field_name("body") if len(clauses) == 1 else None
        other = nth(block, 0) if block is not None and clauses[0].type == "else_clause" else None
    last = nth(body, body.named_child_count - 1) if body is not None else None
    if last is None or other is None:
        return False
    if (last.type, other.type) != ("return_statement", "return_statement"):
        return False
    value = nth(other, 0)
    return value is not None and names_device(document, value, "cpu")


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
            text="""\
                import torch
                def parse(name):
                    if name.startswith("cuda"):
                        return torch.device("cuda", int(name.split(":")[1]))
                    return torch.device("cpu")
                """,
            finds=('name.startswith("cuda")',),
        ),
        Example(
            text="""if device.type in ("cuda", "mps"):\n    pass\n""",
            finds=('device.type in ("cuda", "mps")',),
        ),
        Example(
            text="""\
                def test_root_device():
                    assert strategy.root_device == torch.device("cuda", 2)
                """,
            finds=('strategy.root_device == torch.device("cuda", 2)',),
        ),
        Example(
            text="""assert impl in ["ref", "cuda"]\n""",
            finds=('impl in ["ref", "cuda"]',),
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
