"""D110: settings of cuDNN and of CUDA's matrix products."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TEXT = re.compile(rb"""["'](?:cudnn|cuDNN)["']""")
_SETTING = re.compile(rb"\b(?:cudnn_(?:benchmark|deterministic|enabled?|allow_tf32)|use_cudnn)\b")
_ATTENTION = re.compile(rb"\bSDPBackend\s*\.\s*CUDNN_ATTENTION\b")
_OTHERS = ("function_definition", "class_definition", "dotted_name", "aliased_import", "call")
_SAYS = re.compile(rb"(?:^|\.)(?:print|log|debug|info|warning|error|replace|join)\Z")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.backends.cudnn`` and ``torch.backends.cuda``, and cuDNN by its name."""
    yield from _named(document)
    for prefix in ("torch.backends.cudnn", "torch.backends.cuda"):
        for reference in document.references(prefix):
            node = reference.node
            statement = statement_of(node)
            assigned = nth(statement, 0)
            left = assigned.child_by_field_name("left") if assigned is not None else None
            if left == node and node.type == "identifier":
                # The name is given to something else.
                continue
            if assigned is not None and assigned.type == "assignment" and left == node:
                node = assigned
            elif node.parent is not None and node.parent.type == "call":
                node = node.parent
            yield Match(
                node.start_byte,
                node.end_byte,
                _("Speaks to CUDA's libraries alone: harmless on a Mac, and without effect there."),
            )


def _named(document: PythonDocument) -> Iterator[Match]:
    """Backends and settings of a program that are called after cuDNN."""
    for match, node in document.hits(_TEXT):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is not None and string.text == match.group() and _is_value(string):
            message = _("cuDNN by its name: no Mac has it, so look what is chosen there.")
            yield Match(string.start_byte, string.end_byte, message, fix=Fix.MANUAL)
    for match, node in document.hits(_SETTING):
        if (node.start_byte, node.end_byte) == match.span() and _is_setting(node):
            message = _("A setting for cuDNN: harmless on a Mac, and without effect there.")
            yield Match(node.start_byte, node.end_byte, message)
    for match, node in document.hits(_ATTENTION):
        if node.type != "attribute":
            continue
        message = _("cuDNN's attention is for CUDA alone: let other backends be chosen on a Mac.")
        yield Match(match.start(), match.end(), message, fix=Fix.MANUAL)


def _is_value(string: Node) -> bool:
    """Whether a text is passed, stored or compared, and is no docstring, key or message."""
    parent = string.parent
    if parent is None or parent.type in ("expression_statement", "subscript"):
        return False
    if parent.type == "pair":
        return parent.child_by_field_name("key") != string
    if parent.type != "argument_list" or parent.parent is None:
        return True
    function = parent.parent.child_by_field_name("function")
    return function is None or _SAYS.search(function.text or b"") is None


def _is_setting(node: Node) -> bool:
    """Whether a name is a keyword, a variable, an attribute or a key; no function, no module."""
    parent = node.parent
    if node.type == "string_content" and parent is not None:
        place = parent.parent
        return place is not None and place.type in ("argument_list", "subscript", "pair")
    if node.type != "identifier" or parent is None or parent.type in _OTHERS:
        return False
    outer = parent.parent if parent.type == "attribute" else None
    return outer is None or outer.child_by_field_name("function") != parent


RULE = Rule(
    code="D110",
    name="cuda-backend-flag",
    severity=Severity.COSMETIC,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(rb"cudnn", rb"cuda", rb'"cuDNN', rb"'cuDNN", rb"CUDNN_ATTENTION"),
    what=N_("A setting of cuDNN or of CUDA's matrix products."),
    why=N_(
        "It can be set without CUDA and does nothing then. It matters to whoever compares numbers: "
        "TF32 or a benchmark mode on the CUDA side has no counterpart on a Mac."
    ),
    advice=N_("Leave it; write it down with the CUDA baseline."),
    source="Set one by one in PyTorch 2.13.0 built without CUDA, on Linux; not run on a Mac.",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                import torch.backends.cudnn as cudnn
                torch.backends.cudnn.benchmark = True
                cudnn.deterministic = True
                torch.backends.cuda.matmul.allow_tf32 = False
                """,
            finds=(
                "torch.backends.cudnn.benchmark = True",
                "cudnn.deterministic = True",
                "torch.backends.cuda.matmul.allow_tf32 = False",
            ),
        ),
        Example(
            text="""\
                from torch.nn.attention import SDPBackend
                settings = dict(cudnn_benchmark=False)
                if settings.get("cudnn_deterministic"):
                    pass
                backend = backend or "cudnn"
                allowed = [SDPBackend.FLASH_ATTENTION, SDPBackend.CUDNN_ATTENTION]
                if backend == "cudnn":
                    pass
                """,
            finds=(
                "cudnn_benchmark",
                "cudnn_deterministic",
                '"cudnn"',
                "SDPBackend.CUDNN_ATTENTION",
                '"cudnn"',
            ),
        ),
        Example(
            text="""\
                def cudnn_benchmark(): pass
                cudnn_benchmark()
                versions = {"cudnn": "8.9"}
                print("cudnn")
                """
        ),
        Example(text="""import torch.backends.cudnn as cudnn\n"""),
        Example(text="""# torch.backends.cudnn.benchmark = True, SDPBackend.CUDNN_ATTENTION\n"""),
        Example(text="""import torch\ntorch.backends.mps.is_available()\n"""),
    ),
)
