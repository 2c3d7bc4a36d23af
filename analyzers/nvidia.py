"""What CUDA and C++ sources take from NVIDIA: its libraries, and the features of its GPUs.

The left side of each table is how a use is recognised: by what is included, by the names in the
code. The right side is what a Mac has instead, from Apple's Metal Shading Language specification
and the documentation of Metal Performance Shaders and PyTorch.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from analyzers.documents.cuda import CudaDocument
from project.translation import N_

#: Where the claims about Metal's language come from.
METAL = "https://developer.apple.com/metal/Metal-Shading-Language-Specification.pdf"


@dataclass(frozen=True, slots=True)
class Need:
    """Something that only NVIDIA has: how it shows, and what a Mac has instead.

    ``includes`` and ``code`` are searched in the included names and in the code without strings;
    ``said`` in the code with its strings, for what is written in assembly. ``shader`` is false
    where a shader in Metal cannot simply do the same in another spelling.
    """

    name: str
    instead: str
    code: bytes = b""
    includes: str = ""
    said: bytes = b""
    shader: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """The first use of something in a file, how often it is used, and whether only under CUDA."""

    start: int
    end: int
    count: int
    guarded: bool


LIBRARIES = (
    Need(
        "cuBLAS",
        N_("torch.matmul runs on MPS, and Metal Performance Shaders multiplies matrices"),
        rb"\bcublas\w*|\bCUBLAS_\w+|\bgetCurrentCUDABlas\w+|\bcuda::blas::",
        r"cublas",
    ),
    Need(
        "cuDNN",
        N_("PyTorch's own convolutions, pooling and normalisation run on MPS through MPSGraph"),
        rb"\bcudnn[A-Z_]\w*|\bCUDNN_\w+|\bcudnn_frontend\b",
        r"cudnn",
    ),
    Need(
        "cuFFT",
        N_("torch.fft runs on MPS from macOS 14 on"),
        rb"\bcufft\w*|\bCUFFT_\w+",
        r"cufft",
    ),
    Need(
        "cuSPARSE",
        N_("Metal has no sparse library; Apple's Accelerate has one for the CPU"),
        rb"\bcusparse\w*|\bCUSPARSE_\w+",
        r"cusparse",
    ),
    Need(
        "cuSOLVER",
        N_("Apple's Accelerate has LAPACK for the CPU, which torch.linalg uses there"),
        rb"\bcusolver\w*|\bCUSOLVER_\w+",
        r"cusolver",
    ),
    Need(
        "cuRAND",
        N_("PyTorch's random functions run on MPS; a shader brings its own generator"),
        rb"\bcurand\w*|\bCURAND_\w+",
        r"curand",
    ),
    Need(
        "NCCL",
        N_("there is one GPU and nothing to take its place; Gloo connects processes on CPUs"),
        rb"\bnccl[A-Z]\w*",
        r"(?:^|/)nccl\w*\.h",
    ),
    Need(
        "CUB",
        N_("PyTorch's sort, cumsum, unique and reductions run on MPS"),
        rb"\bcub::|\bCUB_\w+",
        r"^cub/",
    ),
    Need(
        "Thrust",
        N_("PyTorch's sort, cumsum, unique and reductions run on MPS"),
        rb"\bthrust::",
        r"^thrust/",
    ),
    Need(
        "CUTLASS",
        N_("a shader multiplies tiles with simdgroup_matrix; PyTorch's operators may do the whole"),
        rb"\b(?:cutlass|cute)::|\busing\s+namespace\s+cute\b|\bCUTLASS_\w+|\bCUTE_\w+",
        r"^(?:cutlass|cute)/",
    ),
    Need(
        "NVRTC",
        N_("torch.mps.compile_shader (PyTorch 2.7) compiles Metal source at run time"),
        rb"\bnvrtc[A-Z]\w*",
        r"nvrtc\.h",
    ),
    Need(
        "NVTX",
        N_("os_signpost marks ranges for Instruments, torch.mps.profiler switches them on"),
        rb"\bnvtx(?:Range|Mark|Domain|Name)\w*|\bnvtx3::",
        r"nvToolsExt|^nvtx3/",
    ),
    Need(
        "OptiX",
        N_("Metal has ray tracing of its own, with another interface"),
        rb"\boptix[A-Z]\w*",
        r"^optix",
    ),
    Need(
        "TensorRT",
        N_("Core ML runs exported models on a Mac"),
        rb"\bnvinfer1::",
        r"^NvInfer|^NvOnnx",
    ),
)

FEATURES = (
    Need(
        "cooperative groups",
        N_(
            "Metal has simdgroup functions and threadgroup barriers, and no barrier for the "
            "whole grid"
        ),
        rb"\bcooperative_groups\b|\bcg::\w+",
        r"cooperative_groups",
    ),
    Need(
        "warp intrinsics",
        N_(
            "Metal has simd_shuffle, simd_ballot and simd_sum for the 32 threads of a simdgroup; "
            "it takes no mask"
        ),
        rb"\b(?:__shfl(?:_up|_down|_xor)?(?:_sync)?|__ballot(?:_sync)?|__activemask|__syncwarp"
        rb"|__(?:any|all)_sync|__match_(?:any|all)_sync|__reduce_\w+_sync"
        rb"|WARP_(?:SHFL|BALLOT|ANY)\w*)\s*\(",
        shader=True,
    ),
    Need(
        "textures and surfaces",
        N_("Metal has textures and samplers, bound in another way than through torch.mps"),
        rb"\btex[123]D(?:fetch|Lod|Grad|Layered)?\s*[<(]|\btex1Dfetch\b|\bsurf[123]D(?:read|write)\b"
        rb"|\bcuda(?:Texture|Surface)Object_t\b|\bcudaCreate(?:Texture|Surface)Object\b"
        rb"|\btexCubemap\w*\s*[<(]",
    ),
    Need(
        "tensor cores",
        N_("Metal multiplies 8x8 tiles with simdgroup_matrix, in other shapes and types"),
        rb"\bwmma::|\bnvcuda\b|\bSM\d\d\w*_(?:MMA|GMMA|\d+x\d+x\d+)\w*|\bGMMA::",
        r"(?:^|/)mma\.h$",
        rb"\b(?:wg)?mma(?:\.sp)?(?:\.|_async\.|_)(?:sync|mma_async)|\btcgen05\.",
    ),
    Need(
        "inline PTX",
        N_("PTX is NVIDIA's assembly: Metal takes none, and the instruction needs another way"),
        rb"\b(?:asm|__asm__|__asm)\s*(?:volatile|__volatile__)?\s*\(",
    ),
    Need(
        "dynamic shared memory",
        N_("Metal has threadgroup memory, whose size the host sets: at most 32 KB on Apple's GPUs"),
        rb"\bextern\s+__shared__",
        shader=True,
    ),
    Need(
        "atomics on double",
        N_("Apple's GPUs have no double at all: use float, or compute on the CPU"),
        rb"\batomic(?:Add|Exch|Max|Min)(?:_block|_system)?\s*(?:<\s*double\s*>\s*\(|\(\s*(?:\(\s*|"
        rb"(?:reinterpret|static)_cast\s*<\s*)?double\s*\*)",
    ),
    Need(
        "half and bfloat16 intrinsics",
        N_("Metal has half2, and bfloat from macOS 14 on, with ordinary operators"),
        rb"\b(?:__half2|half2|__nv_bfloat16\w*|nv_bfloat16\w*|__h(?:add|mul|fma|sub|max|min)2?"
        rb"|__(?:float|half|low|high|bfloat16)2?\w*2(?:half|float|bfloat16)2?\w*)\b",
        r"cuda_(?:fp16|bf16)\.h",
        shader=True,
    ),
    Need(
        "FP8 types",
        N_("Metal has no 8-bit float, and MPS holds no tensor of one"),
        rb"\b__nv_fp8\w*|\bfloat_e[45]m[23]_t\b|\bFloat8_e\w+",
        r"cuda_fp8\.h",
    ),
    Need(
        "asynchronous copies (cp.async, TMA)",
        N_("Metal copies through registers, or leaves the staging out"),
        rb"\b__pipeline_memcpy_async\b|\bcuda::memcpy_async\b|\bcuTensorMapEncode\w*"
        rb"|\bSM(?:80_CP_ASYNC|90_TMA)\w*|\bcp_async\w*",
        r"cuda_pipeline",
        rb"\bcp\.async\b",
    ),
    Need(
        "CUDA graphs",
        N_("Metal has indirect command buffers, and PyTorch captures none on MPS"),
        rb"\bcudaGraph\w*|\bcudaStreamBeginCapture\b",
    ),
)


def use_of(document: CudaDocument, need: Need) -> Use | None:
    """The first use of this in a file, the first that holds without CUDA before all others."""
    spans: set[tuple[int, int]] = set()
    if need.includes:
        wanted = re.compile(need.includes)
        spans.update((one.start, one.end) for one in document.includes if wanted.search(one.name))
    for pattern, text in zip((need.code, need.said), document.once(_texts), strict=True):
        if pattern:
            spans.update(match.span() for match in re.finditer(pattern, text))
    return first_of(document, sorted(spans))


def first_of(document: CudaDocument, spans: Sequence[tuple[int, int]]) -> Use | None:
    """The first of these places that is compiled without CUDA, else the first of all."""
    if not spans:
        return None
    for start, end in spans:
        if not document.guarded(start):
            return Use(start, end, len(spans), guarded=False)
    return Use(*spans[0], len(spans), guarded=True)


def _texts(document: CudaDocument) -> Iterator[bytes]:
    """The code, and the code with its strings, without includes: each of those counts once."""
    for text in (document.code, document.said):
        blank = bytearray(text)
        for one in document.includes:
            blank[one.start : one.end] = b" " * (one.end - one.start)
        yield bytes(blank)


def used(document: CudaDocument, needs: Sequence[Need]) -> Iterator[tuple[Need, Use]]:
    """Each of these that a file uses, and where."""
    for need in needs:
        use = use_of(document, need)
        if use is not None:
            yield need, use
