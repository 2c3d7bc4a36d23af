"""K204: an import of a library that needs CUDA."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers import libraries
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.environment import library_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_STATEMENTS = ("import_statement", "import_from_statement")
_HANDLED = re.compile(
    rb"\b(?:ImportError|ModuleNotFoundError|Exception|BaseException)\b|except\s*:"
)
_WORD = rb"(?<![\w.])(?:" + "|".join(libraries.import_names()).encode() + rb")\b"
_NAMES = re.compile(_WORD)


def find(document: PythonDocument) -> Iterator[Match]:
    """Import statements of a library that the table says needs CUDA."""
    seen: set[int] = set()
    for _hit, node in document.hits(_NAMES):
        statement = enclosing(node, _STATEMENTS)
        if statement is None or statement.start_byte in seen:
            continue
        for module in _modules(document, statement):
            found = libraries.imported(module)
            trouble = library_trouble(*found) if found is not None else None
            if trouble is None or _is_own(document, module):
                continue
            seen.add(statement.start_byte)
            if _is_handled(statement):
                message = _("The code goes on without this import. {reason}")
                yield Match(
                    statement.start_byte,
                    statement.end_byte,
                    message.format(reason=trouble.message),
                    Severity.COSMETIC,
                )
            else:
                yield Match(
                    statement.start_byte, statement.end_byte, trouble.message, trouble.severity
                )
            break


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
    if folders[:1] == ["src"]:
        folders = folders[1:]
    return folders[:1] == [module.split(".")[0]]


def _is_handled(statement: Node) -> bool:
    """Whether the import stands in a ``try`` whose handler lets the program go on."""
    node = statement
    while (attempt := enclosing(node, ("try_statement", "function_definition"))) is not None:
        if attempt.type != "try_statement":
            return False
        body = attempt.child_by_field_name("body")
        if body is not None and body.start_byte <= statement.start_byte < body.end_byte:
            for clause in attempt.named_children:
                if clause.type != "except_clause":
                    continue
                head, _colon, _block = (clause.text or b"").partition(b"\n")
                raises = any(
                    part.type == "raise_statement"
                    for block in clause.named_children
                    if block.type == "block"
                    for part in block.named_children
                )
                if _HANDLED.search(head) and not raises:
                    return True
        node = attempt
    return False


RULE = Rule(
    code="K204",
    name="cuda-library-import",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(_WORD,),
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
                """,
            finds=(
                "import nvdiffrast.torch as dr",
                "from flash_attn import flash_attn_func",
                "from numba import cuda, njit",
                "import os, cupy as cp",
            ),
        ),
        Example(
            text="""\
                try:
                    import xformers.ops
                except ImportError:
                    xformers = None
                """,
            finds=("import xformers.ops",),
        ),
        Example(text="import bitsandbytes as bnb\nfrom numba import njit\nimport warp\n"),
        Example(text="from .triton import kernels\nfrom project.apex import amp\n"),
        Example(text="# import cupy\nname = 'import cupy'\ncupy_version = 1\n"),
        Example(path="src/deepspeed/engine.py", text="from deepspeed.utils import logger\n"),
        Example(text="import tritonclient.http\nimport apexpy\n"),
    ),
)
