"""K203: a CUDA extension that Python builds."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MODULE = "torch.utils.cpp_extension"
_SOURCE = re.compile(rb"""[\w./*{}-]+\.cuh?(?=["'])""")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``CUDAExtension``, loading at run time, and names of CUDA sources elsewhere."""
    spans: list[tuple[int, int]] = []
    for match in sorted((*_extensions(document), *_loads(document)), key=lambda one: one.start):
        spans.append((match.start, match.end))
        yield match
    message = _("{name} is compiled by nvcc: what is built from it does not exist on a Mac.")
    for hit, node in document.hits(_SOURCE):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or _is_text(string) or string.end_byte != hit.end() + 1:
            continue
        if any(start <= string.start_byte and string.end_byte <= end for start, end in spans):
            continue
        name = hit[0].decode("ascii", "replace")
        yield Match(string.start_byte, string.end_byte, message.format(name=name))


def _extensions(document: PythonDocument) -> Iterator[Match]:
    message = _(
        "A CUDA extension is built here: without nvcc the build stops, and replacing it by a "
        "CppExtension leaves out the code that does the work."
    )
    for reference in document.references(f"{_MODULE}.CUDAExtension"):
        node = _call_of(reference.node) or reference.node
        yield Match(node.start_byte, node.end_byte, message)


def _loads(document: PythonDocument) -> Iterator[Match]:
    certain = _("CUDA sources are compiled here when the program runs, which needs nvcc.")
    unsure = _(
        "An extension is compiled here when the program runs; its sources are named elsewhere: "
        "look whether a .cu file is among them."
    )
    for name in ("load", "load_inline"):
        for reference in document.references(f"{_MODULE}.{name}"):
            call = _call_of(reference.node)
            if call is None:
                continue
            keywords = _keywords(document, call)
            cuda = keywords.get("cuda_sources")
            if (cuda is not None and cuda.type != "none") or _SOURCE.search(call.text or b""):
                yield Match(call.start_byte, call.end_byte, certain)
            elif name == "load" and not _is_literal(keywords.get("sources")):
                yield Match(call.start_byte, call.end_byte, unsure, Severity.DEGRADES, Fix.MANUAL)


def _call_of(node: Node) -> Node | None:
    parent = node.parent
    if parent is not None and parent.type == "call":
        return parent if parent.child_by_field_name("function") == node else None
    return None


def _keywords(document: PythonDocument, call: Node) -> dict[str, Node]:
    arguments = call.child_by_field_name("arguments")
    found: dict[str, Node] = {}
    for child in arguments.named_children if arguments is not None else []:
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if child.type == "keyword_argument" and name is not None and value is not None:
            found[document.slice(name)] = value
    return found


def _is_literal(node: Node | None) -> bool:
    """Whether the sources are a list of plain strings, none of which named CUDA."""
    if node is None or node.type not in ("list", "tuple"):
        return False
    return all(
        child.type == "string" and all(c.type != "interpolation" for c in child.children)
        for child in node.named_children
    )


def _is_text(string: Node) -> bool:
    """Whether a string is a docstring or handed to something that prints or compares it."""
    parent = string.parent
    return parent is None or parent.type in ("expression_statement", "comparison_operator")


RULE = Rule(
    code="K203",
    name="cuda-extension",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(rb"CUDAExtension", rb"cpp_extension", rb"\.cuh?[\"']"),
    what=N_("Python code builds or loads an extension that is written in CUDA."),
    why=N_("Without the CUDA toolkit the build fails, and the module that it makes is missing."),
    advice=N_(
        "Build the extension where CUDA_HOME is set and leave it out elsewhere; import it there "
        "alone, and route other devices to a reference in plain PyTorch."
    ),
    source="https://docs.pytorch.org/docs/stable/cpp_extension.html",
    find=find,
    examples=(
        Example(
            path="setup.py",
            text="""\
                from setuptools import setup
                from torch.utils.cpp_extension import BuildExtension, CUDAExtension
                setup(
                    ext_modules=[CUDAExtension("ops", ["ops.cpp", "ops_kernel.cu"])],
                    cmdclass={"build_ext": BuildExtension},
                )
                """,
            finds=('CUDAExtension("ops", ["ops.cpp", "ops_kernel.cu"])',),
        ),
        Example(
            text="""\
                import torch.utils.cpp_extension as cpp
                from torch.utils import cpp_extension
                ops = cpp.load(name="ops", sources=["ops.cpp", "ops.cu"])
                more = cpp_extension.load_inline("more", cpp_source, cuda_sources=kernel)
                mine = cpp.load(name=name, sources=sources)
                """,
            finds=(
                'cpp.load(name="ops", sources=["ops.cpp", "ops.cu"])',
                'cpp_extension.load_inline("more", cpp_source, cuda_sources=kernel)',
                "cpp.load(name=name, sources=sources)",
            ),
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension
                if CUDA_HOME is not None:
                    extension = CUDAExtension
                    sources = ["src/deform_attention_cuda.cu"]
                """,
            finds=("CUDAExtension", '"src/deform_attention_cuda.cu"'),
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import BuildExtension, CppExtension
                setup(
                    ext_modules=[CppExtension("ops", ["ops.cpp"])],
                    cmdclass={"build_ext": BuildExtension},
                )
                """,
        ),
        Example(
            text="""\
                from torch.utils.cpp_extension import load
                ops = load(name="ops", sources=["ops.cpp"])
                """,
        ),
        Example(text="from torch.utils.cpp_extension import CUDAExtension\n"),
        Example(text='"""Compiles ops.cu"""\nprint("see ops.cu for the kernel")\n# "ops.cu"\n'),
        Example(text="import torch\nmodel = torch.load(path)\nname = 'readme.cute'\n"),
    ),
)
