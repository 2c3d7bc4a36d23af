"""K208: C++ code that speaks to CUDA's runtime or to PyTorch's CUDA half."""

import re
from collections.abc import Iterator

from analyzers.documents.cuda import HEADERS, CudaDocument
from analyzers.nvidia import first_of
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_HEADERS = re.compile(
    r"cuda(?:_runtime(?:_api)?|_runtime\w*|_profiler_api|GL|_gl_interop|_device_runtime_api)?\.h"
    r"|helper_cuda\.h|(?:ATen|c10|torch/csrc)/(?:.*/)?cuda/.*|torch/cuda\.h"
)
_CALLS = re.compile(
    rb"\bcuda(?:Malloc|Memcpy|Memset|Mem|Free|Stream|Event|Device|GetDevice|SetDevice|ChooseDevice"
    rb"|GetLastError|PeekAtLastError|GetError|Func|Occupancy|Host|Pointer|Ipc|Profiler|Driver"
    rb"|Runtime|Array|GetSymbol|GraphicsGL|Graphics)\w*\s*\("
    rb"|\bcuda(?:Stream|Event|Error|Array|DeviceProp|GraphicsResource)_?t?\b(?=\s*[\w*&>,)])"
    rb"|\bcu(?:Init|Ctx|Module|Mem|Device|Stream|Event|FuncSet|GetErrorString|GetProcAddress)[A-Z]\w*"
    rb"\s*\(|\bcuInit\s*\("
    rb"|\b(?:at|c10|torch)::cuda::\w+"
    rb"|\b(?:(?:at|torch|c10)::)?kCUDA\b|\bDeviceType::CUDA\b|\bDispatchKey::CUDA\b"
    rb"|\b(?:C10_CUDA|AT_CUDA|TORCH_CUDA)_\w*\s*\(|\b(?:Optional)?CUDA(?:Stream)?Guard\b"
)
#: A check that stops on other devices, by hand or by a macro that says so.
_CHECKS = re.compile(
    rb"\b\w*(?:CHECK|ASSERT|assert)\w*\s*\([^;{}!]{0,200}?\bis_cuda\b"
    rb"|\b(?:TORCH_)?CHECK_(?:CUDA|GPU)\w*\s*\("
)
_MOVES = re.compile(rb"\.\s*cuda\s*\(\s*\)")
_PYTORCH = re.compile(rb"\b(?:torch|at|c10|ATen)\b")
_BRANCH = re.compile(rb"\bis_cuda\s*\(\s*\)")


def find(document: CudaDocument) -> Iterator[Match]:
    """The first use in a file that is not nvcc's as a whole."""
    if document.for_nvcc:
        return
    spans = {(one.start, one.end) for one in document.includes if _HEADERS.fullmatch(one.name)}
    for pattern in (_CALLS, _CHECKS, _MOVES):
        if pattern is _MOVES and b"torch" not in document.text:
            continue
        spans.update(
            _trimmed(document, match)
            for match in pattern.finditer(document.code)
            if not _is_anothers(document, match[0])
        )
    macros = {span for span in spans if document.in_define(span[0])}
    use = first_of(document, sorted(spans - macros)) or first_of(document, sorted(macros))
    if use is None:
        branches = [match.span() for match in _BRANCH.finditer(document.code)]
        if branches:
            message = _(
                "Asks whether a tensor is on CUDA and goes another way where it is not: look "
                "where a tensor on MPS goes."
            )
            yield Match(*branches[0], message, Severity.COSMETIC, Fix.MANUAL)
        return
    if use.guarded:
        message = _(
            "CUDA's interface is used here in a build with CUDA only; one without leaves it out."
        )
        yield Match(use.start, use.end, message, Severity.COSMETIC)
        return
    if len(macros) == len(spans) and document.path.lower().endswith(HEADERS):
        message = _("Defines what works with CUDA alone: what matters is where it is used.")
        yield Match(use.start, use.end, message, Severity.COSMETIC)
        return
    message = _(
        "Host code that uses CUDA's interface ({count} places in this file): on a Mac its headers "
        "and libraries are missing, or the tensors that it asks for."
    )
    if use.count == 1:
        message = _(
            "Host code that uses CUDA's interface: on a Mac its headers and libraries are "
            "missing, or the tensors that it asks for."
        )
    yield Match(use.start, use.end, message.format(count=use.count))


def _is_anothers(document: CudaDocument, text: bytes) -> bool:
    """Whether a name for devices is that of another library than PyTorch."""
    return text == b"DeviceType::CUDA" and _PYTORCH.search(document.code) is None


def _trimmed(document: CudaDocument, match: re.Match[bytes]) -> tuple[int, int]:
    """The matched text on its first line, without the parenthesis that it ends in."""
    text = document.code[match.start() : match.end()].split(b"\n", 1)[0]
    return match.start(), match.start() + len(text.rstrip(b" \t\r(\\"))


RULE = Rule(
    code="K208",
    name="cuda-host-code",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=CudaDocument,
    triggers=(
        *(b"cuda_runtime", b"cuda.h", b"/cuda/", b"::cuda::", b"cudaM", b"cudaF", b"cudaS"),
        *(b"cudaE", b"cudaD", b"cudaG", b"cudaC", b"cudaP", b"cudaO", b"cudaH", b"cudaI"),
        *(b"cudaR", b"cudaA", b"cuda_", b"helper_cuda", b"cuInit", b"cuCtx", b"cuModule"),
        *(b"cuMem", b"cuDevice", b"cuStream", b"cuEvent", b"cuFuncSet", b"cuGet", b"kCUDA"),
        *(b"::CUDA", b"_CUDA_", b"CUDAGuard", b"CUDAStreamGuard", b"is_cuda", b"CHECK_CUDA"),
        *(b"CHECK_GPU", b".cuda("),
    ),
    what=N_("C++ code uses CUDA's runtime or driver, or PyTorch's C++ interface to CUDA."),
    why=N_(
        "The headers come with the CUDA toolkit and a PyTorch built with CUDA, neither of which a "
        "Mac has; a check for CUDA tensors stops there with an error."
    ),
    advice=N_(
        "Put it behind the macro that the build sets where CUDA is found (WITH_CUDA or the like) "
        "and dispatch by device, as torch.library does. The file's first use stands for all."
    ),
    source="https://docs.pytorch.org/cppdocs/notes/tensor_cuda_stream.html",
    find=find,
    examples=(
        Example(
            path="op.cpp",
            text="""\
                #include <torch/extension.h>
                #include <c10/cuda/CUDAGuard.h>
                #define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), "must be on CUDA")
                void f(at::Tensor x) {
                    const at::cuda::OptionalCUDAGuard guard(x.device());
                    cudaStream_t stream = at::cuda::getCurrentCUDAStream();
                }
                """,
            finds=("#include <c10/cuda/CUDAGuard.h>",),
        ),
        Example(
            path="alloc.cc",
            text="void *grab(size_t n) { void *p; cudaMalloc(&p, n); return p; }\n",
            finds=("cudaMalloc",),
        ),
        Example(
            path="check.cpp",
            text='void f(at::Tensor x) { TORCH_CHECK(x.is_cuda(), "x must be on CUDA"); }\n',
            finds=("TORCH_CHECK(x.is_cuda",),
        ),
        Example(
            path="guarded.cpp",
            text="""\
                at::Tensor f(at::Tensor x) {
                #ifdef WITH_CUDA
                    if (x.is_cuda()) { CHECK_CUDA(x); return f_cuda(x); }
                #endif
                    return f_cpu(x);
                }
                """,
            finds=("CHECK_CUDA",),
        ),
        Example(
            path="branch.h",
            text="at::Tensor f(at::Tensor x) { return x.is_cuda() ? g(x) : h(x); }\n",
            finds=("is_cuda()",),
        ),
        Example(
            path="check.h",
            text='#define CHECK_CUDA(x) TORCH_CHECK(x.is_cuda(), #x " must be on CUDA")\n',
            finds=("CHECK_CUDA(x) TORCH_CHECK(x.is_cuda",),
        ),
        Example(
            path="cpu.hpp",
            text='f(int x) { TORCH_CHECK(!x.is_cuda(), "CPU only"); }\n',
            finds=("is_cuda()",),
        ),
        Example(path="kernel.cu", text="#include <cuda_runtime.h>\nvoid f() { cudaFree(p); }\n"),
        Example(path="plain.cpp", text='// cudaMalloc(&p, n)\nauto s = "cudaMalloc(p)";\n'),
        Example(path="own.hpp", text="void cudaless(); int barracuda = 1; bool cudaEnabled();\n"),
        Example(path="cpu.cpp", text="#include <torch/extension.h>\nauto d = torch::kCPU;\n"),
        Example(
            path="engine.cpp",
            text="loc.type = CompNode::DeviceType::CUDA;\n",
        ),
        Example(path="method.cpp", text="void f() { settings.cuda(); }\n"),
    ),
)
