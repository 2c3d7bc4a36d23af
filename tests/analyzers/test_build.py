"""CMake files and Makefiles."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.build import BuildDocument


def cmake(text: bytes) -> list[tuple[str, tuple[str, ...]]]:
    document = BuildDocument(Source.of("CMakeLists.txt", text))
    return [(one.name, one.arguments) for one in document.invocations()]


def make(text: bytes) -> list[tuple[str, str, str]]:
    document = BuildDocument(Source.of("Makefile", text))
    return [(one.name, one.value, text[one.start : one.end].decode()) for one in document.lines()]


@pytest.mark.parametrize("path", ["CMakeLists.txt", "cmake/x.cmake", "Makefile", "a.mk"])
def test_accepts(path: str) -> None:
    assert BuildDocument.accepts(path)
    assert not BuildDocument.accepts(path + ".in")


def test_commands_of_cmake() -> None:
    text = b"""\
Project(x LANGUAGES CXX
        CUDA) # enable_language(CUDA)
if((A) AND (NOT B))
#[[
find_package(CUDA)
]]
message("find_package(CUDA)\\" x")
endif()
"""
    assert cmake(text) == [
        ("project", ("x", "LANGUAGES", "CXX", "CUDA")),
        ("if", ("(A)", "AND", "(NOT", "B)")),
        ("message", ("_find_package_CUDA_\\__x_",)),
        ("endif", ()),
    ]


def test_lines_of_make() -> None:
    text = b"# A = b\nA ?= b c # d\nexport B := e\nall: A\n\t@-nvcc x # why\nif a == b\n"
    assert make(text) == [
        ("A", "b c", "A ?= b c"),
        ("B", "e", "B := e"),
        ("", "nvcc x", "nvcc x"),
    ]


@given(st.text(st.sampled_from('#[]="()\\ab\n\t '), max_size=80))
def test_any_text_is_read(text: str) -> None:
    data = text.encode()
    for name in ("CMakeLists.txt", "Makefile"):
        document = BuildDocument(Source.of(name, data))
        for one in (*document.invocations(), *document.lines()):
            assert 0 <= one.start <= one.end <= len(data)
