"""K213: CUDA source that is compiled while the program runs."""

from collections.abc import Iterator

from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Calls that compile CUDA source, and who offers them.
_MAKERS = {
    "pycuda.compiler.SourceModule": "PyCUDA",
    "pycuda.compiler.DynamicSourceModule": "PyCUDA",
    "pycuda.compiler.compile": "PyCUDA",
    "pycuda.elementwise.ElementwiseKernel": "PyCUDA",
    "pycuda.reduction.ReductionKernel": "PyCUDA",
    "pycuda.scan.InclusiveScanKernel": "PyCUDA",
    "pycuda.scan.ExclusiveScanKernel": "PyCUDA",
    "cuda.nvrtc.nvrtcCreateProgram": "cuda-python",
    "cuda.bindings.nvrtc.nvrtcCreateProgram": "cuda-python",
    "cuda.core.Program": "cuda-python",
    "cuda.core.experimental.Program": "cuda-python",
    "torch.cuda.jiterator._create_jit_fn": "torch.cuda.jiterator",
    "torch.cuda.jiterator._create_multi_output_jit_fn": "torch.cuda.jiterator",
    "torch.cuda._compile_kernel": "torch.cuda._compile_kernel",
}


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls that turn CUDA source into something that runs."""
    message = _(
        "{maker} compiles CUDA source here with NVIDIA's compiler, which no Mac has. The source "
        "may become a Metal shader (torch.mps.compile_shader, PyTorch 2.7) or PyTorch operators."
    )
    for name, maker in _MAKERS.items():
        for reference in document.references(name):
            parent = reference.node.parent
            if reference.name == name and parent is not None and parent.type == "call":
                node = reference.node
                yield Match(node.start_byte, node.end_byte, message.format(maker=maker))


RULE = Rule(
    code="K213",
    name="run-time-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(b"pycuda", b"nvrtc", b"cuda.core", b"jiterator", b"_compile_kernel"),
    what=N_("CUDA source is compiled while the program runs, by PyCUDA, cuda-python or PyTorch."),
    why=N_("It needs NVIDIA's compiler and driver at run time; a Mac has neither."),
    advice=N_(
        "Keep it for CUDA and give the function around it a branch for other devices: PyTorch "
        "operators, or a Metal shader."
    ),
    source="https://documen.tician.de/pycuda/driver.html#module-pycuda.compiler",
    find=find,
    examples=(
        Example(
            text="""\
                from pycuda.compiler import SourceModule
                import torch
                module = SourceModule(text)
                gelu = torch.cuda.jiterator._create_jit_fn(code, alpha=1.0)
                """,
            finds=("SourceModule", "torch.cuda.jiterator._create_jit_fn"),
        ),
        Example(
            text="""\
                from cuda.bindings import nvrtc
                err, program = nvrtc.nvrtcCreateProgram(text, b"k.cu", 0, [], [])
                """,
            finds=("nvrtc.nvrtcCreateProgram",),
        ),
        Example(text="from mine import SourceModule\nimport pycuda\nSourceModule(text)\n"),
        Example(text="# pycuda.compiler.SourceModule(text)\n"),
        Example(text="import torch\nk = torch.mps.compile_shader(text)\n_compile_kernel(k)\n"),
    ),
)
