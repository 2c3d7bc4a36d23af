"""E316: a variable that speaks to CUDA."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import Assignment, ShellDocument
from analyzers.documents.shell_carriers import Carrier
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"\w{0,40}(?:CUDA|CUDNN|NCCL_|NVIDIA_|CUBLAS_)\w{0,80}|/cuda")
_FOLDERS = re.compile(
    r"(?:CUDA|CUDNN|NCCL)_(?:HOME|PATH|ROOT|ROOT_DIR|DIR|INC_PATH|LIB_PATH)\Z|CUDACXX\Z|"
    r"CUDA_TOOLKIT_ROOT_DIR\Z"
)
_SETTINGS = re.compile(
    r"(?:CUDA_LAUNCH_BLOCKING|CUDA_DEVICE_ORDER|CUDA_DEVICE_MAX_CONNECTIONS|CUDA_MODULE_LOADING|"
    r"CUBLAS_WORKSPACE_CONFIG|PYTORCH_CUDA_ALLOC_CONF|TORCH_CUDA_ARCH_LIST|"
    r"NVIDIA_VISIBLE_DEVICES|NVIDIA_DRIVER_CAPABILITIES|NCCL_\w+|"
    r"TORCH_NCCL_\w+)\Z"
)
_PATHS = ("PATH", "LD_LIBRARY_PATH", "LIBRARY_PATH", "CPATH", "C_INCLUDE_PATH")
_CUDA_FOLDER = re.compile(r"/cuda(?:-[\d.]+)?(?:/|:|$)|\$\{?CUDA_(?:HOME|PATH|ROOT)")
_OFF = ("", "-1", "0", "off", "false", "none", "void", "n", "no")


def find(document: ShellDocument) -> Iterator[Match]:
    """Variables of CUDA that are set to something."""
    for assignment in document.assignments(_WORDS):
        found = _trouble(assignment)
        if found is None or document.guarded(assignment.start, assignment.end):
            continue
        message, severity = found
        if document.elsewhere:
            severity = Severity.COSMETIC
        elif document.carrier is Carrier.CONTAINER and severity is Severity.BLOCKS:
            severity = Severity.DEGRADES
        yield Match(assignment.start, assignment.end, message, severity)


def _trouble(assignment: Assignment) -> tuple[str, Severity] | None:
    name, value = assignment.name, assignment.value.strip()
    if name == "CUDA_VISIBLE_DEVICES":
        if value in ("", "-1", "none", "NoDevFiles"):
            return None
        if len(re.findall(r"\d+", value)) > 1 and "$" not in value:
            message = _("Several CUDA devices are chosen; a Mac has one MPS device and no numbers.")
            return message, Severity.DEGRADES
        message = _("CUDA_VISIBLE_DEVICES chooses among CUDA devices and means nothing on a Mac.")
        return message, Severity.COSMETIC
    if name in ("FORCE_CUDA", "BUILD_WITH_CUDA", "USE_CUDA") and value.lower() not in _OFF:
        if "$" in value:
            return None
        message = _("{name} makes a build look for CUDA's compiler, which no Mac has.")
        return message.format(name=name), Severity.BLOCKS
    if _FOLDERS.match(name) and value:
        message = _(
            "{name} names a CUDA toolkit, which no Mac has; setting it there helps no build."
        )
        return message.format(name=name), Severity.COSMETIC
    if name in _PATHS and _CUDA_FOLDER.search(value):
        return _("A path of the CUDA toolkit is added, which no Mac has."), Severity.COSMETIC
    if _SETTINGS.match(name) and value:
        message = _("{name} speaks to CUDA or its libraries and means nothing on a Mac.")
        return message.format(name=name), Severity.COSMETIC
    return None


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
    source="https://docs.nvidia.com/cuda/cuda-c-programming-guide/index.html#env-vars",
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
