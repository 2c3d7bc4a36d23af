"""E310: a service that is told to give the program NVIDIA GPUs."""

import re
from collections.abc import Iterator

from analyzers.documents.service import Service, ServiceDocument
from analyzers.documents.settings import Setting
from analyzers.environment import image_trouble
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"(?i:nvidia|gpus?\b|\bcuda|\bcu\d{2,3}\b|pytorch/pytorch|rapidsai)")
_DRIVER = re.compile(rb"\bdriver:[ \t]*[\"']?nvidia\b")
_RESOURCE = re.compile(r"nvidia\.com/(?:gpu|mig-[\w.]+)(?:\.\w+)?\Z")
_RUNNER = re.compile(
    r"(?:.*[-_.])?(?:gpu|nvidia|cuda|a100|h100|t4|v100|a10g)(?:[-_.:\d].*)?\Z", re.I
)
_ACTION = re.compile(r"(?:[\w.-]+/)+(?:setup-)?cuda(?:-toolkit)?(?:@|\Z)", re.I)


def find(document: ServiceDocument) -> Iterator[Match]:
    """Images, devices, runtimes, resources and runners for NVIDIA GPUs."""
    service = document.service
    for setting in document.settings(_WORDS):
        if setting.key == "capabilities" and document.says(_DRIVER):
            continue  # the driver beside it says the same
        found = _trouble(service, setting)
        if found is not None:
            message, severity = found
            yield Match(setting.value.start, setting.value.end, message, severity)


def _trouble(service: Service, setting: Setting) -> tuple[str, Severity] | None:
    key, value = setting.key, setting.value.value.strip()
    if _RESOURCE.match(key):
        return _(
            "The cluster is asked for NVIDIA GPUs; no Mac is a node of that."
        ), Severity.COSMETIC
    if service is Service.COMPOSE:
        return _compose(setting, key, value)
    if service is Service.DEV_CONTAINER:
        return _dev_container(setting, key, value)
    if service is Service.COG:
        return _cog(setting, key, value)
    if service is Service.WORKFLOW:
        return _workflow(setting, key, value)
    return None


def _no_mps() -> str:
    return _(
        "The container gets NVIDIA GPUs, which a Mac has not; a Linux container there reaches no "
        "MPS either: run natively."
    )


def _compose(setting: Setting, key: str, value: str) -> tuple[str, Severity] | None:
    trouble = image_trouble(value) if key == "image" else None
    if trouble is not None:
        return trouble.message, Severity.BLOCKS
    if (key, value) in (("driver", "nvidia"), ("runtime", "nvidia")):
        return _no_mps(), Severity.BLOCKS
    if (key == "gpus" and value) or (key, value) == ("capabilities", "gpu"):
        return _no_mps(), Severity.BLOCKS
    if (key == "NVIDIA_VISIBLE_DEVICES" and value) or (
        key == "environment" and re.match(r"NVIDIA_VISIBLE_DEVICES=.", value)
    ):
        return _("This variable speaks to NVIDIA's container runtime alone."), Severity.COSMETIC
    return None


def _dev_container(setting: Setting, key: str, value: str) -> tuple[str, Severity] | None:
    trouble = image_trouble(value) if key == "image" else None
    if trouble is not None:
        return trouble.message, Severity.BLOCKS
    if key == "runArgs" and (value.startswith("--gpus") or value == "--runtime=nvidia"):
        return _no_mps(), Severity.BLOCKS
    if key == "gpu" and setting.above[:1] == ("hostRequirements",) and value == "true":
        return _no_mps(), Severity.BLOCKS
    return None


def _cog(setting: Setting, key: str, value: str) -> tuple[str, Severity] | None:
    if setting.above[:1] != ("build",):
        return None
    if key == "gpu" and value == "true":
        message = _("Cog builds an image for NVIDIA GPUs; a container on a Mac reaches no MPS.")
        return message, Severity.DEGRADES
    if key == "cuda" and value:
        return _("Cog builds the image with this release of CUDA."), Severity.COSMETIC
    return None


def _workflow(setting: Setting, key: str, value: str) -> tuple[str, Severity] | None:
    if key in ("image", "container") and "machine" not in setting.above:
        # A bare name is an entry of the job's own matrix.
        trouble = image_trouble(value) if "/" in value or ":" in value else None
        return (trouble.message, Severity.COSMETIC) if trouble is not None else None
    if key in ("runs-on", "tags", "resource_class", "labels", "image") and _RUNNER.match(value):
        return _(
            "The job runs on a machine with NVIDIA GPUs; a Mac needs a job of its own."
        ), Severity.COSMETIC
    if key == "uses" and _ACTION.match(value):
        return _(
            "The job installs CUDA's toolkit, which compiles and gives no GPU; there is none for "
            "a Mac."
        ), Severity.COSMETIC
    return None


RULE = Rule(
    code="E310",
    name="gpu-service",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=ServiceDocument,
    triggers=(b"nvidia", b"gpu", b"cuda", b"cu1", b"cu8", b"cu9", b"pytorch/pytorch", b"rapidsai"),
    what=N_("Compose, a dev container, Cog, Kubernetes or a CI service is to give NVIDIA GPUs."),
    why=N_(
        "On a Mac the container engine has no such device, and refuses to start what reserves it; "
        "a container there is a Linux virtual machine without Metal."
    ),
    advice=N_(
        "Keep the file for the CUDA machine, with the reservation in an override file, and run "
        "natively on a Mac; give CI a job of its own for a Mac."
    ),
    source="https://docs.docker.com/compose/how-tos/gpu-support/",
    find=find,
    examples=(
        Example(
            path="docker-compose.yml",
            text="""\
                services:
                  train:
                    image: nvidia/cuda:12.1.1-devel-ubuntu22.04
                    runtime: nvidia
                    environment:
                      - NVIDIA_VISIBLE_DEVICES=all
                    deploy:
                      resources:
                        reservations:
                          devices:
                            - driver: nvidia
                              capabilities: [gpu]
                  other:
                    gpus: all
                """,
            finds=(
                "nvidia/cuda:12.1.1-devel-ubuntu22.04",
                "nvidia",
                "NVIDIA_VISIBLE_DEVICES=all",
                "nvidia",
                "all",
            ),
        ),
        Example(
            path=".devcontainer/devcontainer.json",
            text="""\
                {
                  // for the server
                  "image": "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel",
                  "runArgs": ["--gpus", "all"]
                }
                """,
            finds=("pytorch/pytorch:2.1.0-cuda12.1-cudnn8-devel", "--gpus"),
        ),
        Example(
            path="k8s/job.yaml",
            text="spec:\n  resources:\n    limits:\n      nvidia.com/gpu: 1\n",
            finds=("1",),
        ),
        Example(
            path=".github/workflows/gpu.yml",
            text="jobs:\n  a:\n    runs-on: [self-hosted, gpu]\n    steps:\n      - uses: Jimver/cuda-toolkit@v0.2\n",
            finds=("gpu", "Jimver/cuda-toolkit@v0.2"),
        ),
        Example(
            path="cog.yaml", text='build:\n  gpu: true\n  cuda: "11.8"\n', finds=("true", "11.8")
        ),
        Example(
            path="compose.yaml",
            text="services:\n  a:\n    deploy: {resources: {reservations: {devices: [{count: 1, capabilities: [gpu]}]}}}\n",
            finds=("gpu",),
        ),
        Example(path="docker-compose.yml", text="services:\n  gpu:\n    image: python:3.11\n"),
        Example(path="cog.yaml", text="build:\n  gpu: false\n"),
        Example(
            path=".github/workflows/a.yml",
            text="name: gpu\njobs:\n  cuda:\n    matrix: [{image: test-gpu-a}]\n    runs-on: ubuntu-latest\n    steps:\n      - run: echo gpu\n",
        ),
        Example(path="configs/a.yaml", text="image: nvidia/cuda\ngpus: all\n# nvidia.com/gpu: 1\n"),
    ),
)
