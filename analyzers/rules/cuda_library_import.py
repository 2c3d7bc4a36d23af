"""K204: an import of a library that needs CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers import libraries
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.environment import Trouble, library_trouble
from analyzers.guards import is_guarded
from analyzers.rule import WHOLE, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_STATEMENTS = ("import_statement", "import_from_statement")
_IMPORTS = re.compile(
    rb"(?:\b(?:from|import)[ \t]+|,[ \t]*|[\"'])(?P<name>"
    + "|".join(libraries.import_names()).encode()
    + rb")\b"
)
#: What stands before a module that is imported: in a statement, or in a call that imports.
_IMPORTING = re.compile(
    rb"(?:\b(?:from|import)[ \t]+|\bimport\b.*,[ \t]*"
    rb"|(?:import_module|__import__)\(\s*[\"']|^[ \t]*[\"'])\Z",
    re.MULTILINE,
)
_HANDLED = re.compile(
    rb"\b(?:ImportError|ModuleNotFoundError|Exception|BaseException)\b|except\s*:"
)
_SUPPRESSED = re.compile(
    rb"\bsuppress\([^)\n]{0,200}\b(?:ImportError|ModuleNotFoundError|Exception)\b"
)
_EXIT = re.compile(rb"(?:sys\.|os\.)?_?(?:exit|quit)\(")
#: A condition that asks whether the library is there, or whether this is another system.
_FOUND = re.compile(
    rb"(?i)(?!not\b)(?:.*(?:\bis_\w+_(?:available|installed)\b|_available\b|\bfind_spec\b|"
    rb"(?:\b|_)has_\w|\bcheck_\w*(?:requirement|installed|available)|!=\s*[\"']darwin|==\s*[\"'](?:linux|win)))",
    re.DOTALL,
)
#: How much of a condition is looked at, in bytes.
_LONGEST = 400


def find(document: PythonDocument) -> Iterator[Match]:
    """Import statements of a library that the table says needs CUDA."""
    seen: set[int] = set()
    for match, _whole in document.hits(_IMPORTS):
        node = document.root.descendant_for_byte_range(*match.span("name"))
        found = _imported(document, node) if node is not None else None
        if found is None or found[0].start_byte in seen:
            continue
        place, trouble = found
        seen.add(place.start_byte)
        for_types, handled, asked_for = _surroundings(document, place)
        if for_types:
            continue
        message, severity = trouble.message, trouble.severity
        if handled:
            message = _("The code goes on without this import. {reason}").format(reason=message)
            severity = Severity.COSMETIC
        elif asked_for or is_guarded(document, place):
            message = _("Only where it is found, or CUDA is, is this imported. {reason}").format(
                reason=message
            )
            severity = Severity.COSMETIC
        yield Match(place.start_byte, place.end_byte, message, severity)


def _imported(document: PythonDocument, node: Node) -> tuple[Node, Trouble] | None:
    """The import that a name belongs to, and why a Mac cannot follow it."""
    statement = enclosing(node, _STATEMENTS)
    if statement is not None:
        trouble = _trouble(document, _modules(document, statement))
        return (statement, trouble) if trouble is not None else None
    call = enclosing(node, ("call", "block", "module"))
    if call is None or call.type != "call":
        return None
    function, arguments = (
        call.child_by_field_name("function"),
        call.child_by_field_name("arguments"),
    )
    first = arguments.named_child(0) if arguments and arguments.named_child_count else None
    if function is None or first is None or first.type != "string":
        return None
    if document.slice(function).rpartition(".")[2] not in ("import_module", "__import__"):
        return None
    trouble = _trouble(document, [document.slice(first).strip("\"'")])
    return (call, trouble) if trouble is not None else None


def _trouble(document: PythonDocument, modules: Iterator[str] | list[str]) -> Trouble | None:
    """What the table says against the first of these modules that a Mac has trouble with."""
    for module in modules:
        found = libraries.imported(module)
        trouble = library_trouble(*found) if found is not None else None
        if trouble is not None and not _is_own(document, module):
            return trouble
    return None


def _modules(document: PythonDocument, statement: Node) -> Iterator[str]:
    """The dotted names that a statement may load; a relative import loads the project's own."""
    module = statement.child_by_field_name("module_name")
    if module is not None and module.type == "relative_import":
        return
    prefix = f"{document.slice(module)}." if module is not None else ""
    names = statement.children_by_field_name("name")
    if not names and prefix:
        yield prefix[:-1]
    for node in names:
        name = node.child_by_field_name("name") if node.type == "aliased_import" else node
        if name is not None:
            yield prefix + document.slice(name)


def _is_own(document: PythonDocument, module: str) -> bool:
    """Whether the file lies in the package that it imports: the library's own repository."""
    folders = document.path.split("/")[:-1]
    while folders[:1] and folders[0] in ("src", "python", "packages", "lib"):
        folders = folders[1:]
    return module.split(".")[0] in folders[:1]


def _surroundings(document: PythonDocument, place: Node) -> tuple[bool, bool, bool]:
    """Whether an import is for type checkers alone, caught where it fails, or asked for before."""
    block = enclosing(place, ("block", "module")) or document.root
    return document.remember(
        ("surroundings of imports", block.start_byte, block.end_byte),
        lambda: (
            _is_for_types(document, block),
            _is_handled(document, block),
            _is_asked_for(document, block),
        ),
    )


def _is_for_types(document: PythonDocument, block: Node) -> bool:
    """Whether only a type checker enters a block."""
    branch = block.parent
    condition = branch.child_by_field_name("condition") if branch is not None else None
    return condition is not None and document.slice(condition).endswith("TYPE_CHECKING")


def _is_asked_for(document: PythonDocument, block: Node) -> bool:
    """Whether a block stands under a condition that asks for the library or the system."""
    child, parent = block, block.parent
    while parent is not None and parent.type != "function_definition":
        if parent.type in ("if_statement", "elif_clause"):
            condition = parent.child_by_field_name("condition")
            if condition is not None and parent.child_by_field_name("consequence") == child:
                end = min(condition.end_byte, condition.start_byte + _LONGEST)
                if _FOUND.match(document.text[condition.start_byte : end]):
                    return True
        child, parent = parent, parent.parent
    return False


def _is_handled(document: PythonDocument, block: Node) -> bool:
    """Whether a block stands in a ``try`` whose handler lets the program go on."""
    child, parent = block, block.parent
    while parent is not None and parent.type != "function_definition":
        if parent.type == "with_statement":
            end = min(child.start_byte, parent.start_byte + _LONGEST)
            if _SUPPRESSED.search(document.text[parent.start_byte : end]):
                return True
        if parent.type == "try_statement" and parent.child_by_field_name("body") == child:
            for clause in parent.named_children:
                if clause.type == "except_clause" and _goes_on(document, clause):
                    return True
        child, parent = parent, parent.parent
    return False


def _goes_on(document: PythonDocument, clause: Node) -> bool:
    """Whether an ``except`` catches a failed import and does not end in one more failure."""
    head, _colon, _block = (clause.text or b"").partition(b"\n")
    if not _HANDLED.search(head):
        return False
    for block in clause.named_children:
        for part in block.named_children if block.type == "block" else ():
            if part.type == "raise_statement" or _EXIT.match(part.text or b""):
                return False
            if part.type in _STATEMENTS and _trouble(document, _modules(document, part)):
                return False
    return True


def _triggers() -> Iterator[Word]:
    for name in libraries.import_names():
        yield Word(name.encode(), before=_IMPORTING, after=WHOLE)


RULE = Rule(
    code="K204",
    name="cuda-library-import",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=tuple(_triggers()),
    what=N_("A library is imported that needs CUDA, or does only a part of its work without it."),
    why=N_(
        "On a Mac the import fails, or the library does and what is called later. Renaming the "
        "device of the tensors around such a call changes nothing."
    ),
    advice=N_("Import it where CUDA is available alone, and use what the message names elsewhere."),
    source="https://developer.apple.com/metal/pytorch/",
    find=find,
    examples=(
        Example(
            text="""\
                import nvdiffrast.torch as dr
                from flash_attn import flash_attn_func
                from numba import cuda, njit
                import os, cupy as cp
                from cuda import cudart
                kernels = importlib.import_module("torch_scatter")
                """,
            finds=(
                "import nvdiffrast.torch as dr",
                "from flash_attn import flash_attn_func",
                "from numba import cuda, njit",
                "import os, cupy as cp",
                "from cuda import cudart",
                'importlib.import_module("torch_scatter")',
            ),
        ),
        Example(
            text="""\
                try:
                    import xformers.ops
                except ImportError:
                    xformers = None
                if torch.cuda.is_available():
                    import pycuda.driver
                """,
            finds=("import xformers.ops", "import pycuda.driver"),
        ),
        Example(text="import bitsandbytes as bnb\nfrom numba import njit\nimport warp\n"),
        Example(text="from .triton import kernels\nfrom project.apex import amp\n"),
        Example(text="# import cupy\nname = 'import cupy'\ncupy_version = 1\n"),
        Example(path="src/deepspeed/engine.py", text="from deepspeed.utils import logger\n"),
        Example(text="import tritonclient.http\nimport apexpy\nfrom torch import cuda\n"),
        Example(
            text="""\
                if check_cupy_requirement():
                    from cupy.cuda import function
                """,
            finds=("from cupy.cuda import function",),
        ),
        Example(text="if TYPE_CHECKING:\n    import triton\nuse(device, triton)\n"),
    ),
)
