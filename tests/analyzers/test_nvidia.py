"""What CUDA and C++ sources take from NVIDIA, and what of it holds in a build without CUDA."""

import time

import pytest

from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument
from analyzers.examine import examine
from analyzers.nvidia import FEATURES, LIBRARIES, use_of, used
from analyzers.registry import rules
from project.vocabulary import Finding, Severity

KERNEL_RULES = [one for one in rules() if one.code.startswith("K2")]


def document(text: str, path: str = "k.cu") -> CudaDocument:
    return CudaDocument(Source.of(path, text.encode()))


def names(text: str, path: str = "k.cu") -> list[str]:
    return [need.name for need, _use in used(document(text, path), (*LIBRARIES, *FEATURES))]


def found(rule: str, text: str, path: str) -> list[Finding]:
    report = examine(path, text.encode(), KERNEL_RULES)
    return [one for one in report.findings if one.rule == rule]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("cublasLtMatmul(h);", "cuBLAS"),
        ("auto h = at::cuda::getCurrentCUDABlasHandle();", "cuBLAS"),
        ("#include <cudnn.h>", "cuDNN"),
        ("cufftExecC2C(p);", "cuFFT"),
        ("cusparseSpMM(h);", "cuSPARSE"),
        ("cusolverDnCreate(&h);", "cuSOLVER"),
        ("curandState_t s;", "cuRAND"),
        ("ncclAllReduce(a);", "NCCL"),
        ("#include <cub/cub.cuh>", "CUB"),
        ("thrust::sort(a, b);", "Thrust"),
        ("using namespace cute;", "CUTLASS"),
        ("nvrtcCompileProgram(p);", "NVRTC"),
        ("nvtxRangePop();", "NVTX"),
        ("optixLaunch(p);", "OptiX"),
        ("nvinfer1::IBuilder *b;", "TensorRT"),
        ("namespace cg = cooperative_groups;", "cooperative groups"),
        ("x = __shfl_down_sync(m, x, 1);", "warp intrinsics"),
        ("m = __activemask();", "warp intrinsics"),
        ("v = tex2D<float>(t, x, y);", "textures and surfaces"),
        ("wmma::load_matrix_sync(a, p, 16);", "tensor cores"),
        ("extern __shared__ float s[];", "dynamic shared memory"),
        ("atomicAdd((double *)p, 1.0);", "atomics on double"),
        ("__nv_bfloat162 b;", "half and bfloat16 intrinsics"),
        ("__nv_fp8_e4m3 f;", "FP8 types"),
        ("__pipeline_memcpy_async(a, b, 16);", "asynchronous copies (cp.async, TMA)"),
        ("cudaGraphLaunch(g, s);", "CUDA graphs"),
    ],
)
def test_each_need_is_recognised_and_nothing_else(text: str, name: str) -> None:
    assert names(text) == [name]
    assert names(f"// {text}\n/* {text} */") == []


def test_assembly_tells_tensor_cores_and_copies_apart_from_plain_ptx() -> None:
    assert names('asm volatile("bar.sync 0;");') == ["inline PTX"]
    assert names('asm("mma.sync.aligned.m16n8k16");') == ["tensor cores", "inline PTX"]
    assert names('asm("cp.async.ca.shared.global [%0];");') == [
        "inline PTX",
        "asynchronous copies (cp.async, TMA)",
    ]


def test_words_that_only_look_like_it_are_left_alone() -> None:
    text = "my_cublas(); execute::f(); cube::g(); texture3d(x); gamma.sync(); int half = 2;"
    assert names(text) == []
    assert names('#include "thrust_stand/curve.h"\n#include "mma_helpers.hpp"') == []


def test_the_first_use_without_a_guard_stands_for_all() -> None:
    text = "#ifdef USE_CUDA\ncudnnCreate(&h);\n#endif\ncudnnDestroy(h);\n"
    one = document(text, "a.cpp")
    use = use_of(one, next(need for need in LIBRARIES if need.name == "cuDNN"))
    assert use is not None
    assert one.source.decode(use.start, use.end) == "cudnnDestroy"
    assert (use.count, use.guarded) == (2, False)


def test_an_include_counts_once() -> None:
    (library,) = found("K206", "#include <cub/cub.cuh>\n", "a.cu")
    assert "used" not in library.message
    (library,) = found("K206", "#include <cub/cub.cuh>\ncub::Sum s;\n", "a.cu")
    assert "used 2 times" in library.message
    assert library.text == "#include <cub/cub.cuh>"


def test_plain_cpp_has_no_features_of_a_gpu() -> None:
    assert found("K207", 'void f() { asm volatile("pause"); }\n', "a.h") == []
    amd = "#include <hip/hip_runtime.h>\n__device__ void f() { extern __shared__ int s[]; }\n"
    assert found("K207", amd, "a.h") == []
    (one,) = found("K207", amd.replace("hip/hip", "cuda"), "a.h")
    assert one.text == "extern __shared__"


def test_host_code_names_its_first_use_and_how_many_there_are() -> None:
    text = "void f() {\n  cudaMalloc(&p, 4);\n  at::cuda::getCurrentCUDAStream();\n}\n"
    (one,) = found("K208", text, "a.cpp")
    assert (one.text, one.line, one.severity) == ("cudaMalloc", 2, Severity.BLOCKS)
    assert "2 places in this file" in one.message
    (one,) = found("K208", "cudaStream_t s;\n", "a.h")
    assert "places" not in one.message


def test_a_branch_on_cuda_is_no_more_than_a_hint() -> None:
    text = "at::Tensor f(at::Tensor x) { if (x.is_cuda()) return g(x); return h(x); }\n"
    (one,) = found("K208", text, "a.cpp")
    assert one.severity is Severity.COSMETIC
    (one,) = found("K208", "void f(at::Tensor x) { AT_ASSERTM(x.is_cuda(), 1); }\n", "a.cpp")
    assert one.severity is Severity.BLOCKS


def test_a_check_for_the_cpu_is_no_check_for_cuda() -> None:
    (one,) = found("K208", "void f(at::Tensor x) { TORCH_CHECK(!x.is_cuda()); }\n", "a.cpp")
    assert one.severity is Severity.COSMETIC


def test_registrations_for_other_devices_stay_silent() -> None:
    text = 'TORCH_LIBRARY_IMPL(a, MPS, m) { m.impl("f", &f); }\nREGISTER_DEVICE_IMPL(f, CPU, g);\n'
    assert found("K209", text, "a.cpp") == []
    (one,) = found("K209", text.replace("MPS", "AutogradCUDA"), "a.cpp")
    assert "AutogradCUDA" in one.message


def test_a_module_is_cuda_by_its_code_alone() -> None:
    module = 'PYBIND11_MODULE(fast, m) { m.def("f", &f); }\n'
    assert found("K209", module, "a.cpp") == []
    (one,) = found("K209", "cudaStream_t s;\n" + module, "a.cpp")
    assert "module or library fast" in one.message
    guarded = "cudaStream_t s;\n#ifdef WITH_CUDA\n" + module + "#endif\n"
    assert found("K209", guarded, "a.cpp") == []


def test_metal_is_handled_and_never_found() -> None:
    text = "#include <cuda_runtime.h>\nkernel void f() { cudnnCreate(h); }\n"
    for path in ("a.metal", "a.mm"):
        assert examine(path, text.encode(), KERNEL_RULES).findings == ()


@pytest.mark.parametrize(
    "piece",
    [
        *("TORCH_CHECK(", 'm.impl("a", ', "asm", "cublas ", "#include <cub/a>\n", "REGISTER_A("),
        *("is_cuda(", "#ifdef USE_CUDA\n", "atomicAdd("),
    ],
)
@pytest.mark.parametrize("path", ["a.cpp", "a.cu"])
def test_a_long_file_is_examined_in_time(piece: str, path: str) -> None:
    text = "__device__ int a; cudaMalloc(p);\n" + piece * (300_000 // len(piece))
    begin = time.perf_counter()
    examine(path, text.encode(), KERNEL_RULES)
    assert time.perf_counter() - begin < 5
