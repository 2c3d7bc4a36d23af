"""K216: Taichi, told to use CUDA."""

from collections.abc import Iterator

from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``taichi.cuda``; Taichi's kernels themselves run on Metal."""
    message = _(
        "Taichi is told to use CUDA, and goes to the CPU where there is none. Its kernels run on "
        "Metal too: ti.gpu takes whichever GPU there is."
    )
    for reference in document.references("taichi.cuda"):
        if reference.name == "taichi.cuda":
            yield Match(reference.node.start_byte, reference.node.end_byte, message)


RULE = Rule(
    code="K216",
    name="taichi-cuda",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"taichi",),
    what=N_("Taichi is asked for its CUDA backend by name."),
    why=N_("The same kernels run on Metal; named so, they run on a Mac's CPU."),
    advice=N_("Write ti.init(arch=ti.gpu): CUDA stays first where it is there, a Mac takes Metal."),
    source="https://docs.taichi-lang.org/docs/hello_world",
    find=find,
    examples=(
        Example(
            text="import taichi as ti\nti.init(arch=ti.cuda, debug=True)\n", finds=("ti.cuda",)
        ),
        Example(text="import taichi as ti\nti.init(arch=ti.gpu)\n"),
        Example(text="import taichi as ti\n\n@ti.kernel\ndef f(x: ti.f32):\n    pass\n"),
        Example(text="# taichi: ti.init(arch=ti.cuda)\nimport ti\nti.cuda\n"),
    ),
)
