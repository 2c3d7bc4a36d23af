"""D119: questions about the CUDA that PyTorch was built with."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.guards import Standing, standing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_BY_NAME = re.compile(
    rb"""\b(getattr|hasattr|setattr|delattr|object)\(\s*[\w.]+\s*,\s*["']cuda["']"""
)


def find(document: PythonDocument) -> Iterator[Match]:
    """``torch.version.cuda``, and ``torch.cuda`` asked for or replaced by its name."""
    for reference in document.references("torch.version"):
        if not reference.name.startswith("torch.version.cuda"):
            continue
        node = reference.node
        used = reference.name != "torch.version.cuda" or (
            node.parent is not None and node.parent.type == "subscript"
        )
        if used and standing(document, node) is Standing.BARE:
            message = _(
                "torch.version.cuda is None in a PyTorch without CUDA: this raises an error there."
            )
            yield Match(node.start_byte, node.end_byte, message, severity=Severity.BLOCKS)
        else:
            message = _("In a PyTorch without CUDA this is None.")
            yield Match(node.start_byte, node.end_byte, message)
    for match, node in document.hits(_BY_NAME):
        call = node if node.type == "call" else enclosing(node, ("call",))
        function = call.child_by_field_name("function") if call is not None else None
        arguments = call.child_by_field_name("arguments") if call is not None else None
        owner = arguments.named_child(0) if arguments is not None else None
        if call is None or function is None or function.end_byte != match.end(1):
            continue
        name = _module(document, owner) if owner is not None else ""
        if name not in ("torch", "torch.version"):
            continue
        if match.group(1) not in (b"hasattr", b"getattr"):
            message = _("Puts something in the place of what PyTorch says of CUDA, as tests do.")
            yield Match(call.start_byte, call.end_byte, message, fix=Fix.NONE)
        elif name == "torch.version":
            message = _("In a PyTorch without CUDA this is None.")
            yield Match(call.start_byte, call.end_byte, message)
        elif match.group(1) == b"hasattr":
            message = _("True in every PyTorch: it does not say whether CUDA is there.")
            yield Match(call.start_byte, call.end_byte, message)
        else:
            message = _("The module for CUDA by its name; look at what is called of it.")
            yield Match(call.start_byte, call.end_byte, message, severity=Severity.DEGRADES)


def _module(document: PythonDocument, owner: Node) -> str:
    """PyTorch, also where another module of the project stands before it."""
    name = document.dotted(owner) or ""
    before, _dot, after = document.slice(owner).partition(".torch")
    return "torch" + after if before and _dot and not name.startswith("torch") else name


RULE = Rule(
    code="D119",
    name="cuda-version",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("The program asks about the CUDA that PyTorch was built with."),
    why=N_(
        "torch.cuda is a module of every PyTorch, and torch.version.cuda is None without CUDA: "
        "neither says whether a GPU can be used, and a version that is None has no parts."
    ),
    advice=N_("Ask torch.cuda.is_available() first."),
    source="Asked in PyTorch 2.13.0 built without CUDA, on Linux; not run on a Mac.",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                print(torch.version.cuda)
                major = int(torch.version.cuda.split(".")[0])
                if hasattr(torch, "cuda"):
                    api = getattr(torch, "cuda")
                """,
            finds=(
                "torch.version.cuda",
                "torch.version.cuda.split",
                'hasattr(torch, "cuda")',
                'getattr(torch, "cuda")',
            ),
        ),
        Example(
            text="""\
                import torch
                built = getattr(torch.version, "cuda", None)
                monkeypatch.setattr(torch.version, "cuda", "12.8")
                with mock.patch.object(torch, "cuda"), mock.patch.object(build.torch, "cuda"):
                    run()
                """,
            finds=(
                'getattr(torch.version, "cuda", None)',
                'monkeypatch.setattr(torch.version, "cuda", "12.8")',
                'mock.patch.object(torch, "cuda")',
                'mock.patch.object(build.torch, "cuda")',
            ),
        ),
        Example(text="""import torch\nprint(torch.version.git_version)\n"""),
        Example(text="""hasattr(model, "cuda")\n"""),
        Example(text="""# torch.version.cuda\ntext = "torch.version.cuda"\n"""),
    ),
)
