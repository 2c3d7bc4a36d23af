"""K214: a CUDA kernel in a string of a Python file."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_GLOBAL = re.compile(rb"\b__global__\b")
_PLACEHOLDER = re.compile(rb"\$\{\w{1,60}\}")
_QUOTES = re.compile(rb"[A-Za-z]{0,2}('{3}|\"{3}|'|\")")


def find(document: PythonDocument) -> Iterator[Match]:
    """The signature of each kernel in a string that is no docstring."""
    message = _(
        "The string holds the CUDA kernel {name}: whatever compiles it needs NVIDIA's compiler. It "
        "may become a Metal shader (torch.mps.compile_shader, PyTorch 2.7) or PyTorch operators."
    )
    seen: set[int] = set()
    for _match, node in document.hits(_GLOBAL):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or string.start_byte in seen or _is_docstring(string):
            continue
        seen.add(string.start_byte)
        text = _filled(document, string)
        quotes = _QUOTES.match(text)
        if quotes is None:
            continue
        first = string.start_byte + quotes.end()
        source = Source.of("kernel.cu", text[quotes.end() : -len(quotes[1])])
        for kernel in CudaDocument(source).kernels():
            name = message.format(name=kernel.name)
            yield Match(first + kernel.start, first + kernel.end, name)


def _filled(document: PythonDocument, string: Node) -> bytes:
    """The text of a string with a word in the place of each value that is put into it."""
    text = bytearray(document.text[string.start_byte : string.end_byte])
    for child in string.named_children:
        if child.type == "interpolation":
            start, end = child.start_byte - string.start_byte, child.end_byte - string.start_byte
            text[start:end] = b"_" * (end - start)
    return _PLACEHOLDER.sub(lambda match: b"_" * len(match[0]), bytes(text))


def _is_docstring(string: Node) -> bool:
    return string.parent is None or string.parent.type == "expression_statement"


RULE = Rule(
    code="K214",
    name="cuda-source-string",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(b"__global__",),
    what=N_("A Python file holds the source of a CUDA kernel in a string."),
    why=N_(
        "It is compiled when the program runs, by load_inline, CuPy, PyCUDA or another, all of "
        "which need the CUDA toolkit."
    ),
    advice=N_(
        "Weigh it as any other kernel: a path in plain PyTorch, then a Metal shader, else stay "
        "with CUDA; the string stays for CUDA."
    ),
    source="https://docs.pytorch.org/docs/stable/cpp_extension.html",
    find=find,
    examples=(
        Example(
            text='''\
                source = r"""
                #include <cuda_runtime.h>
                extern "C" __global__ void blur(float *x, int n) {
                    x[threadIdx.x] += n;
                }
                __global__ void declared(int n);
                """
                ''',
            finds=('extern "C" __global__ void blur(float *x, int n)',),
        ),
        Example(
            text="""\
                kernel = f'__global__ void {name}(int n) {{ f<{size}>(); }}'
                other = '__global__ void ${name}(int n) { }'
                """,
            finds=("__global__ void {name}(int n)", "__global__ void ${name}(int n)"),
        ),
        Example(text='"""__global__ void f(int n) { }"""\n'),
        Example(text="# __global__ void f(int n) { }\n"),
        Example(text="words = ['__global__', '__device__']\nif '__global__' in line:\n    pass\n"),
    ),
)
