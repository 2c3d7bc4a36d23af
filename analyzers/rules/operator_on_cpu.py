"""K221: tensors that are brought to the CPU for an operator that MPS has."""

from collections.abc import Iterator

from analyzers.arguments import call_of, passed
from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import WHOLE, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_OPERATORS = ("torchvision.ops.nms", "torchvision.ops.batched_nms", "torchvision.ops.roi_align")


def find(document: PythonDocument) -> Iterator[Match]:
    """Box operators of torchvision whose arguments come from ``.cpu()``."""
    for name in _OPERATORS:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or settled(document, call):
                continue
            if any(document.slice(one).endswith(".cpu()") for one in passed(call)):
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "The GPU is waited for and its tensors are copied, each time. torchvision "
                        "has a kernel for MPS since 0.16: keep the tensors on the device, read back "
                        "once, and time both devices before MPS becomes the default."
                    ),
                )


RULE = Rule(
    code="K221",
    name="operator-on-cpu",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        Word(b"nms", after=WHOLE, beside=(b"torchvision",)),
        Word(b"roi_align", after=WHOLE, beside=(b"torchvision",)),
    ),
    what=N_("Boxes are brought to the CPU for an operator that runs on MPS and CUDA too."),
    why=N_(
        "Metal works through a queue, and every read back empties it. In a loop this can make MPS "
        "slower than the CPU."
    ),
    advice=N_("Leave out .cpu(), gather results on the device, and read them once."),
    source=(
        "https://github.com/pytorch/vision/pull/7643 of 2023, which brings the kernels; "
        "torchvision/csrc/ops/mps in that repository"
    ),
    since="torchvision 0.16",
    find=find,
    examples=(
        Example(
            text="""\
                import torchvision
                from torchvision.ops import batched_nms
                keep = torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.7)
                keep = batched_nms(boxes.cpu(), scores, labels, 0.5)
                """,
            finds=(
                "torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.7)",
                "batched_nms(boxes.cpu(), scores, labels, 0.5)",
            ),
        ),
        Example(text="""import torchvision\nkeep = torchvision.ops.nms(boxes, scores, 0.7)\n"""),
        Example(text="""keep = nms(boxes.cpu(), scores.cpu(), 0.7)\n"""),
        Example(
            text="""import torchvision\nkeep = torchvision.ops.nms(boxes, scores, 0.7).cpu()\n"""
        ),
    ),
)
