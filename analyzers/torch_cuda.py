"""What the functions of ``torch.cuda`` do in a PyTorch built without CUDA, as on every Mac.

Read off PyTorch 2.13.0 built without CUDA, by calling each one. A macOS wheel takes the same code
path, since what decides is that the build has no CUDA; it was not run on a Mac.
"""

import re

#: Names under ``torch.cuda`` that raise; the value is the error that a user sees.
RAISES: dict[str, str] = dict.fromkeys(
    (
        "synchronize",
        "initial_seed",
        "get_device_name",
        "get_device_properties",
        "get_device_capability",
        "current_device",
        "mem_get_info",
        "ipc_collect",
        "get_rng_state",
        "current_stream",
        "init",
        "can_device_access_peer",
        "cudart",
    ),
    "AssertionError: Torch not compiled with CUDA enabled",
) | {
    "set_device": "AttributeError: module 'torch._C' has no attribute '_cuda_setDevice'",
    "reset_peak_memory_stats": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'"
    ),
    "reset_max_memory_allocated": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'"
    ),
    "memory_summary": "KeyError: 'allocated_bytes.all.current'",
    "utilization": "ModuleNotFoundError: nvidia-ml-py does not seem to be installed",
    "Stream": "RuntimeError: torch.cuda.Stream requires CUDA support",
    "Event": "RuntimeError: Tried to instantiate dummy base class Event",
    "CUDAGraph": "RuntimeError: Tried to instantiate dummy base class CUDAGraph",
    "graph": "RuntimeError: torch.cuda.Stream requires CUDA support",
    "make_graphed_callables": "RuntimeError: Tried to instantiate dummy base class CUDAGraph",
    "device": "RuntimeError: PyTorch was compiled without CUDA support",
    "nvtx.range_push": "RuntimeError: NVTX functions not installed",
    "nvtx.range_pop": "RuntimeError: NVTX functions not installed",
    "nvtx.mark": "RuntimeError: NVTX functions not installed",
}

#: Names that answer without an error, and with nothing: they do no harm and do no work.
HARMLESS = frozenset(
    {
        "device_count",
        "is_bf16_supported",
        "empty_cache",
        "manual_seed",
        "manual_seed_all",
        "seed",
        "seed_all",
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_stats",
        "get_rng_state_all",
        "set_rng_state_all",
        "stream",
        "is_initialized",
        "get_arch_list",
    }
)

#: Calls that are made for their effect alone and give back nothing a program uses.
EFFECT_ONLY = frozenset(
    {
        "synchronize",
        "set_device",
        "reset_peak_memory_stats",
        "reset_max_memory_allocated",
        "ipc_collect",
        "init",
        "nvtx.range_push",
        "nvtx.range_pop",
        "nvtx.mark",
    }
)

_TENSOR_TYPE = re.compile(
    r"torch\.cuda\.(?:Float|Double|Half|BFloat16|Byte|Char|Short|Int|Long|Bool)Tensor\Z"
)


def is_tensor_type(name: str) -> bool:
    """Whether a dotted name is a legacy tensor type such as ``torch.cuda.FloatTensor``."""
    return _TENSOR_TYPE.match(name) is not None
