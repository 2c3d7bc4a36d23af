"""CUDA sources: kernels and launches, through macros, comments and broken text."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument, CudaFile


def read(text: str | bytes, path: str = "k.cu") -> CudaDocument:
    return CudaDocument(Source.of(path, text.encode() if isinstance(text, str) else text))


def kernels(text: str | bytes) -> list[tuple[str, str]]:
    document = read(text)
    return [(k.name, document.source.decode(k.start, k.end)) for k in document.kernels()]


def launches(text: str | bytes) -> list[str]:
    document = read(text)
    return [document.source.decode(one.start, one.end) for one in document.launches()]


def test_accepts_cuda_and_cpp_and_nothing_else() -> None:
    for path in ("a/b.cu", "a/b.CUH", "a/b.cpp", "a/b.h", "b.inl"):
        assert CudaDocument.accepts(path)
    for path in ("cu", "a/b.c", "a/b.mm", "a/b.metal", "a/b.hip", "a/b.py", "cpp"):
        assert not CudaDocument.accepts(path)
    assert CudaFile.accepts("a/b.cuh")
    assert not CudaFile.accepts("a/b.h")


def test_signature_ends_at_the_parameters() -> None:
    assert kernels("int a;\n__global__ void f(int (*p)(int), int n) const { g(1); }") == [
        ("f", "__global__ void f(int (*p)(int), int n)")
    ]


def test_attributes_with_parentheses_are_not_the_parameters() -> None:
    text = "__launch_bounds__(1) __global__ __attribute__((x(1))) void f(int n) {}"
    assert kernels(text) == [("f", text[:-3])]


def test_specialisation_has_its_template_arguments() -> None:
    text = "template <>\n__global__ void f<at::Half>(const at::Half* x) {\n}\n"
    assert kernels(text) == [
        ("f<at::Half>", "template <>\n__global__ void f<at::Half>(const at::Half* x)")
    ]


def test_declarations_and_pointers_are_no_definitions() -> None:
    assert kernels("__global__ void f(int);\n__global__ void g(int), h(int);\n") == []
    assert kernels("__global__") == []
    assert kernels("#define G __global__\n") == []


def test_two_kernels_on_one_line_and_in_a_namespace() -> None:
    text = "namespace n { __global__ void a() {} static __global__ void b() {} }"
    assert kernels(text) == [
        ("a", "__global__ void a()"),
        ("b", "static __global__ void b()"),
    ]


def test_a_kernel_behind_a_directive_does_not_take_it_along() -> None:
    assert kernels("#if X \\\n  && Y\n__global__ void a() {}\n#endif\n") == [
        ("a", "__global__ void a()")
    ]


def test_crlf_bom_and_latin_1_keep_their_offsets() -> None:
    text = b"\xef\xbb\xbf// \xc3\xbc\r\n__global__ void\r\na(int n)\r\n{ }\r\n"
    assert kernels(text) == [("a", "__global__ void\r\na(int n)")]
    document = read(b"// \xfc\xfc\n__global__ void a() {}\n")
    (kernel,) = document.kernels()
    assert document.source.position(kernel.start) == (2, 1)


def test_launches_with_braces_lambdas_and_dependent_names() -> None:
    text = """
    k<<<n, {x, y, 1}, 0, s>>>(a, f(b));
    ns::k<T, (A > B)><<<g, b>>>(a);
    run([&] { this->k<<<1, 2>>>(a); });
    """
    assert launches(text) == [
        "k<<<n, {x, y, 1}, 0, s>>>(a, f(b))",
        "ns::k<T, (A > B)><<<g, b>>>(a)",
        "this->k<<<1, 2>>>(a)",
    ]


def test_launches_over_lines_of_a_macro_and_with_parted_signs() -> None:
    assert launches("#define L(x) \\\n  k<x> \\\n  <<<1, 2>>>(a)\nm << <1, 2 >> > (b);") == [
        "k<x> \\\n  <<<1, 2>>>(a)",
        "m << <1, 2 >> > (b)",
    ]


def test_launches_by_the_runtime_and_the_driver() -> None:
    text = "cudaLaunchCooperativeKernel(f, g, b, a); cuLaunchKernel(h, 1); launchKernel(x);"
    assert launches(text) == ["cudaLaunchCooperativeKernel(f, g, b, a)", "cuLaunchKernel(h, 1)"]


def test_launches_with_a_configuration_name_the_kernel() -> None:
    text = """
    cudaLaunchKernelEx(&config, kernel, a);
    cutlass::kernel_launch<Attention<64>>(grid, block, smem, stream, params);
    cutlass::ClusterLauncher::launch(how, kernel2, params);
    """
    assert [one.name for one in read(text).launches()] == ["kernel", "Attention<64>", "kernel2"]


def guarded(text: str, path: str = "a.cpp") -> list[bool]:
    document = read(text, path)
    return [document.guarded(match.start()) for match in re.finditer(b"X", document.text)]


def test_a_condition_about_cuda_guards_what_it_holds() -> None:
    assert guarded("X\n#ifdef WITH_CUDA\nX\n#else\nX\n#endif\nX\n") == [
        False, True, False, False,
    ]  # fmt: skip
    assert guarded("#ifndef USE_CUDA\nX\n#else\nX\n#endif\n") == [False, True]
    assert guarded("#if defined(__CUDACC__) && A\n#if B\nX\n#endif\nX\n#endif\nX\n") == [
        True, True, False,
    ]  # fmt: skip
    assert guarded("#if !defined(USE_CUDA)\nX\n#endif\n") == [False]
    assert guarded("#ifdef A\nX\n#elif defined(USE_CUDA)\nX\n#endif\n") == [False, True]
    assert guarded("// #ifdef WITH_CUDA\nX\n#endif\n#else\nX\n") == [False, False]


def test_nothing_is_guarded_in_a_file_for_nvcc() -> None:
    assert guarded("#ifdef WITH_CUDA\nX\n#endif\n", "a.cu") == [False]


def test_includes_are_read_and_comments_are_not() -> None:
    document = read('#include <cub/cub.cuh>\n// #include <b.h>\n  # include "c/d.h" // x\n')
    assert [one.name for one in document.includes] == ["cub/cub.cuh", "c/d.h"]
    spans = [document.source.decode(one.start, one.end) for one in document.includes]
    assert spans == ["#include <cub/cub.cuh>", '# include "c/d.h"']


def test_strings_stay_in_what_is_said_and_leave_the_code() -> None:
    document = read('asm volatile("mma.sync"); // mma\n')
    assert b"mma.sync" in document.said
    assert b"mma" not in document.code
    assert len(document.said) == len(document.code) == len(document.text)


def test_what_is_left_open_is_no_launch() -> None:
    assert launches("k<<<1, 2>>>") == []
    assert launches("k<<<1, 2") == []
    assert launches("k<<<1; 2>>>(x)") == []
    assert launches("<<<1, 2>>>(x)") == []


def test_what_no_compiler_reads_is_left_out() -> None:
    text = "#if 0\n__global__ void a() {}\n#if X\n#endif\nk<<<1, 2>>>(x);\n#else\n"
    assert kernels(text + "__global__ void b() {}\n#endif\n")[0][0] == "b"
    assert launches(text) == []
    assert [name for name, _text in kernels("#if 0 || A\n__global__ void a() {}\n")] == ["a"]
    assert kernels("#if 0\n__global__ void a() {}\n") == []


def test_broken_text_around_a_kernel_does_not_hide_it() -> None:
    text = "}}} @@ )\n__global__ void a(int n) { k<<<1, 2>>>(n); }\nvoid f( {"
    assert [name for name, _text in kernels(text)] == ["a"]
    assert launches(text) == ["k<<<1, 2>>>(n)"]


def test_first_code_leaves_comments_out() -> None:
    document = read("/* a */ // b\n\n  int x; // c\n")
    span = document.first_code()
    assert span is not None
    assert document.source.decode(*span) == "int x;"
    assert read("// a\n").first_code() is None
    assert read(b"").first_code() is None


PIECES = st.sampled_from(
    ["__global__", " void ", "f", "(", ")", "{", "}", "<<<", ">>>", "<", ">", ";", "\n", "#define ",
     "\\\n", "//", "/*", "*/", '"', "cudaLaunchKernel", "template", "\x00", "ü"]
)  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_gives_spans_inside_it(text: str) -> None:
    document = read(text)
    for one in [*document.kernels(), *document.launches()]:
        assert 0 <= one.start < one.end <= len(document.text)


def test_a_long_file_of_beginnings_is_read_in_time() -> None:
    for piece in (
        b"__global__ (",
        b"__global__ f>()",
        b"k<<<",
        b"k<<<(",
        b"cudaLaunchKernel(",
        b"cutlass::kernel_launch<",
    ):
        document = read(piece * 20_000)
        begin = time.perf_counter()
        assert list(document.kernels()) == []
        assert list(document.launches()) == []
        assert time.perf_counter() - begin < 5
