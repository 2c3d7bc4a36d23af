"""K201: a kernel written in CUDA."""

from collections.abc import Iterator

from analyzers.documents.cuda import CudaDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: CudaDocument) -> Iterator[Match]:
    """The signature of each ``__global__`` function that has a body."""
    message = _(
        "Kernel {name} is compiled by nvcc for NVIDIA GPUs: no Mac builds or runs it. Look for a "
        "CPU path or a PyTorch operator that does the same, write a Metal shader, or keep it on "
        "CUDA."
    )
    for kernel in document.kernels():
        yield Match(kernel.start, kernel.end, message.format(name=kernel.name))


RULE = Rule(
    code="K201",
    name="cuda-kernel",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=CudaDocument,
    triggers=(b"__global__",),
    what=N_("A function that runs on an NVIDIA GPU is defined here."),
    why=N_(
        "CUDA's kernel language, memory model and compiler have no counterpart under the same name "
        "on a Mac, and nothing translates a kernel by itself. Each kernel is a decision of its own."
    ),
    advice=N_(
        "Prefer a reference or CPU path that the project already has, then an operator of PyTorch, "
        "then a Metal shader through torch.mps.compile_shader (PyTorch 2.7), each compared with "
        "the kernel's results; else keep it on CUDA. Do not delete it: CUDA users need it."
    ),
    source="https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/",
    since="CUDA 11.0",
    find=find,
    examples=(
        Example(
            path="ascend.cpp",
            text="""\
                extern "C" __global__ __aicore__ void rows(GM_ADDR x) { }
                void run(void *s) { rows<<<8, nullptr, s>>>(x); }
                """,
        ),
        Example(
            path="scale.cu",
            text="""\
                __global__ void declared(float *x);

                template <typename scalar_t, int N>
                __global__ void __launch_bounds__(256)
                scale(scalar_t *x, float k) {
                    x[threadIdx.x] *= k;
                }

                extern "C" __global__ void plain(int n) { }
                """,
            finds=(
                "template <typename scalar_t, int N>\n__global__ void __launch_bounds__(256)\n"
                "scale(scalar_t *x, float k)",
                'extern "C" __global__ void plain(int n)',
            ),
        ),
        Example(
            path="macro.cu",
            text="""\
                #define KERNEL(name) \\
                  __global__ void name##_kernel(int n) { }
                C10_LAUNCH_BOUNDS_1(512)
                __global__ void pool(const int n, float* out) {
                }
                """,
            finds=(
                "__global__ void name##_kernel(int n)",
                "C10_LAUNCH_BOUNDS_1(512)\n__global__ void pool(const int n, float* out)",
            ),
        ),
        Example(
            path="template.h",
            text="template <int N>\n__global__ void fill(float* out) { }\n",
            finds=("template <int N>\n__global__ void fill(float* out)",),
        ),
        Example(path="declared.cuh", text="__global__ void scale(float *x, float k);\n"),
        Example(path="device.cu", text="__device__ float twice(float x) { return 2 * x; }\n"),
        Example(
            path="comment.cu",
            text="""\
                // __global__ void scale(float *x) { }
                /* __global__ void scale(float *x) { } */
                const char *source = "__global__ void scale(float *x) { }";
                """,
        ),
        Example(path="alias.cuh", text="#define KERNEL __global__\n"),
    ),
)
