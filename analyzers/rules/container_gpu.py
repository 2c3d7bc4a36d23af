"""E308: a container that is started with NVIDIA GPUs."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import Command, ShellDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"--gpus\b|nvidia|--nv")
_ENGINES = ("docker", "podman", "nerdctl", "docker-compose")
_APPTAINER = ("singularity", "apptainer")


def find(document: ShellDocument) -> Iterator[Match]:
    """Commands that hand GPUs to a container."""
    for command in document.commands(_WORDS):
        if _hands_over(command) and not document.guarded(command.start, command.end):
            severity = Severity.COSMETIC if document.elsewhere else None
            if command.name == "nvidia-docker" and "build" in command.arguments[:1]:
                message = _(
                    "nvidia-docker is for NVIDIA GPUs, and no Mac has it: docker builds the image, "
                    "and what runs in it there reaches neither CUDA nor MPS."
                )
                yield Match(command.start, command.end, message, severity)
                continue
            message = _(
                "The container is started with NVIDIA GPUs. On a Mac a container is a Linux "
                "virtual machine without CUDA and without MPS: run natively there."
            )
            yield Match(command.start, command.end, message, severity)


def _hands_over(command: Command) -> bool:
    arguments = command.arguments
    if command.name == "nvidia-docker":
        return True
    if command.name in _APPTAINER:
        return "--nv" in arguments or "--nvccli" in arguments
    if command.name not in _ENGINES or not {"run", "create"} & set(arguments[:3]):
        return False
    for argument, following in zip(arguments, (*arguments[1:], ""), strict=True):
        if argument == "--gpus" or argument.startswith("--gpus="):
            return True
        if argument == "--runtime=nvidia" or (argument, following) == ("--runtime", "nvidia"):
            return True
        if "nvidia.com/gpu" in argument or argument.startswith("/dev/nvidia"):
            return True
    return False


RULE = Rule(
    code="E308",
    name="container-gpu",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=ShellDocument,
    triggers=(b"--gpus", b"nvidia", b"--nv"),
    what=N_("A container is started with NVIDIA GPUs."),
    why=N_("The engine finds no such device on a Mac and does not start the container."),
    advice=N_(
        "Keep the container for the CUDA machine; run in a virtual environment of the Mac itself."
    ),
    source="https://github.com/pytorch/pytorch/issues/81224",
    find=find,
    examples=(
        Example(
            path="run.sh",
            text="""\
                docker run --rm --gpus all -it image python train.py
                docker run --runtime=nvidia image
                nvidia-docker run image
                nvidia-docker build -t image .
                singularity exec --nv image.sif python train.py
                """,
            finds=(
                "docker run --rm --gpus all -it image python train.py",
                "docker run --runtime=nvidia image",
                "nvidia-docker run image",
                "nvidia-docker build -t image .",
                "singularity exec --nv image.sif python train.py",
            ),
        ),
        Example(path="a.sh", text="docker run image nvidia\ndocker build -t nvidia .\n"),
        Example(path="b.sh", text="# docker run --gpus all image\n"),
        Example(path="c.sh", text='if [ -n "$GPU" ]; then docker run --gpus all image; fi\n'),
        Example(path="d.sh", text="python train.py --gpus 1\n"),
    ),
)
