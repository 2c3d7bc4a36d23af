"""K215: a kernel written in NVIDIA Warp."""

from collections.abc import Iterator

from analyzers.documents.python import IMPORTS, PythonDocument
from analyzers.python_kernels import decorated
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Functions under ``warp.kernel``."""
    message = _(
        "Warp compiles {name} for CUDA and for the CPU: its wheel for macOS runs it on the CPU, "
        "not on the GPU."
    )
    for kernel in decorated(document, ("warp.kernel",)):
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))


RULE = Rule(
    code="K215",
    name="warp-kernel",
    severity=Severity.DEGRADES,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(Word(b"warp", on_line=IMPORTS),),
    what=N_("A kernel is written in NVIDIA Warp."),
    why=N_("Warp has two targets, CUDA and the CPU; the macOS wheel holds the second."),
    advice=N_(
        "See whether the CPU is fast enough, and that no device is named in wp.launch; tensors "
        "on MPS have to be copied to the CPU and back."
    ),
    source="https://nvidia.github.io/warp/installation.html",
    find=find,
    whole=True,
    examples=(
        Example(
            text="""\
                import warp as wp

                @wp.kernel
                def move(x: wp.array(dtype=wp.vec3), dt: float):
                    i = wp.tid()

                @wp.func
                def helper(x: float):
                    return x
                """,
            finds=("def move(x: wp.array(dtype=wp.vec3), dt: float)",),
        ),
        Example(text="import warpctc\n\n@warpctc.kernel\ndef f(x):\n    pass\n"),
        Example(text="from mine import warp\nwarp.kernel(f)\n"),
        Example(text="# import warp as wp\n# @wp.kernel\n# def f(x): pass\n"),
    ),
)
