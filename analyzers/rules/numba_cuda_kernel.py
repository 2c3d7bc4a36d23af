"""K211: a kernel that Numba compiles for CUDA."""

import re
from collections.abc import Iterator

from analyzers.documents.python import IMPORTS, PythonDocument, enclosing
from analyzers.python_kernels import decorated, head_of, launches
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TARGET = re.compile(rb"\btarget(?:_backend)?\s*=\s*[\"']cuda[\"']")
_COMPILERS = ("numba.vectorize", "numba.guvectorize", "numba.jit", "numba.njit")


def find(document: PythonDocument) -> Iterator[Match]:
    """Functions under ``cuda.jit``, what starts them, and targets that are CUDA."""
    defined = list(decorated(document, ("numba.cuda.jit", "numba.cuda.reduce")))
    message = _(
        "Numba compiles {name} for CUDA; it has no target for Apple's GPUs. An element-wise kernel "
        "is often a few PyTorch operators; others may become a Metal shader "
        "(torch.mps.compile_shader, PyTorch 2.7) or run on the CPU under numba.njit."
    )
    for kernel in defined:
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))
    message = _("The kernel {name} is started on a CUDA device here.")
    for name, call in launches(document, [kernel.name for kernel in defined]):
        yield Match(*head_of(document, call), message.format(name=name))
    yield from _targets(document)


def _targets(document: PythonDocument) -> Iterator[Match]:
    message = _("Numba is asked for its CUDA target; a Mac has the CPU and parallel targets alone.")
    for match, node in document.hits(_TARGET):
        call = enclosing(node, ("call",))
        function = call.child_by_field_name("function") if call is not None else None
        if function is not None and document.dotted(function) in _COMPILERS:
            yield Match(match.start(), match.end(), message)


RULE = Rule(
    code="K211",
    name="numba-cuda-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(Word(b"numba", on_line=IMPORTS),),
    what=N_("A function is compiled for CUDA by Numba, or started on a CUDA device."),
    why=N_("Numba's GPU target is CUDA; on a Mac it compiles for the CPU alone."),
    advice=N_(
        "Keep the kernel for CUDA and give its caller a branch for other devices, tested against "
        "the kernel's results."
    ),
    source="https://numba.readthedocs.io/en/stable/cuda/overview.html",
    find=find,
    whole=True,
    examples=(
        Example(
            text="""\
                from numba import cuda

                @cuda.jit
                def halve(values):
                    i = cuda.grid(1)
                    if i < values.size:
                        values[i] *= 0.5

                halve[8, 128](cuda.to_device(data))
                """,
            finds=("def halve(values)", "halve[8, 128](cuda.to_device(data))"),
        ),
        Example(
            text="""\
                import numba
                from numba import vectorize

                @numba.cuda.jit("void(float32[:])", device=True)
                def helper(x):
                    pass

                @vectorize(["float32(float32)"], target="cuda")
                def double(x):
                    return x * 2
                """,
            finds=("def helper(x)", 'target="cuda"'),
        ),
        Example(text="from numba import njit\n\n@njit(parallel=True)\ndef f(x):\n    pass\n"),
        Example(text="from torch import cuda\nimport numba\n\n@cuda.jit\ndef f(x):\n    pass\n"),
        Example(text="import numba\nrows[1, 2](x)\nf(target='cuda')\n"),
    ),
)
