"""D114: flags of the program that speak of CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.choices import is_in_condition
from analyzers.devices import is_other_cuda
from analyzers.documents.python import PythonDocument, enclosing, is_name_only, nth, statement_of
from analyzers.flow import CUDA_FLAG
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_NAME = re.compile(rb"cuda|CUDA|Cuda")
_OPTION = re.compile(
    rb"""(?i)["']--?(?:[a-z]+[-_]){0,3}cuda(?:[-_]?(?:devices?|ids?|idx|index|num|available|"""
    rb"""visible[-_]devices))?(?:/--?[\w-]+)?["']"""
)
_NUMBERED = re.compile(r"(?i)cuda[-_]?(?:device|id|index|num|visible)")
_KEY = re.compile(rb"""(?i)["'](?:use|no|with|has|is|enable|disable)_cuda["']""")
_OFF = re.compile(r"(?i)(?:^|[-_])(?:no|not|non|disable|without)[-_]?cuda")
_GETS = re.compile(rb"(?:^|\.)(?:getattr|hasattr|get|pop|setdefault|set_defaults)\Z")


def find(document: PythonDocument) -> Iterator[Match]:
    """Options, variables, attributes and keys whose name is a flag for CUDA."""
    yield from _options(document)
    for match, node in document.hits(_KEY):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is not None and string.end_byte == match.end() and _is_key(string):
            yield _match(string, document.slice(string).strip("\"'"), document, string)
    seen: set[int] = set()
    for _hit, node in document.hits(_NAME):
        place = _flag_at(document, node)
        if place is None or place.start_byte in seen:
            continue
        seen.add(place.start_byte)
        statement = statement_of(place)
        if _is_answered(document, place, statement) or is_in_condition(document, place):
            continue
        yield _match(place, document.slice(node), document, node)


def _options(document: PythonDocument) -> Iterator[Match]:
    for match, node in document.hits(_OPTION):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.start_byte != match.start():
            continue
        arguments = string.parent
        call = arguments.parent if arguments is not None else None
        if call is None or call.type != "call":
            # A command line in the making.
            if arguments is not None and arguments.type in ("list", "tuple"):
                message = _("An option for CUDA is passed on: look what it does without CUDA.")
                yield Match(string.start_byte, string.end_byte, message)
            continue
        yield _match(string, document.slice(string).strip("\"'"), document, call)


def _match(place: Node, name: str, document: PythonDocument, node: Node) -> Match:
    start, end = place.start_byte, place.end_byte
    if _turns_on(document, node) and _OFF.search(name) is None:
        message = _(
            "`{name}` is on unless somebody turns it off: look that a test for CUDA stands before "
            "what it does."
        )
        return Match(start, end, message.format(name=name), severity=Severity.DEGRADES)
    if _NUMBERED.search(name):
        message = _("`{name}` chooses among CUDA devices: a Mac has one MPS device.")
        return Match(start, end, message.format(name=name))
    message = _("`{name}` decides for or against CUDA: MPS takes the side of the CPU here.")
    return Match(start, end, message.format(name=name))


def _turns_on(document: PythonDocument, node: Node) -> bool:
    """Whether this is where a flag is set, or is on by itself."""
    if node.type == "call":
        text = node.text or b""
        return re.search(rb"default\s*=\s*True|store_false", text) is not None
    holder = node.parent
    while holder is not None and holder.type in ("attribute", "type"):
        holder = holder.parent
    if holder is None:
        return False
    for field in ("right", "value"):
        value = holder.child_by_field_name(field)
        if value is not None:
            return value.type == "true"
    return False


def _flag_at(document: PythonDocument, node: Node) -> Node | None:
    """The name, attribute or parameter that a hit is, if it is a flag."""
    if node.type != "identifier" or CUDA_FLAG.match(document.slice(node)) is None:
        return None
    name = document.slice(node)
    parent = node.parent
    if parent is None or (name == "is_cuda" and parent.type == "attribute"):
        return None
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        return _attribute(document, parent)
    if parent.type in ("keyword_argument", "default_parameter", "typed_default_parameter"):
        return parent if parent.child_by_field_name("name") == node else node
    if parent.type in ("dotted_name", "aliased_import", "function_definition", "class_definition"):
        return None
    if parent.type == "attribute":
        return None
    if is_name_only(node) and parent.type != "parameters":
        return None
    # A name that was imported is a module or a function, whoever made it.
    return node if document.dotted(node) is None else _imported(document, node)


def _imported(document: PythonDocument, node: Node) -> Node | None:
    target = document.dotted(node) or ""
    return (
        node if target != "torch.cuda" and not is_other_cuda(target) and _has_word(node) else None
    )


def _has_word(node: Node) -> bool:
    return (node.text or b"").lower() not in (b"cuda",)


def _attribute(document: PythonDocument, attribute: Node) -> Node | None:
    """``args.cuda``: an attribute that is not called and belongs to no module."""
    parent = attribute.parent
    called = parent is not None and parent.type == "call"
    if called and parent is not None and parent.child_by_field_name("function") == attribute:
        return None
    if parent is not None and parent.type == "attribute":
        return None
    if document.dotted(attribute) is not None:
        return None
    return attribute


def _is_answered(document: PythonDocument, place: Node, statement: Node) -> bool:
    """Whether the flag is what a test for CUDA is assigned to: the test is the finding."""
    inner = nth(statement, 0)
    if inner is None or inner.type != "assignment":
        return False
    left, right = inner.child_by_field_name("left"), inner.child_by_field_name("right")
    if left is None or right is None or not left.start_byte <= place.start_byte < left.end_byte:
        return False
    return (
        left.start_point.row == right.end_point.row
        and re.search(rb"\bcuda\s*\.\s*is_available", right.text or b"") is not None
    )


def _is_key(string: Node) -> bool:
    """Whether a text is a key that is looked up, stored under or asked for."""
    parent = string.parent
    if parent is None:
        return False
    if parent.type == "pair":
        return parent.child_by_field_name("key") == string
    if parent.type == "subscript":
        return True
    call = parent.parent
    function = call.child_by_field_name("function") if call is not None else None
    if parent.type != "argument_list" or function is None:
        return False
    return _GETS.search(function.text or b"") is not None


RULE = Rule(
    code="D114",
    name="cuda-flag",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"cuda", rb"CUDA", rb"Cuda"),
    what=N_("An option, a variable or a setting of the program is a flag for CUDA."),
    why=N_(
        "A flag that knows CUDA or not has no word for MPS: off means the CPU. Where it is on by "
        "itself, the program goes to CUDA without asking whether it is there."
    ),
    advice=N_("Let one option name the device, with a value that means: the best that is there."),
    source="https://docs.pytorch.org/docs/stable/notes/mps.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                parser.add_argument("--no-cuda", action="store_true")
                parser.add_argument("--use_cuda", default=True)
                args.cuda = not args.no_cuda and torch.cuda.is_available()
                if args.cuda:
                    model.half()
                def run(data, use_cuda=True):
                    return data if use_cuda else None
                settings = {"use_cuda": True}
                """,
            finds=(
                '"--no-cuda"',
                '"--use_cuda"',
                "args.no_cuda",
                "args.cuda",
                "use_cuda=True",
                "use_cuda",
                '"use_cuda"',
            ),
        ),
        Example(
            text="""\
                import torch
                cuda = torch.cuda.is_available()
                Tensor = make(cuda)
                USE_CUDA = False
                """,
            finds=("cuda", "USE_CUDA"),
        ),
        Example(text="""from numba import cuda\n@cuda.jit\ndef f(): pass\nx = cuda\n"""),
        Example(text="""def build_cuda_model(): pass\ncuda_kernels = []\nbarracuda = 1\n"""),
        Example(text="""x.cuda()\nprint("use_cuda")\n# use_cuda = True\n"""),
        Example(text="""import torch\ntorch.cuda.is_available()\nversion = torch.version.cuda\n"""),
    ),
)
