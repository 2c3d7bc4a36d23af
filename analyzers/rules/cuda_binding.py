"""K209: where CUDA code is bound to the names that Python calls."""

import re
from collections.abc import Iterator

from analyzers.documents.cuda import CudaDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_LIBRARY = re.compile(rb"\bTORCH_LIBRARY_IMPL\s*\(\s*(\w+)\s*,\s*(\w+)\s*,\s*\w+\s*\)")
_IMPL = re.compile(
    rb"\b\w+\s*\.\s*impl\s*\(\s*\"([^\"]{1,200})\"\s*,\s*"
    rb"(?:(?:c10|torch|at)::)?(?:DispatchKey::CUDA|DeviceType::CUDA|kCUDA)\b"
)
_REGISTER = re.compile(rb"\bREGISTER_\w*DEVICE\w*\s*\(\s*(\w+)\s*,\s*CUDA\s*,\s*(\w+)\s*\)")
_PYBIND = re.compile(
    rb"\b(?:PYBIND11_MODULE|TORCH_LIBRARY(?:_FRAGMENT)?)\s*\(\s*(\w+)\s*,\s*\w+\s*\)"
)
_KEYS = frozenset({b"CUDA", b"AutogradCUDA", b"AutocastCUDA", b"QuantizedCUDA", b"SparseCUDA"})
#: What shows that a file's own code is for CUDA.
_CUDA = re.compile(
    rb"\b(?:__global__|__device__|cuda(?:Stream|Malloc|Memcpy|GetLastError)\w*|cudaError_t)\b"
    rb"|\b(?:at|c10)::cuda::|<<<"
)


def find(document: CudaDocument) -> Iterator[Match]:
    """Registrations for the CUDA key, and modules that the file makes of CUDA code."""
    for match in _LIBRARY.finditer(document.code):
        if match[2] in _KEYS:
            message = _(
                "Operators of {library} are registered for the key {key}: a tensor on MPS needs "
                "an implementation of its own, under MPS or CompositeExplicitAutograd."
            )
            library, key = (part.decode() for part in (match[1], match[2]))
            yield Match(*match.span(), message.format(library=library, key=key))
    for pattern, message in (
        (
            _IMPL,
            _("The operator {name} is implemented here for CUDA: a tensor on MPS needs another."),
        ),
        (_REGISTER, _("The CUDA half of {name} is registered here: other devices need their own.")),
    ):
        found = list(pattern.finditer(document.said))
        if found:
            more = _(" It is the first of {count} in this file.").format(count=len(found))
            text = message.format(name=found[0][1].decode("utf-8", "replace"))
            yield Match(*found[0].span(), text + (more if len(found) > 1 else ""))
    if document.for_nvcc or _CUDA.search(document.code):
        message = _(
            "CUDA code becomes the Python module or library {name} here: without it every import "
            "or call of that name fails on a Mac."
        )
        unnamed = _(
            "CUDA code becomes a Python module here, under the name that the build gives it: "
            "without it every import of that name fails on a Mac."
        )
        for match in _PYBIND.finditer(document.code):
            if not document.guarded(match.start()):
                name = match[1].decode()
                text = unnamed if name == "TORCH_EXTENSION_NAME" else message
                yield Match(*match.span(), text.format(name=name))


RULE = Rule(
    code="K209",
    name="cuda-binding",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=CudaDocument,
    triggers=(
        b"TORCH_LIBRARY",
        b"PYBIND11_MODULE",
        b"kCUDA",
        b"DispatchKey::CUDA",
        b"DeviceType::CUDA",
        b"REGISTER_",
    ),
    what=N_("CUDA code is registered under a name that Python calls."),
    why=N_(
        "This is the seam between Python and the kernels: on a Mac the name is missing, or it is "
        "there and has nothing to run for a tensor on MPS."
    ),
    advice=N_(
        "Register a second implementation for other devices under the same name: in C++ with "
        "TORCH_LIBRARY_IMPL, in Python with torch.library.register_kernel (PyTorch 2.4), built on "
        "plain PyTorch operators or on a Metal shader."
    ),
    source="https://docs.pytorch.org/tutorials/advanced/cpp_custom_ops.html",
    find=find,
    examples=(
        Example(
            path="ops.cpp",
            text="""\
                TORCH_LIBRARY(mine, m) { m.def("scale(Tensor x) -> Tensor"); }
                TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("scale", &scale_cpu); }
                TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("scale", &scale_cuda); }
                """,
            finds=("TORCH_LIBRARY_IMPL(mine, CUDA, m)",),
        ),
        Example(
            path="bind.cpp",
            text="""\
                TORCH_LIBRARY_EXPAND(NAME, ops) {
                    ops.impl("silu", torch::kCUDA, &silu);
                    ops.impl("gelu", torch::kCUDA, &gelu);
                    ops.impl("relu", torch::kCPU, &relu);
                }
                """,
            finds=('ops.impl("silu", torch::kCUDA',),
        ),
        Example(
            path="scale.cu",
            text='PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }\n',
            finds=("PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)",),
        ),
        Example(
            path="cudabind.cpp",
            text="REGISTER_DEVICE_IMPL(nms_impl, CUDA, nms_cuda);\n",
            finds=("REGISTER_DEVICE_IMPL(nms_impl, CUDA, nms_cuda)",),
        ),
        Example(path="cpu.cpp", text='PYBIND11_MODULE(fast, m) { m.def("scale", &scale); }\n'),
        Example(path="mps.cpp", text='TORCH_LIBRARY_IMPL(mine, MPS, m) { m.impl("a", &a); }\n'),
        Example(path="note.cpp", text="// TORCH_LIBRARY_IMPL(mine, CUDA, m)\nint x;\n"),
        Example(path="other.h", text="REGISTER_DEVICE_IMPL(nms_impl, MLU, nms_mlu);\n"),
    ),
)
