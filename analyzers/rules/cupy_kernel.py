"""K212: a kernel that CuPy compiles."""

from collections.abc import Iterator

from analyzers.documents.python import IMPORTS, PythonDocument
from analyzers.python_kernels import decorated
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MAKERS = ("RawKernel", "RawModule", "ElementwiseKernel", "ReductionKernel")


def find(document: PythonDocument) -> Iterator[Match]:
    """What makes a kernel of source code, and functions that CuPy compiles."""
    message = _(
        "CuPy compiles CUDA source here. It has no backend for Metal: element-wise and reducing "
        "kernels are mostly PyTorch operators in another form, others a Metal shader "
        "(torch.mps.compile_shader, PyTorch 2.7)."
    )
    for name in _MAKERS:
        for reference in document.references(f"cupy.{name}"):
            parent = reference.node.parent
            if parent is not None and parent.type == "call":
                yield Match(reference.node.start_byte, reference.node.end_byte, message)
    message = _("CuPy compiles {name} for CUDA, and for no GPU of Apple's.")
    for kernel in decorated(document, ("cupyx.jit.rawkernel", "cupy.fuse")):
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))


RULE = Rule(
    code="K212",
    name="cupy-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(Word(b"cupy", on_line=IMPORTS),),
    what=N_("A kernel is made through CuPy: from CUDA source, or from a Python function."),
    why=N_("CuPy needs CUDA or ROCm, and its wheels are for Linux and Windows."),
    advice=N_(
        "Keep it for CUDA and give the function around it a branch in PyTorch for other devices."
    ),
    source="https://docs.cupy.dev/en/stable/user_guide/kernel.html",
    find=find,
    whole=True,
    examples=(
        Example(
            text="""\
                import cupy as cp
                from cupyx import jit

                kernel = cp.RawKernel(source, "blur")
                square = cp.ElementwiseKernel("T x", "T y", "y = x * x", "square")

                @jit.rawkernel()
                def copy(x, y):
                    pass
                """,
            finds=("cp.RawKernel", "cp.ElementwiseKernel", "def copy(x, y)"),
        ),
        Example(text="import cupy\nm = cupy.RawModule(code=text)\n", finds=("cupy.RawModule",)),
        Example(text="import cupy as cp\nx = cp.asarray(y)\n"),
        Example(text="from mine import RawKernel\nimport cupy\nk = RawKernel(source, 'f')\n"),
        Example(text="# cupy.RawKernel(code, 'f')\nname = 'cupy.RawKernel'\n"),
        Example(text="import cupy\nkinds = [cupy.RawKernel]\n"),
    ),
)
