"""E316: a variable that speaks to CUDA."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import ShellDocument
from analyzers.documents.shell_carriers import Carrier
from analyzers.rule import Example, Match, Rule
from analyzers.variables import cuda_variable
from project.translation import N_
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"\w{0,40}(?:CUDA|CUDNN|NCCL_|NVIDIA_|CUBLAS_)\w{0,80}|/cuda")


def find(document: ShellDocument) -> Iterator[Match]:
    """Variables of CUDA that are set to something."""
    for assignment in document.assignments(_WORDS):
        found = cuda_variable(assignment.name, assignment.value)
        if found is None or document.guarded(assignment.start, assignment.end):
            continue
        message, severity = found
        if document.elsewhere:
            severity = Severity.COSMETIC
        elif document.carrier is Carrier.CONTAINER and severity is Severity.BLOCKS:
            severity = Severity.DEGRADES
        yield Match(assignment.start, assignment.end, message, severity)


RULE = Rule(
    code="E316",
    name="cuda-variable",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(b"cuda", b"cudnn", b"nccl_", b"nvidia_", b"cublas_"),
    what=N_("A variable of CUDA, its toolkit or its libraries is set."),
    why=N_(
        "Nothing on a Mac reads it: the program runs without what the variable asked for. What "
        "makes a build look for a compiler of CUDA stops it."
    ),
    advice=N_(
        "Leave it to the CUDA machine. A variable that points to a toolkit is no CUDA: where a "
        "package asks for CUDA_HOME on a Mac, it cannot be built there."
    ),
    source=(
        "https://docs.nvidia.com/cuda/cuda-programming-guide/05-appendices/"
        "environment-variables.html"
    ),
    find=find,
    examples=(
        Example(
            path="env.sh",
            text="""\
                export CUDA_VISIBLE_DEVICES=0,1
                export CUDA_HOME=/usr/local/cuda-11.8
                export LD_LIBRARY_PATH=$CUDA_HOME/lib64:$LD_LIBRARY_PATH
                CUDA_VISIBLE_DEVICES=0 python train.py
                NCCL_DEBUG=INFO python train.py
                FORCE_CUDA=1 pip install .
                """,
            finds=(
                "CUDA_VISIBLE_DEVICES=0,1",
                "CUDA_HOME=/usr/local/cuda-11.8",
                "LD_LIBRARY_PATH=$CUDA_HOME/lib64:$LD_LIBRARY_PATH",
                "CUDA_VISIBLE_DEVICES=0",
                "NCCL_DEBUG=INFO",
                "FORCE_CUDA=1",
            ),
        ),
        Example(path=".env", text="CUDA_VISIBLE_DEVICES=0\n", finds=("CUDA_VISIBLE_DEVICES=0",)),
        Example(
            path="Dockerfile",
            text="FROM a\nENV NVIDIA_VISIBLE_DEVICES=all X=1\nENV CUDA_HOME /usr/local/cuda\n",
            finds=("NVIDIA_VISIBLE_DEVICES=all", "CUDA_HOME /usr/local/cuda"),
        ),
        Example(path="off.sh", text="CUDA_VISIBLE_DEVICES= python a.py\nexport FORCE_CUDA=0\n"),
        Example(path="off.sh", text='CUDA_VISIBLE_DEVICES="" python a.py\nexport USE_CUDA=0\n'),
        Example(path="read.sh", text="echo $CUDA_HOME\n# CUDA_HOME=/usr/local/cuda\n"),
        Example(path="c.sh", text="MY_CUDA=1\nPATH=/opt/barracuda/bin:$PATH\nCUDA_TAG=cu118\n"),
    ),
)
