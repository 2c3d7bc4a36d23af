"""E326: an ONNX model with operators that only TensorRT has."""

import re
from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import listed
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Plugins of TensorRT end with its letters; exporters for it use domains of that name.
_TENSORRT = re.compile(
    r".*_TRT|(?:.*[.:_])?(?:trt|tensorrt|com\.nvidia)[\w.]*::.*|mmdeploy::TRT.*", re.I
)


def find(document: BinaryDocument) -> Iterator[Match]:
    """The file, once, with those operators."""
    operators = [name for name in document.all("operator") if _TENSORRT.fullmatch(name)]
    if operators:
        text = listed([name.removeprefix("::") for name in operators])
        message = _(
            "The graph uses operators of TensorRT ({operators}), which no runtime on a Mac has: "
            "export the model again without them."
        )
        yield Match(0, 0, message.format(operators=text), text=text)


RULE = Rule(
    code="E326",
    name="onnx-tensorrt",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(rb"operator ",),
    what=N_("An ONNX model uses operators that are plugins of TensorRT."),
    why=N_(
        "ONNX Runtime and Core ML load graphs whose operators they know; a plugin such as "
        "EfficientNMS_TRT is known to TensorRT alone, and loading stops at it."
    ),
    advice=N_(
        "Export without the plugin and do that step in PyTorch (torchvision.ops.nms), or with the "
        "operator that ONNX has for it (NonMaxSuppression)."
    ),
    source="https://github.com/NVIDIA/TensorRT/tree/main/plugin",
    find=find,
    examples=(
        Example(
            path="detector.onnx",
            text="kind onnx\noperator ::EfficientNMS_TRT\noperator com.microsoft::Gelu\n",
            finds=("EfficientNMS_TRT",),
        ),
        Example(
            path="deploy/end2end.onnx",
            text="kind onnx\noperator mmdeploy::TRTBatchedNMS\n",
            finds=("mmdeploy::TRTBatchedNMS",),
        ),
        Example(path="net.onnx", text="kind onnx\n"),
        Example(path="net.onnx", text="kind onnx\noperator com.microsoft::FusedMatMul\n"),
        Example(path="net.onnx", text="kind onnx\noperator my.domain::Extract\n"),
    ),
)
