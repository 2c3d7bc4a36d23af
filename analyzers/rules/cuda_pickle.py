"""E329: a pickle of objects that live on an NVIDIA GPU."""

import re
from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import listed
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_CUDA_ONLY = re.compile(r"(?:cupy|cupyx|cudf|cuml|cugraph|cuspatial|rmm|pycuda|tensorrt)\.")


def find(document: BinaryDocument) -> Iterator[Match]:
    """The file, once, with the classes of libraries that need CUDA."""
    names = [name for name in document.all("global") if _CUDA_ONLY.match(name)]
    if names:
        text = listed(names)
        message = _(
            "Unpickling it imports {names}, a library that needs CUDA: save plain NumPy arrays or "
            "tables instead."
        )
        yield Match(0, 0, message.format(names=text), text=text)


RULE = Rule(
    code="E329",
    name="cuda-pickle",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"global ",),
    what=N_("A pickle holds objects of a library that needs CUDA, such as CuPy or RAPIDS."),
    why=N_("Unpickling imports the library, and none of these has a build for macOS."),
    advice=N_(
        "On the CUDA machine turn them into NumPy arrays or pandas tables (cupy.asnumpy, "
        "to_pandas, as_sklearn) and save those."
    ),
    source="https://docs.cupy.dev/en/stable/install.html",
    find=find,
    examples=(
        Example(
            path="features.pkl",
            text="kind pickle\nglobal cupy._core.core.array\nglobal numpy.dtype\n",
            finds=("cupy._core.core.array",),
        ),
        Example(
            path="forest.pkl",
            text="kind pickle\nglobal cuml.ensemble.randomforestclassifier.RandomForestClassifier\n",
            finds=("cuml.ensemble.randomforestclassifier.RandomForestClassifier",),
        ),
        Example(
            path="features.pkl", text="kind pickle\nglobal numpy.core.multiarray._reconstruct\n"
        ),
        Example(
            path="forest.pkl",
            text="kind pickle\nglobal sklearn.ensemble._forest.RandomForestClassifier\n",
        ),
        Example(path="m.pkl", text="kind pickle\nglobal custom.cupy.Thing\n"),
    ),
)
