"""Libraries that need CUDA, or are taken to need it: what each does on a Mac.

A dated table, because it rots: bitsandbytes was CUDA only and is no more. ``basis`` says how far a
row can be trusted. ``index`` rows were asked of the package index for macOS arm64 wheels on the
date of the row (``benchmarks/check_libraries.py`` asks again); ``documentation`` rows repeat what
the project's own installation notes or build script said on that date. Nothing here was run on
a Mac.
"""

import re
from dataclasses import dataclass
from enum import Enum
from functools import cache

from project.translation import N_

CHECKED = "2026-11-30"


class OnMac(Enum):
    """What a library is good for on a Mac with Apple Silicon."""

    CUDA_ONLY = "needs CUDA"
    PARTIAL = "installs, without what CUDA gives it"
    WORKS = "works"


class Basis(Enum):
    """Where a row's state comes from."""

    INDEX = "package index"
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class Library:
    """One row: names to install and to import, and the state on a Mac.

    ``distributions`` are canonical names without a CUDA suffix such as ``-cu12``. ``since`` is
    the first version that works on a Mac. ``state`` and ``instead`` are marked for translation.
    """

    distributions: tuple[str, ...]
    imports: tuple[str, ...]
    on_mac: OnMac
    state: str
    instead: str
    source: str
    basis: Basis = Basis.DOCUMENTATION
    since: str = ""
    checked: str = CHECKED


_SDPA = N_("Use torch.nn.functional.scaled_dot_product_attention off CUDA.")
_NO_WHEEL = N_("The index has no wheel for macOS arm64.")
_NEEDS_NVCC = N_("It is compiled with nvcc, which no Mac has; setting CUDA_HOME does not help.")
_LINUX_ONLY = N_("Its installation notes name Linux with an NVIDIA GPU alone.")
_NUMPY_TORCH = N_("Use NumPy, or PyTorch tensors on MPS.")
_CPU_KERNELS = N_("On a Mac it has CPU kernels alone: tensors on MPS must be moved to the CPU.")
_CPU_OR_NATIVE = N_("Call it on the CPU, or use the operators that PyTorch has.")
_NO_NVML = N_("It installs, but the NVIDIA driver library that it loads is not there.")
_MEMORY = N_(
    "Make the reading optional; torch.mps.driver_allocated_memory tells the memory in use."
)
_STAYS = N_("Keep this part on the CUDA machine.")

LIBRARIES: tuple[Library, ...] = (
    Library(
        ("flash-attn", "flash-attn-3"),
        ("flash_attn", "flash_attn_2_cuda", "flash_attn_interface"),
        OnMac.CUDA_ONLY,
        N_("The index has its source alone, which needs nvcc; setting CUDA_HOME does not help."),
        _SDPA,
        "https://github.com/Dao-AILab/flash-attention#installation-and-features",
        Basis.INDEX,
    ),
    Library(
        ("xformers",),
        ("xformers",),
        OnMac.CUDA_ONLY,
        N_(
            "No release has a wheel for macOS arm64 (one development version is plain Python), "
            "and its attention kernels are for CUDA and ROCm."
        ),
        _SDPA,
        "https://github.com/facebookresearch/xformers#installing-xformers",
        Basis.INDEX,
    ),
    Library(
        ("triton", "triton-nightly"),
        ("triton",),
        OnMac.CUDA_ONLY,
        _NO_WHEEL,
        N_(
            "See whether the project has @triton.jit kernels of its own, or whether this is a "
            "leftover of torch on Linux, which asks for it itself."
        ),
        "https://github.com/triton-lang/triton#compatibility",
        Basis.INDEX,
    ),
    Library(
        ("bitsandbytes",),
        ("bitsandbytes",),
        OnMac.WORKS,
        N_("It has wheels for macOS 14 on arm64, with kernels for MPS still being completed."),
        N_("Ask for 0.49 or newer."),
        "https://github.com/bitsandbytes-foundation/bitsandbytes#system-requirements",
        Basis.INDEX,
        since="0.49.0",
    ),
    Library(
        ("deepspeed",),
        ("deepspeed",),
        OnMac.PARTIAL,
        N_(
            "Current releases come as source; it knows MPS as an accelerator, without a "
            "communication backend, so that ZeRO and several processes are not available."
        ),
        N_("Run the training loop without it on a Mac; training that needs it stays on CUDA."),
        "https://github.com/microsoft/DeepSpeed/pull/3907",
        Basis.INDEX,
    ),
    Library(
        ("vllm",),
        ("vllm",),
        OnMac.PARTIAL,
        N_("No wheel for macOS; a build from source is experimental and runs on the CPU alone."),
        N_("Serve from the CUDA machine, or use transformers on MPS for small tests."),
        "https://docs.vllm.ai/en/latest/getting_started/installation/cpu/",
        Basis.INDEX,
    ),
    Library(
        ("cupy",),
        ("cupy", "cupyx"),
        OnMac.CUDA_ONLY,
        N_("Its wheels are for Linux and Windows."),
        _NUMPY_TORCH,
        "https://docs.cupy.dev/en/stable/install.html",
        Basis.INDEX,
    ),
    Library(
        ("onnxruntime-gpu",),
        (),
        OnMac.CUDA_ONLY,
        _NO_WHEEL,
        N_("Ask for onnxruntime on a Mac, and leave the choice of provider to what is available."),
        "https://onnxruntime.ai/docs/install/",
        Basis.INDEX,
    ),
    Library(
        (),
        ("apex",),
        OnMac.CUDA_ONLY,
        N_("It is built from source for Linux with CUDA extensions."),
        N_("Use torch.amp, torch.optim and torch.nn.LayerNorm, which took over what it offered."),
        "https://github.com/NVIDIA/apex#installation",
    ),
    Library(
        ("mamba-ssm",),
        ("mamba_ssm", "selective_scan_cuda"),
        OnMac.CUDA_ONLY,
        _LINUX_ONLY,
        N_("Use its plain PyTorch reference (selective_scan_ref) for tests; train on CUDA."),
        "https://github.com/state-spaces/mamba#installation",
    ),
    Library(
        ("causal-conv1d",),
        ("causal_conv1d", "causal_conv1d_cuda"),
        OnMac.CUDA_ONLY,
        _NEEDS_NVCC,
        N_("Use torch.nn.Conv1d with groups and left padding."),
        "https://github.com/Dao-AILab/causal-conv1d",
    ),
    Library(
        ("transformer-engine", "transformer-engine-torch"),
        ("transformer_engine",),
        OnMac.CUDA_ONLY,
        _LINUX_ONLY,
        _STAYS,
        "https://docs.nvidia.com/deeplearning/transformer-engine/user-guide/installation.html",
    ),
    Library(
        ("flashinfer-python", "flashinfer"),
        ("flashinfer",),
        OnMac.CUDA_ONLY,
        N_("Its installation notes name Linux alone."),
        _SDPA,
        "https://docs.flashinfer.ai/installation.html",
    ),
    Library(
        ("sageattention",),
        ("sageattention",),
        OnMac.CUDA_ONLY,
        N_("Its kernels are written in CUDA and Triton."),
        _SDPA,
        "https://github.com/thu-ml/SageAttention#installation",
    ),
    Library(
        ("auto-gptq",),
        ("auto_gptq",),
        OnMac.CUDA_ONLY,
        N_("Its installation notes name Linux and Windows alone."),
        N_("Load the model unquantised, or quantise with a library that has kernels for MPS."),
        "https://github.com/AutoGPTQ/AutoGPTQ#installation",
    ),
    Library(
        ("spconv",),
        ("spconv",),
        OnMac.CUDA_ONLY,
        N_("Its wheels, the one for the CPU too, are for Linux and partly for Windows."),
        _STAYS,
        "https://github.com/traveller59/spconv#install",
    ),
    Library(
        ("nvdiffrast",),
        ("nvdiffrast",),
        OnMac.CUDA_ONLY,
        N_("It is a CUDA extension without a version for the CPU or Metal."),
        N_("Keep training on the CUDA machine; export and inference may move."),
        "https://github.com/NVlabs/nvdiffrast",
    ),
    Library(
        ("gsplat",),
        ("gsplat",),
        OnMac.CUDA_ONLY,
        N_("It installs, and compiles its CUDA code when it is first called, which fails."),
        N_("Keep rasterisation on the CUDA machine."),
        "https://github.com/nerfstudio-project/gsplat#installation",
    ),
    Library(
        ("tinycudann",),
        ("tinycudann",),
        OnMac.CUDA_ONLY,
        _NEEDS_NVCC,
        N_("Write the encoding and the small network in PyTorch, slower, for tests on a Mac."),
        "https://github.com/NVlabs/tiny-cuda-nn#requirements",
    ),
    Library(
        ("kaolin",),
        ("kaolin",),
        OnMac.PARTIAL,
        N_("On macOS it is built for the CPU alone, with a part of its operators."),
        _CPU_OR_NATIVE,
        "https://kaolin.readthedocs.io/en/latest/notes/installation.html",
    ),
    Library(
        ("pytorch3d",),
        ("pytorch3d",),
        OnMac.PARTIAL,
        _CPU_KERNELS,
        _CPU_OR_NATIVE,
        "https://github.com/facebookresearch/pytorch3d/blob/main/INSTALL.md",
    ),
    Library(
        ("torch-scatter",),
        ("torch_scatter",),
        OnMac.PARTIAL,
        _CPU_KERNELS,
        N_("Use Tensor.scatter_reduce, which MPS has since PyTorch 2.6."),
        "https://github.com/rusty1s/pytorch_scatter#installation",
    ),
    Library(
        ("mmcv", "mmcv-full"),
        ("mmcv.ops",),
        OnMac.PARTIAL,
        N_("Its build script adds its own MPS operators below PyTorch 2.1 alone; else the CPU's."),
        _CPU_OR_NATIVE,
        "https://github.com/open-mmlab/mmcv/blob/main/setup.py",
    ),
    Library(
        ("pycuda",),
        ("pycuda",),
        OnMac.CUDA_ONLY,
        N_("It wraps the CUDA driver, which no current macOS has."),
        N_("Use PyTorch operators, or torch.mps.compile_shader for a kernel of your own."),
        "https://github.com/inducer/pycuda",
    ),
    Library(
        ("numba",),
        (),
        OnMac.WORKS,
        N_("It compiles for the CPU of a Mac."),
        "",
        "https://numba.readthedocs.io/en/stable/user/installing.html",
    ),
    Library(
        ("numba-cuda",),
        ("numba.cuda", "numba_cuda"),
        OnMac.CUDA_ONLY,
        N_("Numba has no target for Apple's GPU."),
        N_("Use PyTorch operators, torch.mps.compile_shader (PyTorch 2.7), or numba on the CPU."),
        "https://github.com/NVIDIA/numba-cuda",
    ),
    Library(
        ("tensorrt", "torch-tensorrt", "torch2trt"),
        ("tensorrt", "torch_tensorrt", "torch2trt"),
        OnMac.CUDA_ONLY,
        N_("TensorRT builds engines for NVIDIA GPUs alone."),
        N_("Run the PyTorch or ONNX model itself on a Mac."),
        "https://docs.nvidia.com/deeplearning/tensorrt/latest/getting-started/support-matrix.html",
    ),
    Library(
        ("nvidia-dali", "nvidia-dali-nightly"),
        ("nvidia.dali",),
        OnMac.CUDA_ONLY,
        N_("Its installation notes name Linux alone."),
        N_("Use torchvision's transforms and a DataLoader."),
        "https://docs.nvidia.com/deeplearning/dali/user-guide/docs/installation.html",
    ),
    Library(
        ("cudf", "cuml", "cugraph"),
        ("cudf", "cuml", "cugraph"),
        OnMac.CUDA_ONLY,
        N_("RAPIDS neither publishes nor runs on macOS."),
        N_("Use pandas, scikit-learn and NetworkX."),
        "https://github.com/rapidsai/cudf/issues/9957",
    ),
    Library(
        ("faiss-gpu",),
        (),
        OnMac.CUDA_ONLY,
        N_("The GPU packages are for Linux alone."),
        N_("Ask for faiss-cpu on a Mac; the module's name stays faiss."),
        "https://github.com/facebookresearch/faiss/blob/main/INSTALL.md",
    ),
    Library(
        ("horovod",),
        ("horovod",),
        OnMac.PARTIAL,
        N_("It builds on macOS, and its installation notes name NCCL alone for GPUs."),
        N_("Training on several GPUs stays on CUDA; run a single process on a Mac."),
        "https://horovod.readthedocs.io/en/stable/install_include.html",
    ),
    Library(
        ("pynvml", "nvidia-ml-py", "nvidia-ml-py3"),
        ("pynvml",),
        OnMac.CUDA_ONLY,
        _NO_NVML,
        _MEMORY,
        "https://docs.nvidia.com/deploy/nvml-api/nvml-api-reference.html",
    ),
    Library(
        ("warp-lang",),
        ("warp",),
        OnMac.WORKS,
        N_("It runs on the CPU of a Mac; its GPU kernels need CUDA."),
        "",
        "https://nvidia.github.io/warp/installation.html",
    ),
)

#: What NVIDIA appends to a name to say which CUDA a wheel is built for.
_SUFFIX = re.compile(r"-?(?:cu|cuda)\d+x?\Z")


def without_suffix(distribution: str) -> str:
    """A canonical name without its CUDA suffix: ``cupy-cuda12x`` is ``cupy``."""
    return _SUFFIX.sub("", distribution)


def has_suffix(distribution: str) -> bool:
    """Whether a canonical name says which CUDA it is built for."""
    return _SUFFIX.search(distribution) is not None


@cache
def _by_distribution() -> dict[str, Library]:
    return {name: row for row in LIBRARIES for name in row.distributions}


@cache
def _by_import() -> dict[str, Library]:
    return {name: row for row in LIBRARIES for name in row.imports}


def distribution(name: str) -> Library | None:
    """The row of a canonical distribution name, with or without a CUDA suffix."""
    return _by_distribution().get(name) or _by_distribution().get(without_suffix(name))


def imported(module: str) -> tuple[str, Library] | None:
    """The row of an imported module, or of the package that it lies in, and the name in it."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        row = _by_import().get(name)
        if row is not None:
            return name, row
    return None


def import_names() -> tuple[str, ...]:
    """The first part of every module name in the table."""
    return tuple(sorted({name.split(".")[0] for name in _by_import()}))
