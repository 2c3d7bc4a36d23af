"""E311: a build that needs CUDA's toolkit."""

import re
from collections.abc import Iterator

from analyzers.documents.build import BuildDocument, Invocation, Line
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_PACKAGES = re.compile(r"(?:CUDA|CUDAToolkit|CUDNN|cuDNN|NCCL|TensorRT|CUB|Thrust)\Z")
_NVCC = re.compile(r"\$[({]NVCC[)}]|(?:^|[\s/])nvcc(?:\s|$)")
_LIBRARY = re.compile(r"(?:^|\s)-l(?:cuda|cudart|cublas|cublasLt|cudnn|cufft|curand|cusparse|cusolver|nccl|nvrtc|nvToolsExt|nvjpeg)\b")  # fmt: skip
_TOOLKIT = re.compile(r"(?:CUDA|CUDNN)_(?:HOME|PATH|ROOT|DIR|INSTALL_PATH|TOOLKIT)\w*\Z")


def find(document: BuildDocument) -> Iterator[Match]:
    """Commands, variables and recipes that ask for nvcc or CUDA's libraries."""
    if document.is_cmake:
        yield from _cmake(document)
        return
    for line in document.lines():
        message = _line(line)
        if message is not None:
            yield Match(line.start, line.end, message)


def _cmake(document: BuildDocument) -> Iterator[Match]:
    guards: list[bool] = []
    for one in document.invocations():
        if one.name in ("if", "macro", "function"):
            guards.append(_tests(one))
        elif one.name in ("endif", "endmacro", "endfunction") and guards:
            guards.pop()
        elif _needs_cuda(one):
            optional = any(guards) or (
                one.name == "find_package" and "REQUIRED" not in one.arguments
            )
            yield Match(
                one.start,
                one.end,
                _(
                    "This part is built only where CUDA is found or asked for: see that the rest "
                    "builds without it."
                )
                if optional
                else _("The build needs CUDA's toolkit, which no Mac has: CMake stops here."),
                Severity.COSMETIC if optional else Severity.BLOCKS,
            )


def _tests(one: Invocation) -> bool:
    words = " ".join(one.arguments).upper()
    return "CUDA" in words or "GPU" in words or "LINUX" in words or "APPLE" in words


def _needs_cuda(one: Invocation) -> bool:
    words = one.arguments
    if one.name == "find_package":
        return bool(words) and _PACKAGES.match(words[0]) is not None
    if one.name == "enable_language":
        return "CUDA" in words
    if one.name == "project":
        if "LANGUAGES" in words:
            return "CUDA" in words[words.index("LANGUAGES") :]
        return "CUDA" in words[1:] and "VERSION" not in words and "DESCRIPTION" not in words
    return one.name in ("cuda_add_library", "cuda_add_executable", "cuda_compile")


def _line(line: Line) -> str | None:
    if _NVCC.search(line.value):
        if not line.name and not line.value.startswith("$"):
            return None  # a plain command, which the rule for shell commands names
        return _("nvcc does not exist for macOS: this target needs the CUDA machine.")
    if _LIBRARY.search(line.value):
        return _("It links with CUDA's libraries, which no Mac has.")
    if line.name and _TOOLKIT.match(line.name) and line.value:
        return _("It names a CUDA toolkit, which no Mac has; setting it there helps no build.")
    return None


RULE = Rule(
    code="E311",
    name="cuda-build",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BuildDocument,
    triggers=(
        b"cuda",
        b"cudnn",
        b"nccl",
        b"nvcc",
        b"tensorrt",
        b"-lcu",
        b"-lnv",
        b"cub",
        b"thrust",
    ),
    what=N_("CMake or make needs CUDA's compiler or libraries."),
    why=N_(
        "CUDA 10.2 was the last toolkit with any support for macOS, and no Apple-silicon Mac has a "
        "GPU that it speaks to."
    ),
    advice=N_(
        "Make the CUDA part an option that is off where the compiler is not found "
        "(check_language(CUDA)), and give the program another path without it."
    ),
    source="https://docs.nvidia.com/cuda/archive/10.2/cuda-toolkit-release-notes/index.html",
    find=find,
    examples=(
        Example(
            path="CMakeLists.txt",
            text="""\
                project(kernels LANGUAGES CXX CUDA)
                find_package(CUDAToolkit REQUIRED)
                if(USE_CUDA)
                  enable_language(CUDA)
                endif()
                if((A) AND (B))
                endif()
                cuda_add_library(ops ops.cu)
                """,
            finds=(
                "project(kernels LANGUAGES CXX CUDA)",
                "find_package(CUDAToolkit REQUIRED)",
                "enable_language(CUDA)",
                "cuda_add_library(ops ops.cu)",
            ),
        ),
        Example(
            path="Makefile",
            text="""\
                NVCC ?= nvcc
                CUDA_HOME = /usr/local/cuda
                LIBS = -lm -lcudart
                a.o: a.cu
                \t$(NVCC) -c a.cu
                \tnvcc -c b.cu
                """,
            finds=(
                "NVCC ?= nvcc",
                "CUDA_HOME = /usr/local/cuda",
                "LIBS = -lm -lcudart",
                "$(NVCC) -c a.cu",
            ),
        ),
        Example(
            path="CMakeLists.txt",
            text='# find_package(CUDA REQUIRED)\nproject(cuda_tools CXX)\nmessage("enable_language(CUDA)")\n',
        ),
        Example(path="CMakeLists.txt", text="#[[\nfind_package(CUDA)\n]]\nset(X CUDA)\n"),
        Example(path="Makefile", text="# NVCC = nvcc\nNAME = cuda\nall:\n\techo nvccs\n"),
        Example(path="cuda.cmake", text="find_package(Torch REQUIRED)\n"),
    ),
)
