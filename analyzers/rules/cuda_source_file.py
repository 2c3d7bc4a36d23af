"""K205: a CUDA source without a kernel."""

import re
from collections.abc import Iterator

from analyzers.documents.cuda import CudaFile
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: What only CUDA's compiler, headers or libraries know.
_FOR_CUDA = re.compile(
    rb"__(?:device|host|global|shared|constant)__|<<<|\bcu(?:da|blas|dnn|rand|sparse|solver|fft)|"
    rb"CUDA|[<\"/](?:cub|thrust|cute|cutlass|cooperative_groups|mma)\b|\b(?:dim3|half2?|__half)\b"
)


def find(document: CudaFile) -> Iterator[Match]:
    """The first line of a file in which no kernel is defined or launched."""
    if next(document.kernels(), None) is None and next(document.launches(), None) is None:
        span = document.first_code()
        if span is not None:
            yield Match(*span, _what_it_is(document))


def _what_it_is(document: CudaFile) -> str:
    if document.path.endswith(".cuh") and _FOR_CUDA.search(document.code) is None:
        return _(
            "A header for CUDA sources by its name: plain C++ in itself, and of use only where the "
            "code for CUDA that it goes with is built."
        )
    return _(
        "This file is for nvcc, though it neither defines nor launches a kernel: what includes or "
        "builds it needs the CUDA toolkit, which no Mac has."
    )


RULE = Rule(
    code="K205",
    name="cuda-source-file",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=CudaFile,
    triggers=(b";", b"#", b"}"),
    what=N_("A CUDA source or header that holds device functions or host code, and no kernel."),
    why=N_("Its suffix hands it to nvcc, and a build that lists it stops on a Mac."),
    advice=N_(
        "Host code may move to a .cpp file that is built everywhere; device functions stay with "
        "the kernels that use them."
    ),
    source="https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#supported-input-file-suffixes",
    find=find,
    examples=(
        Example(
            path="utils.cuh",
            text="""\
                // Helpers.
                #pragma once
                __device__ inline float twice(float x) { return 2 * x; }
                """,
            finds=("#pragma once",),
        ),
        Example(
            path="scale.cuh",
            text="""\
                #pragma once
                #include <ATen/ATen.h>
                void scale(at::Tensor x);
                """,
            finds=("#pragma once",),
        ),
        Example(path="kernel.cu", text="__global__ void scale(float *x) { }\n"),
        Example(path="launch.cu", text="void f(float *x) { scale<<<1, 2>>>(x); }\n"),
        Example(path="empty.cu", text="// Nothing yet.\n/* nor here */\n"),
        Example(path="host.cpp", text="#include <cuda_runtime.h>\n"),
    ),
)
