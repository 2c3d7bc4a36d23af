"""E318: a definition for a cluster's container with an image for NVIDIA GPUs."""

from collections.abc import Iterator

from analyzers.documents.apptainer import ApptainerDocument
from analyzers.environment import image_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_
from project.vocabulary import Fix, Severity


def find(document: ApptainerDocument) -> Iterator[Match]:
    """Images that are made for NVIDIA GPUs."""
    for image in document.images():
        trouble = image_trouble(image.name)
        if trouble is not None:
            yield Match(image.start, image.end, trouble.message)


RULE = Rule(
    code="E318",
    name="apptainer-cuda-image",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=ApptainerDocument,
    triggers=(b"bootstrap",),
    what=N_("An Apptainer or Singularity definition starts from an image for NVIDIA GPUs."),
    why=N_(
        "Apptainer runs on Linux; on a Mac it needs a Linux virtual machine, which has neither "
        "CUDA nor Metal."
    ),
    advice=N_("Keep it for the cluster, and run natively on a Mac."),
    source="https://apptainer.org/docs/admin/main/installation.html",
    find=find,
    examples=(
        Example(
            path="train.def",
            text="Bootstrap: docker\nFrom: nvidia/cuda:12.1.1-devel-ubuntu22.04\n\n%post\n  true\n",
            finds=("nvidia/cuda:12.1.1-devel-ubuntu22.04",),
        ),
        Example(path="train.def", text="Bootstrap: docker\nFrom: python:3.11\n"),
        Example(path="exports.def", text="LIBRARY cuda\nFrom: nvidia/cuda\n"),
        Example(path="Singularity", text="Bootstrap: docker\n# From: nvidia/cuda\nFrom: ubuntu\n"),
    ),
)
