"""E304: a container image for NVIDIA GPUs."""

from collections.abc import Iterator

from analyzers.documents.dockerfile import DockerfileDocument
from analyzers.environment import image_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_
from project.vocabulary import Fix, Severity


def find(document: DockerfileDocument) -> Iterator[Match]:
    """Images that a stage is built on and that are made for NVIDIA GPUs."""
    for image in document.images():
        trouble = image_trouble(image.name)
        if trouble is not None:
            yield Match(image.start, image.end, trouble.message)


RULE = Rule(
    code="E304",
    name="docker-cuda-image",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=DockerfileDocument,
    triggers=(b"from",),
    what=N_("A container is built on an image for NVIDIA GPUs."),
    why=N_(
        "Containers on macOS run in a Linux virtual machine, which has neither CUDA nor Metal: "
        "torch.backends.mps.is_available() is False there, whatever the image."
    ),
    advice=N_(
        "On a Mac run the program natively, in a virtual environment. Another base image brings no "
        "MPS, and emulating linux/amd64 is very slow; the container stays for the CUDA machine."
    ),
    source="https://github.com/pytorch/pytorch/issues/81224",
    find=find,
    examples=(
        Example(
            path="Dockerfile",
            text="""\
                ARG CUDA=12.1.1
                FROM nvidia/cuda:${CUDA}-cudnn8-devel-ubuntu22.04 AS build
                FROM nvcr.io/nvidia/pytorch:23.10-py3
                FROM --platform=linux/amd64 pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime
                FROM build
                """,
            finds=(
                "nvidia/cuda:${CUDA}-cudnn8-devel-ubuntu22.04",
                "nvcr.io/nvidia/pytorch:23.10-py3",
                "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime",
            ),
        ),
        Example(
            path="docker/train.dockerfile",
            text="""\
                ARG BASE=nvidia/cuda:11.8.0-base-ubuntu22.04
                FROM $BASE
                """,
            finds=("$BASE",),
        ),
        Example(path="Dockerfile", text="# FROM nvidia/cuda\nFROM python:3.11-slim\n"),
        Example(path="Dockerfile", text="FROM ubuntu:22.04 AS cuda\nFROM cuda\nRUN echo nvidia\n"),
        Example(path="Dockerfile.dev", text="FROM example.org/barracuda/base:1\n"),
    ),
)
