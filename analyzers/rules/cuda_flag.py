"""D114: flags of the program that speak of CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.choices import is_in_condition
from analyzers.devices import is_other_cuda
from analyzers.documents.python import PythonDocument, enclosing, is_name_only, nth, statement_of
from analyzers.flow import CUDA_FLAG, is_all_but_cpu
from analyzers.guards import is_guarded
from analyzers.messages import handled_message
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_NAME = re.compile(rb"cuda|CUDA|Cuda|cudnn|nccl")
_OPTION = re.compile(
    rb"""["']--?(?![UILW][A-Z_]|D\w{1,40}CUDA_)(?:[A-Za-z0-9]{1,20}[-_]){0,4}(?i:cuda|cudnn|nccl)[A-Za-z0-9]{0,20}(?:[-_][A-Za-z0-9]{1,20}){0,5}"""
    rb"""(?:/--?[\w-]+)?["']"""
)
#: Options of which it is plain what they say.
_DECIDES = re.compile(
    r"(?i)--?(?:[a-z]+[-_])*cuda(?:[-_]?(?:devices?|ids?|idx|index|num|available|"
    r"visible[-_]devices))?(?:/--?[\w-]+)?\Z"
)
_NUMBERED = re.compile(r"(?i)cuda[-_]?(?:device|id|index|num|visible|\d)")
#: What holds the options of a program, by the names that people give it.
_HOLDER = re.compile(
    r"(?i)(?:\A|[._])(?:args?|arguments|opts?|options|cfg|hparams|flags|namespace)\Z"
)
_WORD = re.compile(r"(?i)(?:\A|_)(?:cuda|nccl)(?:_|\Z)")
_DEVICES = re.compile(
    r"_?CUDA_(?:DEVICES?(?:_(?:IDS?|IDX|INDEX|COUNT|NUM|STR|NAME))?|GPUS?|IDS?|IDX|INDEX|COUNT|\d+)\Z"
)
#: A question by its name, as a function of the project or of a library asks it.
_ASKS = re.compile(r"(?i)_*(?:is|has|have|use|uses|using|with)_?(?:torch_?)?cuda(?:_available)?\Z")
_KEY = re.compile(rb"""(?i)["'](?:use|no|with|has|is|enable|disable)_cuda["']""")
_OFF = re.compile(r"(?i)(?:^|[-_])(?:no|not|non|disable|without)[-_]?cuda")
_MARK = "pytest.mark.cuda"
_VERSION = re.compile(r"\.version\.cuda\Z")
_MPS_FLAG = re.compile(rb"\b(?:use_|has_|with_|is_|no_)?mps(?:_available)?\b")
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
        name = _MARK if document.dotted(place) == _MARK else document.slice(node)
        yield _match(place, name, document, node)


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
    if name == _MARK:
        return Match(start, end, _("Marks a test for machines with CUDA: leave it out on a Mac."))
    if _VERSION.search(document.slice(place)) is not None:
        message = _("The CUDA that PyTorch was built with: None on a Mac.")
        return Match(start, end, message)
    if document.says(_MPS_FLAG) and _has_mps_beside(node):
        return Match(start, end, handled_message(), fix=Fix.NONE)
    plain = _DECIDES.match(name) is not None or CUDA_FLAG.match(name) is not None
    if (
        plain
        and _turns_on(document, node)
        and _OFF.search(name) is None
        and not is_guarded(document, place)
    ):
        message = _(
            "`{name}` is on unless somebody turns it off: look that a test for CUDA stands before "
            "what it does."
        )
        return Match(start, end, message.format(name=name))
    if _NUMBERED.search(name):
        message = _("`{name}` chooses among CUDA devices: a Mac has one MPS device.")
        return Match(start, end, message.format(name=name))
    if not plain:
        message = _("`{name}` is a setting for CUDA: look at what it does on a Mac.")
        return Match(start, end, message.format(name=name))
    if _is_called(place) and _ASKS.match(name) is None:
        message = _("A function of the program that is about CUDA: look at what it does on a Mac.")
        return Match(start, end, message)
    if is_all_but_cpu(document, name):
        message = _(
            "`{name}` is on for whatever is not the CPU, MPS too: look that what it turns on is not "
            "for CUDA alone."
        )
        return Match(start, end, message.format(name=name), severity=Severity.DEGRADES)
    message = _("`{name}` is about CUDA alone: where it decides, MPS takes the side of the CPU.")
    return Match(start, end, message.format(name=name))


def _has_mps_beside(node: Node) -> bool:
    """Whether the function that a flag belongs to has one for MPS too."""
    function = enclosing(node, ("function_definition",))
    parameters = function.child_by_field_name("parameters") if function is not None else None
    return parameters is not None and _MPS_FLAG.search(parameters.text or b"") is not None


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
    """The name, attribute, parameter or function that a hit is, if it is a flag."""
    parent = node.parent
    if node.type != "identifier" or parent is None:
        return None
    name = document.slice(node)
    is_attribute = parent.type == "attribute" and parent.child_by_field_name("attribute") == node
    if CUDA_FLAG.match(name) is None:
        if _DEVICES.match(name) is not None and parent.type != "function_definition":
            return node
        return parent if is_attribute and _is_option(document, parent, name) else None
    if name == "is_cuda" and parent.type == "attribute":
        return None
    if is_attribute:
        return _attribute(document, parent, name)
    if parent.type in ("keyword_argument", "default_parameter", "typed_default_parameter"):
        return parent if parent.child_by_field_name("name") == node else node
    if parent.type == "function_definition":
        return node if _ASKS.match(name) else None
    if parent.type in ("dotted_name", "aliased_import", "class_definition", "attribute"):
        return None
    if is_name_only(node) and parent.type != "parameters":
        return None
    # A name that was imported is a module or a function, whoever made it.
    return node if document.dotted(node) is None else _imported(document, node)


def _is_option(document: PythonDocument, attribute: Node, name: str) -> bool:
    """Whether an attribute is an option of the program that has CUDA in its name."""
    holder = attribute.child_by_field_name("object")
    if holder is None or _WORD.search(name) is None or _is_called(attribute):
        return False
    inside = attribute.parent is not None and attribute.parent.type == "attribute"
    return not inside and _HOLDER.search(document.slice(holder)) is not None


def _is_called(attribute: Node) -> bool:
    call = attribute.parent
    return (
        call is not None
        and call.type == "call"
        and call.child_by_field_name("function") == attribute
    )


def _imported(document: PythonDocument, node: Node) -> Node | None:
    target = document.dotted(node) or ""
    return (
        node if target != "torch.cuda" and not is_other_cuda(target) and _has_word(node) else None
    )


def _has_word(node: Node) -> bool:
    return (node.text or b"").lower() not in (b"cuda",)


def _attribute(document: PythonDocument, attribute: Node, name: str) -> Node | None:
    """``args.cuda``: an attribute that is not called and belongs to no module."""
    parent = attribute.parent
    if parent is not None and parent.type == "attribute":
        return None
    meaning = document.dotted(attribute)
    if meaning is not None:
        asks = _ASKS.match(name) is not None or meaning == _MARK
        kept = _is_option(document, attribute, name)
        return attribute if (asks or kept) and meaning.split(".")[0] != "torch" else None
    return None if _is_called(attribute) else attribute


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
    triggers=(rb"cuda", rb"CUDA", rb"Cuda", rb"cudnn", rb"nccl"),
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
        Example(
            text="""\
                import pytest
                from library import tools
                parser.add_argument("--cuda-graphs", action="store_true")
                parser.add_argument("--cudnn_benchmark", default=True)
                flags = ["-DUSE_CUDA", "-DTORCH_USE_CUDA_DSA", "-U__CUDA_NO_HALF_OPERATORS__"]
                CUDA_DEVICES = [0, 1]
                def is_cuda():
                    return tools.with_cuda and not tools.is_cuda_available()
                @pytest.mark.cuda
                def test_graphs():
                    run(args.cuda_graphs, self.args.nccl_timeout)
                """,
            finds=(
                '"--cuda-graphs"',
                '"--cudnn_benchmark"',
                '"-DUSE_CUDA"',
                "CUDA_DEVICES",
                "is_cuda",
                "tools.with_cuda",
                "tools.is_cuda_available",
                "pytest.mark.cuda",
                "args.cuda_graphs",
                "self.args.nccl_timeout",
            ),
        ),
        Example(
            text="""\
                def to_cuda(x): pass
                def cuda(self): pass
                batch.to_cuda()
                self.cuda_graphs = cuda_graphs
                args.cuda_setup()
                nccl_timeout = 30
                """
        ),
        Example(text="""from numba import cuda\n@cuda.jit\ndef f(): pass\nx = cuda\n"""),
        Example(text="""def build_cuda_model(): pass\ncuda_kernels = []\nbarracuda = 1\n"""),
        Example(text="""x.cuda()\nprint("use_cuda")\n# use_cuda = True\n"""),
        Example(
            text="""\
                cuda = device.type != "cpu"
                if cuda:
                    model.half()
                """,
            finds=("cuda", "cuda"),
        ),
        Example(text="""import torch\ntorch.cuda.is_available()\nversion = torch.version.cuda\n"""),
    ),
)
