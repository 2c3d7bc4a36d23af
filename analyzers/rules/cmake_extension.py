"""K219: a library or Python module that CMake builds of CUDA sources."""

import re
from collections.abc import Iterator

from analyzers.documents.build import BuildDocument, Invocation
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MODULES = frozenset(
    {"pybind11_add_module", "python_add_library", "python3_add_library", "nanobind_add_module"}
)
_SOURCE = re.compile(r"\.cu\Z|\$\{\w*(?:CUDA|CU)_(?:SRC|SRCS|SOURCES?|FILES)\w*\}|\$\{CUDA_\w+\}")
_TARGET = re.compile(r"[A-Za-z_${][\w.+${}-]*\Z")


def find(document: BuildDocument) -> Iterator[Match]:
    """Targets whose sources are CUDA, and Python modules of a build that speaks CUDA."""
    if not document.is_cmake:
        return
    commands = list(document.invocations())
    speaks_cuda = any(map(_enables_cuda, commands))
    library = _("The library {name} is compiled of CUDA sources, which no Mac can build.")
    module = _(
        "The Python module {name} is built of CUDA sources: on a Mac it does not exist, and what "
        "imports it fails."
    )
    unsure = _(
        "The Python module {name} is built here, by a build that compiles CUDA: see whether it can "
        "do without."
    )
    for one in commands:
        if one.name not in (*_MODULES, "add_library") or not one.arguments:
            continue
        name, sources = one.arguments[0], one.arguments[1:]
        if not _TARGET.match(name):
            continue
        is_module = one.name in _MODULES
        if any(_SOURCE.search(source.strip("\"'")) for source in sources):
            text = module if is_module else library
            yield Match(one.start, one.end, text.format(name=name))
        elif is_module and speaks_cuda:
            yield Match(one.start, one.end, unsure.format(name=name), Severity.DEGRADES, Fix.MANUAL)


def _enables_cuda(one: Invocation) -> bool:
    if one.name in ("enable_language", "project"):
        return "CUDA" in one.arguments
    return one.name == "find_package" and one.arguments[:1] in (("CUDA",), ("CUDAToolkit",))


RULE = Rule(
    code="K219",
    name="cmake-extension",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=BuildDocument,
    triggers=(b"add_library", b"pybind11_add_module", b"nanobind_add_module"),
    what=N_("CMake builds a library or a Python module of CUDA sources."),
    why=N_("Its sources go to nvcc, which no Mac has, so that the target cannot be built there."),
    advice=N_(
        "List the CUDA sources only where CUDA is found, and build the rest without them; see what "
        "the module then still offers."
    ),
    source="https://cmake.org/cmake/help/latest/manual/cmake-language.7.html",
    find=find,
    examples=(
        Example(
            path="CMakeLists.txt",
            text="""\
                project(fused LANGUAGES CXX CUDA)
                add_library(kernels STATIC src/scale.cu src/host.cpp)
                pybind11_add_module(fused_ops src/bind.cpp)
                """,
            finds=(
                "add_library(kernels STATIC src/scale.cu src/host.cpp)",
                "pybind11_add_module(fused_ops src/bind.cpp)",
            ),
        ),
        Example(
            path="cmake/ops.cmake",
            text="Python_add_library(_C MODULE bind.cpp ops.cu)\n",
            finds=("Python_add_library(_C MODULE bind.cpp ops.cu)",),
        ),
        Example(
            path="CMakeLists.txt",
            text="project(fast LANGUAGES CXX)\npybind11_add_module(fast bind.cpp)\n",
        ),
        Example(
            path="CMakeLists.txt", text="# add_library(kernels scale.cu)\nadd_library(a b.cpp)\n"
        ),
        Example(path="CMakeLists.txt", text="project(a CUDA)\nadd_library(host host.cpp)\n"),
        Example(path="Makefile", text="all:\n\techo add_library(kernels scale.cu)\n"),
    ),
)
