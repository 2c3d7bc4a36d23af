"""What ``torch.mps`` has, and what it lacks beside ``torch.cuda``.

Read off ``torch/mps/__init__.py`` in the macOS arm64 wheels 2.3.1, 2.6.0, 2.8.0 and 2.14.1, and in
PyTorch 2.13.0; nothing was run on a Mac.
"""

from project.translation import _

#: Names under ``torch.mps``; the value is the first PyTorch that has it, or empty where any release
#: with MPS that is still in use does.
PRESENT: dict[str, str] = dict.fromkeys(
    (
        "get_rng_state",
        "manual_seed",
        "seed",
        "set_rng_state",
        "synchronize",
        "empty_cache",
        "set_per_process_memory_fraction",
        "current_allocated_memory",
        "driver_allocated_memory",
        "profiler",
        "event",
    ),
    "",
) | {
    "Event": "2.1",
    "device_count": "2.4",
    "is_available": "2.5",
    "recommended_max_memory": "",
    "compile_shader": "2.7",
    "load_metallib": "",
}

#: Names of ``torch.cuda`` that ``torch.mps`` has in no release up to 2.14.1, and what there is.
ABSENT: dict[str, str] = {
    "set_device": "",
    "current_device": "",
    "device": "",
    "get_device_name": "",
    "get_device_properties": "",
    "get_device_capability": "",
    "memory_allocated": "current_allocated_memory",
    "max_memory_allocated": "",
    "memory_reserved": "driver_allocated_memory",
    "max_memory_reserved": "",
    "memory_stats": "",
    "memory_summary": "",
    "mem_get_info": "recommended_max_memory",
    "reset_peak_memory_stats": "",
    "reset_max_memory_allocated": "",
    "ipc_collect": "",
    "is_initialized": "",
    "init": "",
    "is_bf16_supported": "",
    "manual_seed_all": "manual_seed",
    "seed_all": "seed",
    "initial_seed": "",
    "get_rng_state_all": "get_rng_state",
    "set_rng_state_all": "set_rng_state",
    "Stream": "",
    "stream": "",
    "current_stream": "",
    "default_stream": "",
    "CUDAGraph": "",
    "graph": "",
    "amp": "",
    "FloatTensor": "",
    "HalfTensor": "",
    "OutOfMemoryError": "",
    "utilization": "",
}

#: Names of ``torch.cuda`` that capture work to play it again.
_GRAPHS = frozenset({"CUDAGraph", "graph", "make_graphed_callables", "graph_pool_handle"})


def counterpart(name: str) -> str:
    """What ``torch.mps`` has of a name of ``torch.cuda``, in a sentence; empty if it is unknown."""
    if name in _GRAPHS:
        return _(
            "PyTorch captures no graph on MPS up to 2.14: keep this for CUDA, and call the model "
            "itself elsewhere."
        )
    if name == "Event":
        return _(
            "torch.mps.Event is there from PyTorch 2.1 on; its elapsed_time was reported to be "
            "wrong as late as 2026, so that it is no stopwatch yet."
        )
    if name == "max_memory_allocated":
        return _("torch.mps.current_allocated_memory() is what is held now, not a peak.")
    if ABSENT.get(name):
        message = _("torch.mps has no {name}; look at torch.mps.{instead}().")
        return message.format(name=name, instead=ABSENT[name])
    if name in ABSENT:
        return _("torch.mps has no {name} up to PyTorch 2.14.").format(name=name)
    if PRESENT.get(name):
        message = _("torch.mps.{name} is there from PyTorch {since} on.")
        return message.format(name=name, since=PRESENT[name])
    if name in PRESENT:
        return _("torch.mps.{name} is its counterpart.").format(name=name)
    return ""
