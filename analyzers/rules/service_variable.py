"""E343: variables of CUDA and MPS that a CI job, a container or Compose sets."""

import re
from collections.abc import Iterator

from analyzers.documents.service import Service, ServiceDocument
from analyzers.rule import Example, Match, Rule
from analyzers.variables import cuda_variable, fallback_variable
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"\w{0,40}(?:CUDA|CUDNN|NCCL_|CUBLAS_|MPS_FALLBACK)\w{0,80}")
_TABLES = ("env", "environment", "variables", "containerEnv", "remoteEnv")
_ENTRY = re.compile(r"(\w+)=(.*)\Z", re.DOTALL)
_SERVICES = (Service.COMPOSE, Service.WORKFLOW, Service.DEV_CONTAINER)


def find(document: ServiceDocument) -> Iterator[Match]:
    """Entries of the tables and lists of variables that these files have."""
    if document.service not in _SERVICES:
        return
    for setting in document.settings(_WORDS):
        name, value, (start, end) = setting.key, setting.value.value, setting.at_key
        if name in _TABLES and (entry := _ENTRY.match(value)) is not None:
            name, value = entry[1], entry[2]
            start, end = setting.value.start, setting.value.end
        elif setting.above[:1] not in [(table,) for table in _TABLES]:
            continue
        found = fallback_variable(value) if name == "PYTORCH_ENABLE_MPS_FALLBACK" else None
        found = found or cuda_variable(name, value)
        if found is None:
            continue
        message, severity = found
        if name == "PYTORCH_ENABLE_MPS_FALLBACK" and document.service is not Service.WORKFLOW:
            message = _("No container reaches MPS: this changes nothing.")
        mild = document.service is Service.WORKFLOW or severity is not Severity.BLOCKS
        yield Match(start, end, message, Severity.COSMETIC if mild else Severity.DEGRADES)


RULE = Rule(
    code="E343",
    name="service-variable",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=ServiceDocument,
    triggers=(b"cuda", b"cudnn", b"nccl_", b"cublas_", b"mps_fallback"),
    what=N_("A CI job or a container sets a variable of CUDA, or PyTorch's fallback for MPS."),
    why=N_(
        "The machine of the job or the container reads it, and no Mac does. A fallback that a job "
        "sets hides from its tests which operators MPS lacks."
    ),
    advice=N_(
        "Leave it to the CUDA machine. In a job that tests MPS, run once without the fallback and "
        "record what fails."
    ),
    source=(
        "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/"
        "environment-variables.html; aten/src/ATen/mps/MPSFallback.mm of PyTorch, read"
    ),
    find=find,
    examples=(
        Example(
            path=".github/workflows/test.yml",
            text="""\
                env:
                  CUDA_VISIBLE_DEVICES: "0"
                jobs:
                  test:
                    env: {FORCE_CUDA: 1, PYTORCH_ENABLE_MPS_FALLBACK: 1}
                    steps:
                      - run: pytest
                        env:
                          CUDA_HOME: /usr/local/cuda
                """,
            finds=(
                "CUDA_VISIBLE_DEVICES",
                "FORCE_CUDA",
                "PYTORCH_ENABLE_MPS_FALLBACK",
                "CUDA_HOME",
            ),
        ),
        Example(
            path="docker-compose.yml",
            text="""\
                services:
                  train:
                    environment:
                      - CUDA_VISIBLE_DEVICES=0,1
                      - NVIDIA_VISIBLE_DEVICES=all
                """,
            finds=("CUDA_VISIBLE_DEVICES=0,1",),
        ),
        Example(
            path=".github/workflows/test.yml",
            text="env:\n  CUDA_VISIBLE_DEVICES: ''\n  USE_CUDA: 0\njobs: {}\n",
        ),
        Example(
            path=".github/workflows/test.yml",
            text="jobs:\n  cuda:\n    name: CUDA_HOME\n    runs-on: ubuntu-latest\n",
        ),
        Example(path="configs/a.yaml", text="env:\n  CUDA_VISIBLE_DEVICES: 0\n"),
        Example(
            path="docker-compose.yml", text="# environment: CUDA_VISIBLE_DEVICES\nservices: {}\n"
        ),
    ),
)
