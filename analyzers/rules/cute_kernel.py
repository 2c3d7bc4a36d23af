"""K218: a kernel written in CUTLASS's Python language, CuTe."""

from collections.abc import Iterator

from analyzers.documents.python import IMPORTS, PythonDocument
from analyzers.python_kernels import decorated
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Functions under ``cutlass.cute.kernel``."""
    message = _(
        "{name} is a kernel in CuTe, CUTLASS's Python language, which compiles for NVIDIA GPUs "
        "alone. Look for another path on a Mac, or keep it on CUDA."
    )
    for kernel in decorated(document, ("cutlass.cute.kernel",)):
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))


RULE = Rule(
    code="K218",
    name="cute-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(Word(b"cutlass", on_line=IMPORTS),),
    what=N_("A kernel is written in the CuTe language of CUTLASS."),
    why=N_("It compiles to NVIDIA's instructions, and its libraries are not made for macOS."),
    advice=N_(
        "Such kernels are mostly attention or matrix multiplication: on other devices call "
        "torch.nn.functional.scaled_dot_product_attention or torch.matmul."
    ),
    source="https://docs.nvidia.com/cutlass/latest/media/docs/pythonDSL/quick_start.html",
    find=find,
    whole=True,
    examples=(
        Example(
            text="""\
                import cutlass.cute as cute

                class Copy:
                    @cute.kernel
                    def kernel(self, source: cute.Tensor):
                        pass

                    @cute.jit
                    def __call__(self, source):
                        self.kernel(source).launch(grid=[1, 1, 1])
                """,
            finds=("def kernel(self, source: cute.Tensor)",),
        ),
        Example(text="import cute\n\n@cute.kernel\ndef f(x):\n    pass\n# cutlass\n"),
        Example(text="import cutlass\n\n@cutlass.jit\ndef f(x):\n    pass\n"),
        Example(text="from cutlass import cute\n\nkernel = cute.kernel\n"),
    ),
)
