"""Variables of the environment that speak to CUDA, or to PyTorch about MPS."""

import re

from project.translation import _
from project.vocabulary import Severity

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


def cuda_variable(name: str, value: str) -> tuple[str, Severity] | None:
    """What setting a variable of CUDA to ``value`` means on a Mac, and how bad that is."""
    value = value.strip()
    if name == "CUDA_VISIBLE_DEVICES":
        if value in ("", "-1", "none", "NoDevFiles"):
            return None
        if len(re.findall(r"\d+", value)) > 1 and "$" not in value:
            message = _("Several CUDA devices are chosen; a Mac has one MPS device and no numbers.")
            return message, Severity.COSMETIC
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


def fallback_variable(value: str) -> tuple[str, Severity] | None:
    """What setting PyTorch's CPU fallback for MPS to ``value`` means, and how bad that is."""
    value = value.strip()
    if not value or "$" in value:
        return None
    digits = value.removeprefix("+").removeprefix("-")
    if not digits[:1].isdigit():
        return _(
            "PyTorch reads this variable as an integer when it is loaded, and stops at anything "
            "else: write 1, or leave it out."
        ), Severity.BLOCKS
    if value != "1":
        return None
    return _(
        "Operators that MPS lacks run on the CPU, with one warning for the whole process: set it "
        "for a test, and record which operators fall back. It does not cover dtypes that MPS "
        "refuses."
    ), Severity.DEGRADES
