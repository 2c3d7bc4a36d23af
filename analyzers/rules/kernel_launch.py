"""K202: a launch of a CUDA kernel."""

from collections.abc import Iterator

from analyzers.documents.cuda import CudaDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: CudaDocument) -> Iterator[Match]:
    """Launch expressions, and calls that launch through CUDA's runtime or driver."""
    message = _("{name} is launched on an NVIDIA GPU here: off CUDA this call needs another way.")
    for launch in document.launches():
        yield Match(launch.start, launch.end, message.format(name=launch.name))


RULE = Rule(
    code="K202",
    name="kernel-launch",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=CudaDocument,
    triggers=(
        b"<<<",
        b"<< <",
        b"LaunchKernel",
        b"LaunchCooperativeKernel",
        b"cutlass::kernel_launch",
        b"ClusterLauncher",
    ),
    what=N_("A kernel is started on an NVIDIA GPU."),
    why=N_("The launch syntax belongs to nvcc, and what it starts has no counterpart on a Mac."),
    advice=N_(
        "Find the function that Python calls and give it a branch for other devices there; the "
        "launch itself stays for CUDA."
    ),
    source="https://docs.nvidia.com/cuda/cuda-c-programming-guide/#kernels",
    find=find,
    examples=(
        Example(
            path="launch.cu",
            text="""\
                void run(float *x, cudaStream_t stream) {
                    scale<float, 4><<<dim3(2, 3), 256, 0, stream>>>(x, 2.0f);
                    AT_DISPATCH_FLOATING_TYPES(t.scalar_type(), "f", ([&] {
                        ns::add<scalar_t><<<blocks(n), threads>>>(
                            t.data_ptr<scalar_t>(), n);
                    }));
                    cudaLaunchKernel((void *)pool, grid, block, args, 0, stream);
                }
                """,
            finds=(
                "scale<float, 4><<<dim3(2, 3), 256, 0, stream>>>(x, 2.0f)",
                "ns::add<scalar_t><<<blocks(n), threads>>>(\n"
                "            t.data_ptr<scalar_t>(), n)",
                "cudaLaunchKernel((void *)pool, grid, block, args, 0, stream)",
            ),
        ),
        Example(
            path="macro.cu",
            text="""\
                #define LAUNCH(K, N) \\
                  K<N><<<grid, N>>>(params)
                """,
            finds=("K<N><<<grid, N>>>(params)",),
        ),
        Example(
            path="extension.h",
            text="""\
                template <class K> void start(Params p) {
                    cutlass::kernel_launch<K>(grid, block, smem, stream, p);
                    pool << <grid, 64 >> > (p);
                }
                """,
            finds=(
                "cutlass::kernel_launch<K>(grid, block, smem, stream, p)",
                "pool << <grid, 64 >> > (p)",
            ),
        ),
        Example(path="shift.cu", text="int y = x << 3; std::cout << y << z;\n"),
        Example(path="text.cu", text='// scale<<<1, 2>>>(x)\nconst char *s = "k<<<1, 2>>>(x)";\n'),
        Example(path="define.cu", text="__global__ void scale(float *x) { }\n"),
        Example(path="conflict.cu", text="<<<<<<< HEAD\nint a;\n=======\n>>>>>>> other\n"),
    ),
)
