"""K217: kernels in JAX's Pallas for NVIDIA GPUs."""

import re
from collections.abc import Iterator

from analyzers.documents.python import PythonDocument, enclosing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_BACKEND = re.compile(
    rb"\bjax\.experimental\.pallas(?:\.|\s+import\s+(?:\w+\s*,\s*){0,9})(?:triton|mosaic_gpu)\b"
)
_IMPORTS = ("import_statement", "import_from_statement")


def find(document: PythonDocument) -> Iterator[Match]:
    """Imports of the parts of Pallas that are for NVIDIA GPUs."""
    message = _(
        "This part of JAX's Pallas compiles for NVIDIA GPUs. On a Mac a Pallas kernel runs under "
        "interpret=True alone, on the CPU and slowly."
    )
    for _match, node in document.hits(_BACKEND):
        statement = node if node.type in _IMPORTS else enclosing(node, _IMPORTS)
        if statement is not None:
            yield Match(statement.start_byte, statement.end_byte, message)


RULE = Rule(
    code="K217",
    name="pallas-gpu",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=PythonDocument,
    triggers=(b"pallas",),
    what=N_("A part of JAX's Pallas is imported that compiles for NVIDIA GPUs."),
    why=N_("Pallas has backends for NVIDIA GPUs and for TPUs, and none for Metal."),
    advice=N_("Keep the kernel for CUDA and call plain jax.numpy on other devices."),
    source="https://docs.jax.dev/en/latest/pallas/index.html",
    find=find,
    examples=(
        Example(
            text="from jax.experimental.pallas import triton as plgpu\n",
            finds=("from jax.experimental.pallas import triton as plgpu",),
        ),
        Example(
            text="import jax.experimental.pallas.mosaic_gpu as plgpu\n",
            finds=("import jax.experimental.pallas.mosaic_gpu as plgpu",),
        ),
        Example(text="from jax.experimental.pallas import tpu as pltpu\n"),
        Example(text="from jax.experimental import pallas as pl\n"),
        Example(text="# from jax.experimental.pallas import triton\n"),
    ),
)
