"""E325: an engine that TensorRT has built."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """The file, once."""
    for engine in document.all("engine"):
        message = _(
            "An engine of TensorRT: it runs on NVIDIA GPUs of the kind that it was built on, and "
            "on no Mac. Run the ONNX file or the checkpoint that it was built from."
        )
        yield Match(0, 0, message, text=engine)


RULE = Rule(
    code="E325",
    name="tensorrt-engine",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(rb"engine ",),
    what=N_("A model lies in the project as an engine that TensorRT has built."),
    why=N_(
        "An engine is compiled for one kind of GPU, one version of TensorRT and one operating "
        "system; TensorRT exists for Linux and Windows."
    ),
    advice=N_(
        "Keep the model that the engine is built from in reach, and load that on a Mac: with "
        "PyTorch on MPS, with ONNX Runtime, or converted to Core ML."
    ),
    source="https://docs.nvidia.com/deeplearning/tensorrt/latest/getting-started/support-matrix.html",
    find=find,
    examples=(
        Example(path="yolo.engine", text="kind tensorrt\nengine TensorRT\n", finds=("TensorRT",)),
        Example(path="notes.engine", text="kind tensorrt\n"),
        Example(path="rules.plan", text="kind tensorrt\n"),
        Example(path="model.onnx", text="kind onnx\n"),
    ),
)
