"""The words that rewrites write: the three-way choice, the helper, the import."""

import re

from tree_sitter import Node

from analyzers.documents.python import Import, PythonDocument, enclosing, nth
from project.vocabulary import Edit

HELPER = "pick_device"
_HELPER_NAME = re.compile(rb"\b" + HELPER.encode() + rb"\b")
_WINDOWS_END = re.compile(rb"\r\n")


def torch_name(document: PythonDocument) -> str | None:
    """What the module calls torch at its top level, or None when it does not import it."""
    for one in document.imports:
        if one.target == "torch" and one.scope.type == "module" and not _for_types(document, one):
            return one.name
    return None


def _for_types(document: PythonDocument, one: Import) -> bool:
    """Whether an import is made for type checkers alone."""
    branch = enclosing(one.statement, ("if_statement",))
    condition = branch.child_by_field_name("condition") if branch is not None else None
    return condition is not None and "TYPE_CHECKING" in document.slice(condition)


def cuda_test(document: PythonDocument) -> str:
    """The call that asks for CUDA, in the module's own names."""
    torch = torch_name(document)
    if torch is None:
        for one in document.imports:
            if one.target == "torch.cuda" and one.scope.type == "module":
                return f"{one.name}.is_available()"
    return f"{torch or 'torch'}.cuda.is_available()"


def mps_test(document: PythonDocument) -> str:
    """The call that asks for MPS, in the module's own names."""
    return f"{torch_name(document) or 'torch'}.backends.mps.is_available()"


def three_way(document: PythonDocument, cuda: str, quote: str = '"') -> str:
    """CUDA, then MPS, then the CPU, as an expression whose value is a string."""
    torch = torch_name(document) or "torch"
    mps, cpu = f"{quote}mps{quote}", f"{quote}cpu{quote}"
    return f"{cuda} if {torch}.cuda.is_available() else {mps} if {mps_test(document)} else {cpu}"


def kind_for_amp(document: PythonDocument, quote: str = '"') -> str:
    """The kind of device for mixed precision: MPS where it is there, else CUDA as before.

    The CPU is not named: CUDA's mixed precision is off where there is no CUDA, while the CPU's
    computes in bfloat16.
    """
    return f"{quote}mps{quote} if {mps_test(document)} else {quote}cuda{quote}"


def import_torch(document: PythonDocument) -> tuple[Edit, ...]:
    """The edit that imports torch, empty where the module has it.

    It goes behind the last import of the top of the file, or behind the docstring.
    """
    if torch_name(document) is not None or document.source.cells:
        return ()
    at = _end_of_imports(document)
    end = line_end(document)
    return (Edit(at, at, f"import torch{end}".encode()),)


def can_help(document: PythonDocument) -> bool:
    """Whether a helper can be added: a module that imports torch and has no such name yet."""
    taken = document.says(_HELPER_NAME)
    return torch_name(document) is not None and not document.source.cells and not taken


def helper(document: PythonDocument) -> Edit:
    """The edit that defines the helper behind the imports of the module."""
    torch = torch_name(document) or "torch"
    at = _end_of_imports(document)
    lines = [
        "",
        "",
        f"def {HELPER}():",
        '    """Return CUDA where it is available, then MPS, then the CPU."""',
        f"    if {torch}.cuda.is_available():",
        f'        return {torch}.device("cuda")',
        f"    if {torch}.backends.mps.is_available():",
        f'        return {torch}.device("mps")',
        f'    return {torch}.device("cpu")',
    ]
    rest = document.text[at:]
    blank = re.match(rb"(?:[ \t]*\r?\n)*", rest)
    if blank is None or blank.group().count(b"\n") < 2:
        lines += [""] * (2 - (blank.group().count(b"\n") if blank else 0)) if rest.strip() else []
    end = line_end(document)
    return Edit(at, at, (end.join(lines) + end).encode())


def line_end(document: PythonDocument) -> str:
    """The line end that the file uses."""
    return "\r\n" if document.says(_WINDOWS_END) else "\n"


def _end_of_imports(document: PythonDocument) -> int:
    """The start of the line after the imports that open the module."""
    end = 0
    for child in document.root.named_children:
        opening = child.type in (
            "import_statement",
            "import_from_statement",
            "future_import_statement",
        ) or _is_docstring(child)
        if opening:
            end = child.end_byte
        elif child.type != "comment":
            break
    text = document.text
    if end == 0:
        return _after_header(text)
    newline = text.find(b"\n", end)
    return len(text) if newline < 0 else newline + 1


def _after_header(text: bytes) -> int:
    """Behind a byte order mark, a ``#!`` line and an encoding line."""
    position = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    for _line in range(2):
        stop = text.find(b"\n", position) + 1
        line = text[position : stop or len(text)]
        if not stop or not (line.startswith(b"#!") or re.match(rb"#.*coding[:=]", line)):
            break
        position = stop
    return position


def _is_docstring(node: Node) -> bool:
    first = nth(node, 0)
    return node.type == "expression_statement" and first is not None and first.type == "string"
