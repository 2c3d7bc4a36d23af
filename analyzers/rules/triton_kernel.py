"""K210: a kernel written in Triton."""

from collections.abc import Iterator

from analyzers.documents.python import IMPORTS, PythonDocument
from analyzers.python_kernels import decorated, head_of, launches
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_DECORATORS = ("triton.jit", "triton.runtime.jit.jit", "triton.experimental.gluon.jit")


def find(document: PythonDocument) -> Iterator[Match]:
    """The project's own kernels, and where this file starts them."""
    defined = list(decorated(document, _DECORATORS))
    message = _(
        "{name} is a Triton kernel. Triton has no wheel for macOS and compiles for no Apple GPU: "
        "a marker in the requirements only moves the error from the installation to this file."
    )
    for kernel in defined:
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))
    message = _("The Triton kernel {name} is started here: off CUDA this call needs another way.")
    for name, call in launches(document, [kernel.name for kernel in defined]):
        yield Match(*head_of(document, call), message.format(name=name))


RULE = Rule(
    code="K210",
    name="triton-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(Word(b"triton", on_line=IMPORTS),),
    what=N_("A kernel of the project's own is written in Triton, or started."),
    why=N_(
        "Triton generates code for NVIDIA and AMD GPUs, and its wheels are for Linux and Windows; "
        "even its interpreter needs the package."
    ),
    advice=N_(
        "Keep the kernel for CUDA, import its module only there, and give the function around it "
        "a branch in plain PyTorch for other devices; write a Metal shader "
        "(torch.mps.compile_shader, PyTorch 2.7) where that is too slow. Compare both results."
    ),
    source="https://github.com/triton-lang/triton#compatibility",
    find=find,
    whole=True,
    examples=(
        Example(
            text="""\
                import triton
                import triton.language as tl

                @triton.autotune(configs=[], key=["n"])
                @triton.jit
                def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
                    pid = tl.program_id(0)

                def add(x, y):
                    add_kernel[(4,)](x, y, x.numel(), BLOCK=64)
                """,
            finds=(
                "def add_kernel(x_ptr, y_ptr, n, BLOCK: tl.constexpr)",
                "add_kernel[(4,)](x, y, x.numel(), BLOCK=64)",
            ),
        ),
        Example(
            text="""\
                from triton import jit

                @jit(do_not_specialize=["n"])
                def scale(x_ptr, n):
                    pass
                """,
            finds=("def scale(x_ptr, n)",),
        ),
        Example(text="from numba import jit\n\n@jit\ndef triton(x):\n    return x\n"),
        Example(text="import triton\nn = triton.cdiv(7, 2)\ntable[n](x)\n"),
        Example(text="# @triton.jit\n# def f(x): pass\ns = '@triton.jit'\n"),
    ),
)
