"""What reads NVIDIA GPUs: memory, load, and marks for the profiler."""

from analyzers.libraries.row import Backend, Library, OnMac
from project.translation import N_

_NO_NVML = N_("It installs, but the NVIDIA driver library that it loads is not there.")
_MEMORY = N_(
    "Make the reading optional; torch.mps.driver_allocated_memory tells the memory in use."
)
_ACTIVITY = N_("Leave it out on a Mac; Activity Monitor shows the GPU there.")

ROWS = (
    Library(
        ("nvidia-ml-py", "nvidia-ml-py3", "pynvml"),
        ("pynvml",),
        OnMac.CUDA_ONLY,
        Backend.NONE,
        _NO_NVML,
        _MEMORY,
        "https://docs.nvidia.com/deploy/nvml-api/nvml-api-reference.html",
    ),
    Library(
        ("py3nvml",),
        ("py3nvml",),
        OnMac.CUDA_ONLY,
        Backend.NONE,
        _NO_NVML,
        _MEMORY,
        "https://github.com/fbcotter/py3nvml",
    ),
    Library(
        ("gpustat",),
        ("gpustat",),
        OnMac.CUDA_ONLY,
        Backend.NONE,
        _NO_NVML,
        _ACTIVITY,
        "https://github.com/wookayin/gpustat#nvidia-driver-and-pynvml-requirements",
    ),
    Library(
        ("nvitop",),
        ("nvitop",),
        OnMac.CUDA_ONLY,
        Backend.NONE,
        N_("It reads NVIDIA's driver library, under Linux and Windows."),
        _ACTIVITY,
        "https://github.com/XuehaiPan/nvitop#features",
    ),
    Library(
        ("gputil",),
        ("GPUtil",),
        OnMac.PARTIAL,
        Backend.CPU,
        N_("It asks nvidia-smi: where that is missing its list of GPUs is empty."),
        _MEMORY,
        "https://github.com/anderskm/gputil/blob/master/GPUtil/GPUtil.py",
    ),
    Library(
        ("nvtx",),
        ("nvtx",),
        OnMac.PARTIAL,
        Backend.CPU,
        N_("Its marks reach NVIDIA's profilers alone, and it is tested under Linux."),
        N_("Mark the same ranges with torch.mps.profiler for Instruments."),
        "https://nvtx.readthedocs.io/en/latest/install.html",
    ),
)
