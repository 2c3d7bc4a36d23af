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
        "default_stream",
        "set_per_process_memory_fraction",
        "get_per_process_memory_fraction",
        "set_sync_debug_mode",
        "get_sync_debug_mode",
        "current_blas_handle",
        "caching_allocator_alloc",
        "memory.mem_get_info",
        "random.get_rng_state",
        "random.initial_seed",
        "profiler.start",
        "profiler.stop",
        "profiler.profile",
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
    "reset_accumulated_memory_stats": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_resetAccumulatedMemoryStats'"
    ),
    "reset_max_memory_cached": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'"
    ),
    "memory_snapshot": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_memorySnapshot'"
    ),
    "memory._snapshot": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_memorySnapshot'"
    ),
    "memory._dump_snapshot": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_memorySnapshot'"
    ),
    "memory._record_memory_history": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_record_memory_history'"
    ),
    "get_allocator_backend": (
        "AttributeError: module 'torch._C' has no attribute '_cuda_getAllocatorBackend'"
    ),
    "nccl.version": "AttributeError: module 'torch._C' has no attribute '_nccl_version'",
    "_sleep": "AttributeError: module 'torch._C' has no attribute '_cuda_sleep'",
    "temperature": "ModuleNotFoundError: nvidia-ml-py does not seem to be installed",
    "power_draw": "ModuleNotFoundError: nvidia-ml-py does not seem to be installed",
    "clock_rate": "ModuleNotFoundError: nvidia-ml-py does not seem to be installed",
    "memory_usage": "ModuleNotFoundError: nvidia-ml-py does not seem to be installed",
    "is_current_stream_capturing": (
        "RuntimeError: Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing"
    ),
    "graph_pool_handle": "RuntimeError: Tried to instantiate dummy base class _graph_pool_handle",
    "MemPool": "RuntimeError: Tried to instantiate dummy base class MemPool",
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
    "nvtx.range": "RuntimeError: NVTX functions not installed",
    "nvtx.range_start": "AttributeError: '_NVTXStub' object has no attribute 'rangeStartA'",
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
        "get_gencode_flags",
        "set_rng_state",
        "set_stream",
        "device_of",
        "memory_cached",
        "max_memory_cached",
        "host_memory_stats",
        "list_gpu_processes",
        "is_tf32_supported",
        "memory.empty_cache",
        "memory.memory_allocated",
        "memory.max_memory_allocated",
        "memory.memory_reserved",
        "random.manual_seed",
        "random.manual_seed_all",
        "nccl.is_available",
    }
)

#: Harmless names that seed a generator, which ``torch.manual_seed`` does for every device.
SEEDS = frozenset({"manual_seed", "manual_seed_all", "seed", "seed_all"})

#: Harmless names that are questions, and their answer without CUDA.
ANSWERS = {
    "device_count": "0",
    "is_bf16_supported": "False",
    "is_tf32_supported": "False",
    "is_initialized": "False",
    "is_available": "False",
    "get_arch_list": "an empty list",
}

#: Harmless names that answer 0 where the question has another answer for MPS.
AMOUNTS = frozenset(
    {
        "memory_allocated",
        "max_memory_allocated",
        "memory_reserved",
        "max_memory_reserved",
        "memory_cached",
        "max_memory_cached",
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
        "reset_accumulated_memory_stats",
        "reset_max_memory_cached",
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
