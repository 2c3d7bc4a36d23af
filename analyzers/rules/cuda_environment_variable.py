"""D116: environment variables of CUDA in Python."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.guards import Standing, standing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_VARIABLE = rb"(?:CUDA|CUDNN|NCCL|CUBLAS|TORCH_NCCL|TORCH_CUDA|PYTORCH_CUDA|PYTORCH_NVML|NVIDIA)_[A-Z][A-Z0-9_]*"
_BUILD = rb"(?:FORCE|BUILD|BUILD_WITH)_CUDA"
_TEXT = re.compile(rb"""["'](""" + _VARIABLE + rb"|" + _BUILD + rb""")["']""")
_CONSTANT = re.compile(
    rb"(?<![\w\"'])_?(?:CUDA|CUDNN)_"
    rb"(?:(HOME)|VISIBLE_DEVICES|PATH|ROOT(?:_DIR)?|INCLUDE(?:_DIRS?|_PATHS?)?|LIB(?:64|RARIES)?|VERSION)\b"
)
_CHOOSES = "CUDA_VISIBLE_DEVICES"


def find(document: PythonDocument) -> Iterator[Match]:
    """Variables that are set, read or passed on, and names that a program keeps them in."""
    for match, node in document.hits(_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.end_byte != match.end():
            continue
        if string.parent is not None and string.parent.type == "expression_statement":
            continue
        name = match.group(1).decode()
        place = _assigned(string) or string
        message, severity = _judge(document, name, string)
        yield Match(place.start_byte, place.end_byte, message, severity=severity)
    for match, node in document.hits(_CONSTANT):
        if node.type != "identifier" or node.end_byte != match.end():
            continue
        if match[1] is not None:
            message = _("No Mac has a CUDA toolkit: this is None, and setting it helps no build.")
        elif document.slice(node).endswith(_CHOOSES):
            message = _(
                "CUDA_VISIBLE_DEVICES chooses among CUDA devices and means nothing on a Mac."
            )
        else:
            message = _("`{name}` speaks of a CUDA toolkit, which no Mac has.")
            message = message.format(name=document.slice(node))
        yield Match(node.start_byte, node.end_byte, message)


def _judge(document: PythonDocument, name: str, string: Node) -> tuple[str, Severity]:
    if _must_exist(string) and standing(document, string) is Standing.BARE:
        message = _("A Mac rarely has {name}: reading it this way raises KeyError.")
        return message.format(name=name), Severity.DEGRADES
    if name.endswith("_CUDA"):
        message = _("{name} makes a build look for CUDA's compiler, which no Mac has.")
        return message.format(name=name), Severity.COSMETIC
    if name == _CHOOSES:
        message = _("CUDA_VISIBLE_DEVICES chooses among CUDA devices and means nothing on a Mac.")
        return message, Severity.COSMETIC
    message = _("{name} speaks to CUDA or its libraries and means nothing on a Mac.")
    return message.format(name=name), Severity.COSMETIC


def _must_exist(string: Node) -> bool:
    """Whether ``os.environ["NAME"]`` is read and not set, deleted or tried."""
    subscript = string.parent
    if subscript is None or subscript.type != "subscript":
        return False
    value = subscript.child_by_field_name("value")
    if value is None or not (value.text or b"").endswith(b"environ"):
        return False
    if enclosing(subscript, ("try_statement", "function_definition", "module")) is None:
        return False
    outer = subscript.parent
    if outer is None or outer.type in ("delete_statement", "augmented_assignment"):
        return False
    holder = enclosing(subscript, ("try_statement", "function_definition", "module"))
    if holder is not None and holder.type == "try_statement":
        return False
    if _is_looked_for(string, subscript):
        return False
    return _assigned(string) is None and outer.child_by_field_name("left") != subscript


def _is_looked_for(string: Node, subscript: Node) -> bool:
    """Whether the reading hangs on a test that the variable is there."""
    child, parent = subscript, subscript.parent
    tested = re.compile(re.escape(string.text or b"") + rb"\s+in\b")
    while parent is not None and parent.type not in ("function_definition", "module"):
        if parent.type in ("if_statement", "conditional_expression"):
            body = parent.child_by_field_name("consequence") or parent.named_child(0)
            between = parent.text or b""
            if child == body and tested.search(between) is not None:
                return True
        child, parent = parent, parent.parent
    return False


def _assigned(string: Node) -> Node | None:
    """``os.environ["NAME"] = value``, where it is on one line."""
    subscript = string.parent
    outer = subscript.parent if subscript is not None else None
    if outer is None or outer.type != "assignment" or subscript is None:
        return None
    if outer.child_by_field_name("left") != subscript:
        return None
    return outer if outer.start_point.row == outer.end_point.row else subscript


RULE = Rule(
    code="D116",
    name="cuda-environment-variable",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"CUDA_", rb"CUDNN_", rb"NCCL_", rb"CUBLAS_", rb"NVIDIA_", rb"_CUDA"),
    what=N_("An environment variable of CUDA, its toolkit or its libraries."),
    why=N_(
        "Nothing on a Mac reads it: the program runs without what the variable asked for, and a "
        "variable that must exist is not there."
    ),
    advice=N_("Leave what is set to the CUDA machine; read with os.environ.get."),
    source=(
        "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/"
        "environment-variables.html"
    ),
    find=find,
    examples=(
        Example(
            text="""\
                import os
                os.environ["CUDA_VISIBLE_DEVICES"] = "0"
                os.environ.setdefault("NCCL_DEBUG", "INFO")
                cards = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
                if "NCCL_DEBUG" in os.environ:
                    level = os.environ["NCCL_DEBUG"]
                from torch.utils.cpp_extension import CUDA_HOME
                """,
            finds=(
                'os.environ["CUDA_VISIBLE_DEVICES"] = "0"',
                '"NCCL_DEBUG"',
                '"CUDA_VISIBLE_DEVICES"',
                '"NCCL_DEBUG"',
                '"NCCL_DEBUG"',
                "CUDA_HOME",
            ),
        ),
        Example(
            text="""\
                from torch.utils import cpp_extension
                if cpp_extension.CUDA_HOME is None and os.getenv("FORCE_CUDA") != "1":
                    flags = []
                CUDA_VERSION = read_version(CUDA_PATH)
                """,
            finds=("CUDA_HOME", '"FORCE_CUDA"', "CUDA_VERSION", "CUDA_PATH"),
        ),
        Example(text="""# CUDA_PATH\nMY_CUDA_PATH = 1\nCUDA_ERROR_MSG = ""\n"""),
        Example(text="""run("CUDA_VISIBLE_DEVICES=0 python train.py")\n"""),
        Example(text="""# os.environ["CUDA_VISIBLE_DEVICES"] = "0"\n"""),
        Example(text="""CUDA_TAG = "cu118"\nname = "CUDA_"\n"""),
        Example(text="""def f():\n    'CUDA_HOME'\n"""),
    ),
)
