"""K206: C++ or CUDA code that calls a library of NVIDIA's."""

from collections.abc import Iterator

from analyzers.documents.cuda import CudaDocument
from analyzers.nvidia import LIBRARIES, used
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: CudaDocument) -> Iterator[Match]:
    """The first use of each library."""
    message = _(
        "{name} exists for NVIDIA GPUs alone (used {count} times here). On a Mac: {instead}."
    )
    once = _("{name} exists for NVIDIA GPUs alone. On a Mac: {instead}.")
    guarded = _("{name} is used here in a build with CUDA only, and left out of one without.")
    for need, use in used(document, LIBRARIES):
        if use.guarded:
            yield Match(use.start, use.end, guarded.format(name=need.name), Severity.COSMETIC)
            continue
        text = message if use.count > 1 else once
        yield Match(
            use.start,
            use.end,
            text.format(name=need.name, count=use.count, instead=_(need.instead)),
        )


RULE = Rule(
    code="K206",
    name="nvidia-library",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=CudaDocument,
    triggers=(
        *(b"cublas", b"CUBLAS", b"CUDABlas", b"cuda::blas", b"cudnn", b"CUDNN", b"cufft", b"CUFFT"),
        *(b"cusparse", b"CUSPARSE", b"cusolver", b"CUSOLVER", b"curand", b"CURAND", b"nccl"),
        *(b"cub::", b"cub/", b"CUB_", b"thrust", b"cutlass", b"CUTLASS", b"cute", b"CUTE_"),
        *(b"nvrtc", b"nvtx", b"nvToolsExt", b"optix", b"nvinfer", b"NvInfer", b"NvOnnx"),
    ),
    what=N_("C++ or CUDA code uses a library that NVIDIA makes for its own GPUs."),
    why=N_("There is no macOS release of it: the code neither compiles nor links on a Mac."),
    advice=N_(
        "What the library does here is often an operator of PyTorch that runs on MPS; call that "
        "one on other devices and keep the library for CUDA. The file's first use stands for all."
    ),
    source="https://developer.nvidia.com/gpu-accelerated-libraries",
    find=find,
    examples=(
        Example(
            path="gemm.cpp",
            text="""\
                #include <cublas_v2.h>
                #include "cutlass/gemm/device/gemm.h"
                void run(cublasHandle_t handle) { cublasSgemm(handle); }
                """,
            finds=("#include <cublas_v2.h>", '#include "cutlass/gemm/device/gemm.h"'),
        ),
        Example(
            path="sort.cu",
            text="""\
                void sort(int *x, int n) {
                    thrust::sort(x, x + n);
                    cub::DeviceScan::InclusiveSum(a, b, x, x, n);
                    thrust::fill(x, x + n, 0);
                }
                """,
            finds=("thrust::", "cub::"),
        ),
        Example(
            path="guarded.h",
            text="""\
                #ifdef USE_CUDA
                #include <cudnn.h>
                #endif
                """,
            finds=("#include <cudnn.h>",),
        ),
        Example(
            path="trace.cpp",
            text='#include <nvToolsExt.h>\nvoid f() { nvtxRangePushA("step"); }\n',
            finds=("#include <nvToolsExt.h>",),
        ),
        Example(path="comment.cu", text='// cublasSgemm\nconst char *s = "thrust::sort";\n'),
        Example(path="words.cpp", text="int cube = 3; cubic::f(); execute::g(); Ns::cub(x);\n"),
        Example(path="thrust.cpp", text="double thrust = engine.thrust();\nint cute = thrust;\n"),
        Example(path="other.hpp", text='#include "my/cutlass_free.h"\n#include <vector>\n'),
    ),
)
