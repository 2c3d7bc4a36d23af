"""Kernels that are written in Python, or in strings of it."""

import textwrap

import pytest

from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.examine import examine
from analyzers.python_kernels import decorated, launches
from analyzers.registry import rules
from project.vocabulary import Finding

KERNEL_RULES = [one for one in rules() if one.code.startswith("K2")]


def found(text: str, path: str = "kernels.py") -> list[Finding]:
    return list(examine(path, textwrap.dedent(text).encode(), KERNEL_RULES).findings)


def texts(text: str, rule: str) -> list[str]:
    return [one.text for one in found(text) if one.rule == rule]


def test_own_triton_kernels_are_findings_of_their_own() -> None:
    text = """
    import triton
    import triton.language as tl

    @triton.jit
    def silu_kernel(x, n: tl.constexpr):
        tl.store(x, tl.load(x) * tl.sigmoid(tl.load(x)))
    """
    (kernel,) = [one for one in found(text) if one.rule == "K210"]
    assert kernel.text == "def silu_kernel(x, n: tl.constexpr)"
    assert "no wheel for macOS" in kernel.message
    assert "a marker in the requirements only moves the error" in kernel.message


def test_a_numba_kernel_and_its_launch() -> None:
    text = """
    from numba import cuda
    import torch

    @cuda.jit
    def halve(values):
        i = cuda.grid(1)
        if i < values.size:
            values[i] /= 2

    data = torch.ones(256)
    halve[2, 128](data)
    """
    kernel, launch = (one for one in found(text) if one.rule == "K211")
    assert (kernel.text, launch.text) == ("def halve(values)", "halve[2, 128](data)")
    assert "no target for Apple's GPUs" in kernel.message
    assert "torch.mps.compile_shader" in kernel.message
    assert "numba.njit" in kernel.message


def test_load_inline_and_the_kernels_in_its_string() -> None:
    text = '''
    from torch.utils.cpp_extension import load_inline

    source = """
    __global__ void add(float *x) { }
    template <typename T> __global__ void mul(T *x) { }
    """
    module = load_inline(name="fused", cpp_sources="", cuda_sources=source)
    '''
    assert texts(text, "K214") == [
        "__global__ void add(float *x)",
        "template <typename T> __global__ void mul(T *x)",
    ]
    (extension,) = (one for one in found(text) if one.rule == "K203")
    assert "compiled into fused here" in extension.message


def test_lines_of_a_kernel_in_a_string_are_lines_of_the_file() -> None:
    text = 'x = 1\ns = r"""\n\n__global__ void f(int n) {\n}\n"""\n'
    (kernel,) = (one for one in found(text) if one.rule == "K214")
    assert (kernel.line, kernel.column, kernel.end_line) == (4, 1, 4)


def test_a_kernel_in_a_docstring_or_comment_is_text() -> None:
    text = '''
    def f():
        """__global__ void f(int n) { }"""
        # __global__ void g(int n) { }
        return "__global__"
    '''
    assert found(text) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("import cupy\nk = cupy.RawKernel(s, 'f')\n", "K212"),
        ("from cupy import RawKernel as R\nk = R(s, 'f')\n", "K212"),
        ("import pycuda.compiler as c\nm = c.SourceModule(s)\n", "K213"),
        ("import torch\nf = torch.cuda._compile_kernel(s, 'f')\n", "K213"),
        ("import warp as wp\n\n@wp.kernel\ndef f():\n    pass\n", "K215"),
        ("import taichi as ti\nti.init(ti.cuda)\n", "K216"),
        ("from jax.experimental.pallas import mosaic_gpu\n", "K217"),
        ("from cutlass import cute\n\n@cute.kernel\ndef f():\n    pass\n", "K218"),
    ],
)
def test_each_family_has_its_rule(text: str, rule: str) -> None:
    assert rule in [one.rule for one in found(text)]
    commented = "".join(f"# {line}\n" for line in text.splitlines())
    assert found(commented) == []


def test_what_runs_on_metal_is_no_finding() -> None:
    text = """
    import taichi as ti
    import torch

    ti.init(arch=ti.metal)
    library = torch.mps.compile_shader("kernel void f(device float *x) {}")

    @ti.kernel
    def fill(x: ti.types.ndarray()):
        pass
    """
    assert found(text) == []


def document(text: str) -> PythonDocument:
    return PythonDocument(Source.of("a.py", textwrap.dedent(text).encode()))


def test_decorators_with_calls_in_classes_and_stacked() -> None:
    text = """
    import triton

    class Kernels:
        @staticmethod
        @triton.autotune(configs=[], key=[])
        @triton.jit(noinline=True)
        def one(x) -> None:
            pass

    def outer():
        @triton.jit
        def two(x):
            pass
        plain = triton.jit(three)
    """
    one = document(text)
    kernels = list(decorated(one, ("triton.jit",)))
    assert [kernel.name for kernel in kernels] == ["one", "two"]
    assert one.text[kernels[0].start : kernels[0].end] == b"def one(x) -> None"


def test_launches_are_subscripted_calls_of_the_name_alone() -> None:
    text = """
    k[grid](x)
    k[grid]
    k(x)
    other.k[grid](x)
    k[0][1](x)
    k [lambda meta: (1,)](x, y)
    """
    one = document(text)
    assert [one.slice(call) for _name, call in launches(one, ["k"])] == [
        "k[grid](x)",
        "k [lambda meta: (1,)](x, y)",
    ]
    assert list(launches(one, [])) == []
