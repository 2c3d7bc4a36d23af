"""CUDA sources: kernels and launches, through macros, comments and broken text."""

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument


def read(text: str | bytes, path: str = "k.cu") -> CudaDocument:
    return CudaDocument(Source.of(path, text.encode() if isinstance(text, str) else text))


def kernels(text: str | bytes) -> list[tuple[str, str]]:
    document = read(text)
    return [(k.name, document.source.decode(k.start, k.end)) for k in document.kernels()]


def launches(text: str | bytes) -> list[str]:
    document = read(text)
    return [document.source.decode(one.start, one.end) for one in document.launches()]


def test_accepts_cuda_and_nothing_else() -> None:
    assert CudaDocument.accepts("a/b.cu")
    assert CudaDocument.accepts("a/b.CUH")
    assert not CudaDocument.accepts("a/b.cpp")
    assert not CudaDocument.accepts("cu")


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


def test_launches_by_the_runtime_and_the_driver() -> None:
    text = "cudaLaunchCooperativeKernel(f, g, b, a); cuLaunchKernel(h, 1); launchKernel(x);"
    assert launches(text) == ["cudaLaunchCooperativeKernel(f, g, b, a)", "cuLaunchKernel(h, 1)"]


def test_what_is_left_open_is_no_launch() -> None:
    assert launches("k<<<1, 2>>>") == []
    assert launches("k<<<1, 2") == []
    assert launches("k<<<1; 2>>>(x)") == []
    assert launches("<<<1, 2>>>(x)") == []


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
    for piece in (b"__global__ (", b"__global__ f>()", b"k<<<", b"k<<<(", b"cudaLaunchKernel("):
        document = read(piece * 20_000)
        begin = time.perf_counter()
        assert list(document.kernels()) == []
        assert list(document.launches()) == []
        assert time.perf_counter() - begin < 20
