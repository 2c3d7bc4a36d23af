"""K207: a feature of NVIDIA's GPUs that a kernel relies on."""

from collections.abc import Iterator

from analyzers.documents.cuda import CudaDocument
from analyzers.nvidia import FEATURES, METAL, used
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: CudaDocument) -> Iterator[Match]:
    """The first use of each feature."""
    if not document.has_device_code:
        return
    message = _("Uses {name} of NVIDIA's GPUs ({count} times in this file). {instead}.")
    once = _("Uses {name} of NVIDIA's GPUs. {instead}.")
    guarded = _("Uses {name} in a build with CUDA only; one without leaves this out.")
    for need, use in used(document, FEATURES):
        if use.guarded:
            yield Match(use.start, use.end, guarded.format(name=need.name), Severity.COSMETIC)
            continue
        text = message if use.count > 1 else once
        instead = _(need.instead)
        yield Match(
            use.start,
            use.end,
            text.format(name=need.name, count=use.count, instead=instead[:1].upper() + instead[1:]),
        )


RULE = Rule(
    code="K207",
    name="nvidia-feature",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=CudaDocument,
    triggers=(
        *(b"cooperative_groups", b"cg::", b"__shfl", b"__ballot", b"__activemask", b"__syncwarp"),
        *(b"__any_sync", b"__all_sync", b"__match_", b"__reduce_", b"WARP_SHFL", b"WARP_BALLOT"),
        *(b"WARP_ANY", b"tex1D", b"tex2D", b"tex3D", b"texCubemap", b"surf1D", b"surf2D"),
        *(b"surf3D", b"TextureObject", b"SurfaceObject", b"wmma", b"nvcuda", b"GMMA", b"MMA"),
        *(b"mma.h", b"mma.", b"mma_async", b"tcgen05", b"asm", b"extern", b"atomic", b"half2"),
        *(b"bfloat16", b"__h", b"2half", b"2float", b"cuda_fp16", b"cuda_bf16", b"fp8"),
        *(b"float_e", b"Float8_e", b"memcpy_async", b"TensorMapEncode", b"CP_ASYNC", b"SM"),
        *(b"cp_async", b"cp.async", b"cuda_pipeline", b"cudaGraph", b"BeginCapture"),
    ),
    what=N_("Device code relies on something that NVIDIA's hardware or compiler has."),
    why=N_(
        "It says how far the kernel is from one for Apple's GPUs: some features have a counterpart "
        "in Metal under another name, some have none, so that the algorithm has to change."
    ),
    advice=N_(
        "Weigh it when the kernel is decided: what has a counterpart can go into a Metal shader; "
        "PTX, tensor core fragments and double precision speak for another algorithm or for CUDA."
    ),
    source=METAL,
    since="Metal 4",
    find=find,
    examples=(
        Example(
            path="reduce.cuh",
            text="""\
                #include <cooperative_groups.h>
                __device__ float sum(float x) {
                    extern __shared__ float all[];
                    x += __shfl_xor_sync(0xffffffff, x, 16);
                    x += __shfl_xor_sync(0xffffffff, x, 8);
                    asm volatile("cp.async.wait_all;");
                    return x;
                }
                """,
            finds=(
                "#include <cooperative_groups.h>",
                "extern __shared__",
                "__shfl_xor_sync(",
                "asm volatile(",
                "cp.async",
            ),
        ),
        Example(
            path="mma.cu",
            text="""\
                __device__ void f(double *sum, cudaTextureObject_t image) {
                    nvcuda::wmma::fill_fragment(c, 0.0f);
                    atomicAdd((double *)sum, 1.0);
                    __half2 h = __float2half2_rn(tex2D<float>(image, 0, 0));
                }
                """,
            finds=("cudaTextureObject_t", "nvcuda", "atomicAdd((double *", "__half2"),
        ),
        Example(path="plain.cu", text="__global__ void f(float *x) { x[0] += 1; }\n"),
        Example(path="atomic.cu", text="__device__ void f(float *x) { atomicAdd(x, 1.0f); }\n"),
        Example(path="text.cpp", text='// asm volatile("mma.sync")\nconst char *asm_ = "x";\n'),
        Example(path="spin.h", text='inline void pause() { asm volatile("pause"); }\n'),
        Example(path="extern.cpp", text='extern "C" int f();\nextern template class A<int>;\n'),
        Example(
            path="context.cpp", text="int texture = context2D(1); vertex3D(2); schmma.sync();\n"
        ),
    ),
)
