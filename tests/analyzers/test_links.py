"""Kernels followed to the Python that calls them and to what may take their place."""

import textwrap
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers import native, replacements
from analyzers.documents.base import Source
from analyzers.documents.cuda import CudaDocument
from analyzers.examine import FileReport, examine
from analyzers.links import link
from analyzers.registry import rules
from project.vocabulary import Finding
from project.workspace import Workspace

SETUP = """
from torch.utils.cpp_extension import CUDAExtension
modules = [CUDAExtension(name="pkg._C", sources=["csrc/scale.cpp", "csrc/scale_cuda.cu"])]
"""
KERNEL = """
__global__ void scale_kernel(float *x, float k) { x[threadIdx.x] *= k; }
void scale_cuda(at::Tensor x, float k) { scale_kernel<<<1, 64>>>(x.data_ptr<float>(), k); }
"""
BIND = """
void scale(at::Tensor x, float k) { scale_cuda(x, k); }
PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale, "doc"); }
"""
CALLER = """
from pkg import _C

def scale(x, k):
    # _C.scale(x, k) in a comment
    return _C.scale(x, k)
"""
PROJECT = {
    "setup.py": SETUP,
    "csrc/scale_cuda.cu": KERNEL,
    "csrc/scale.cpp": BIND,
    "pkg/ops.py": CALLER,
}


def linked(folder: Path, project: dict[str, str]) -> list[FileReport]:
    for path, text in project.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    kernel = [one for one in rules() if one.code.startswith("K2")]
    reports = [examine(path, (folder / path).read_bytes(), kernel) for path in sorted(project)]
    with_findings = [report for report in reports if report.findings]
    new = link(Workspace.open(folder), with_findings)
    assert [report.path for report in new] == [report.path for report in with_findings]
    return new


def finding(reports: list[FileReport], rule: str, index: int = 0) -> Finding:
    return [one for report in reports for one in report.findings if one.rule == rule][index]


def said(folder: Path, changes: dict[str, str], rule: str = "K201") -> str:
    """What is said of the first finding of a rule in the project with these files changed."""
    return finding(linked(folder, {**PROJECT, **changes}), rule).message


def test_a_kernel_names_the_calls_that_may_reach_it(tmp_path: Path) -> None:
    message = said(tmp_path, {})
    assert "Python may reach it through scale: called at pkg/ops.py:6." in message


def test_what_no_file_calls_is_said_to_be_bound(tmp_path: Path) -> None:
    message = said(tmp_path, {"pkg/ops.py": "import torch\n"})
    assert "It is bound to Python as scale; no call of that was found." in message
    assert "called at" not in message


def test_a_namesake_on_another_module_is_no_call(tmp_path: Path) -> None:
    message = said(tmp_path, {"pkg/ops.py": "from pkg import images\nimages.scale(x, 2)\n"})
    assert "no call of that was found" in message


def test_an_operator_library_is_followed_through_torch_ops(tmp_path: Path) -> None:
    bind = """
    TORCH_LIBRARY(mine, m) { m.def("scale(Tensor(a!) x, float k) -> ()"); }
    TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("scale", &scale_cuda); }
    """
    caller = "import torch\n\ntorch.ops.mine.scale(x, 2.0)\n"
    reports = linked(tmp_path, {**PROJECT, "csrc/scale.cpp": bind, "pkg/ops.py": caller})
    assert "called at pkg/ops.py:3." in finding(reports, "K201").message
    binding = finding(reports, "K209").message
    assert "Python may call what is bound here at pkg/ops.py:3." in binding


def test_an_extension_says_where_it_is_imported_and_caught(tmp_path: Path) -> None:
    caller = "try:\n    from pkg import _C\nexcept ImportError:\n    _C = None\n"
    message = said(tmp_path, {"pkg/ops.py": caller}, "K203")
    assert "It is imported at pkg/ops.py:2." in message
    assert "may be caught (pkg/ops.py:3)" in message
    plain = said(tmp_path, {"pkg/ops.py": "import pkg._C\n"}, "K203")
    assert "It is imported at pkg/ops.py:1." in plain
    assert "caught" not in plain


# -- what may take its place, the first that is there ------------------------------------------

CPU = "void scale_cpu(at::Tensor x, float k) { x.mul_(k); }\n"
REFERENCE = "\n\ndef scale_ref(x, k):\n    return x * k\n"
MPS = 'TORCH_LIBRARY_IMPL(mine, MPS, m) { m.impl("scale", &scale_mps); }\n'


def test_a_cpu_sibling_comes_before_a_reference(tmp_path: Path) -> None:
    message = said(tmp_path, {"csrc/scale_cpu.cpp": CPU, "pkg/ops.py": CALLER + REFERENCE})
    assert "an implementation" not in message
    assert "for the CPU (scale_cpu at csrc/scale_cpu.cpp:1)" in message
    assert "scale_ref" not in message


def test_a_registered_cpu_implementation_is_named(tmp_path: Path) -> None:
    bind = """
    TORCH_LIBRARY(mine, m) { m.def("scale(Tensor x) -> Tensor"); }
    TORCH_LIBRARY_IMPL(mine, CPU, m) { m.impl("scale", &on_host); }
    TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("scale", &scale_cuda); }
    """
    message = said(tmp_path, {"csrc/scale.cpp": bind})
    assert "for the CPU (scale at csrc/scale.cpp:3)" in message


def test_a_dispatcher_of_the_projects_own_is_followed(tmp_path: Path) -> None:
    message = said(
        tmp_path,
        {
            "csrc/scale.cpp": """
            void scale_impl(at::Tensor x) { DISPATCH_DEVICE_IMPL(scale_impl, x); }
            void scale(at::Tensor x) { scale_impl(x); }
            PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("scale", &scale); }
            """,
            "csrc/bind.cpp": "REGISTER_DEVICE_IMPL(scale_impl, CUDA, scale_cuda);\n",
            "csrc/host.cpp": "void on_host(at::Tensor x) { }\n"
            "REGISTER_DEVICE_IMPL(scale_impl, CPU, on_host);\n",
        },
    )
    assert "called at pkg/ops.py:6" in message
    assert "(on_host at csrc/host.cpp:1)" in message


def test_a_reference_in_python_is_named_with_a_doubt(tmp_path: Path) -> None:
    message = said(tmp_path, {"pkg/ops.py": CALLER + REFERENCE})
    assert "The project has scale_ref at pkg/ops.py:9, in Python; whether it computes" in message


def test_a_reference_of_something_else_is_not_taken(tmp_path: Path) -> None:
    other = CALLER + "\n\ndef rotate_ref(x):\n    return x\n"
    assert "rotate_ref" not in said(tmp_path, {"pkg/ops.py": other})


def test_a_reference_beside_the_call_needs_only_to_be_related(tmp_path: Path) -> None:
    project = {
        "setup.py": 'CUDAExtension("MSDA", ["src/msda.cu"])\n',
        "src/msda.cu": """
        __global__ void ms_deform_attn_kernel(float *x) { }
        void forward_cuda(float *x) { ms_deform_attn_kernel<<<1, 2>>>(x); }
        PYBIND11_MODULE(MSDA, m) { m.def("ms_deform_attn_forward", &forward_cuda); }
        """,
        "ops/function.py": """
        import MSDA

        def forward(value):
            return MSDA.ms_deform_attn_forward(value)

        def multi_scale_deformable_attn_core_pytorch(value):
            return value
        """,
    }
    message = finding(linked(tmp_path, project), "K201").message
    assert "called at ops/function.py:5" in message
    assert "multi_scale_deformable_attn_core_pytorch at ops/function.py:7" in message


def test_an_implementation_for_metal_comes_first(tmp_path: Path) -> None:
    bind = """
    TORCH_LIBRARY(mine, m) { m.def("scale(Tensor x) -> Tensor"); }
    TORCH_LIBRARY_IMPL(mine, CUDA, m) { m.impl("scale", &scale_cuda); }
    """
    changes = {"csrc/scale.cpp": bind + MPS, "csrc/scale_cpu.cpp": CPU}
    assert "an implementation of scale for MPS at csrc/scale.cpp:4" in said(tmp_path, changes)


def test_a_shader_of_the_same_name_is_named(tmp_path: Path) -> None:
    message = said(tmp_path, {"metal/scale.metal": "kernel void scale() {}\n"})
    assert "code for Metal in metal/scale.metal" in message


def test_a_module_that_compiles_a_shader_is_named(tmp_path: Path) -> None:
    shader = "import torch\nlibrary = torch.mps.compile_shader(source)\n"
    message = said(tmp_path, {"pkg/scale_metal.py": shader})
    assert "code for Metal in pkg/scale_metal.py" in message
    assert "for Metal" not in said(tmp_path, {"pkg/scale_metal.py": "import torch\n"})


@pytest.mark.parametrize(
    ("name", "operator"),
    [
        ("fused_layer_norm_fwd", "torch.nn.functional.layer_norm"),
        ("nms_cuda_kernel", "torchvision.ops.nms"),
        ("KNearestNeighborKernel", "torch.cdist and torch.topk"),
        ("multi_tensor_adam", "torch.optim.Adam or AdamW"),
        ("RMSNormForward", "torch.nn.functional.rms_norm (PyTorch 2.4)"),
    ],
)
def test_a_well_known_name_gets_an_operator(tmp_path: Path, name: str, operator: str) -> None:
    assert replacements.operator_for([name]) == operator
    message = said(tmp_path, {"csrc/scale_cuda.cu": f"__global__ void {name}(int n) {{ }}\n"})
    assert f"replaced by {operator}; the results have to be compared." in message


@pytest.mark.parametrize("name", ["nms_rotated", "prroi_pool", "scale", "knnish", "planes"])
def test_other_names_get_no_operator(name: str) -> None:
    assert replacements.operator_for([name]) is None


def test_plain_arithmetic_may_be_a_shader_and_ptx_stays(tmp_path: Path) -> None:
    assert "torch.mps.compile_shader, PyTorch 2.7) may do the same" in said(tmp_path, {})
    assembly = '__device__ void f() { asm volatile("bar.sync 0;"); }\n'
    message = said(tmp_path, {"csrc/scale_cuda.cu": KERNEL + assembly})
    assert "Its file uses inline PTX: staying on CUDA is the likely answer." in message


def test_a_triton_kernel_has_its_reference(tmp_path: Path) -> None:
    text = """
    import triton

    @triton.jit
    def _chunk_scan_fwd_kernel(x):
        pass

    def chunk_scan_ref(x):
        return x
    """
    message = finding(linked(tmp_path, {"ops.py": text}), "K210").message
    assert "The project has chunk_scan_ref at ops.py:8, in Python" in message


def test_other_findings_and_reports_are_left_alone(tmp_path: Path) -> None:
    reports = linked(tmp_path, {"a.cpp": "#include <cudnn.h>\n"})
    assert [one.rule for report in reports for one in report.findings] == ["K206"]
    again = link(Workspace.open(tmp_path), reports)
    assert again == reports


# -- reading native sources -----------------------------------------------------------------


def test_functions_of_one_name_in_far_folders_are_told_apart() -> None:
    files = [
        ("a/k.cu", b"__global__ void ka() {}\nvoid forward() { ka<<<1, 2>>>(); }\n"),
        ("a/b.cpp", b'PYBIND11_MODULE(A, m) { m.def("run_a", &forward); }\n'),
        ("b/k.cu", b"__global__ void kb() {}\nvoid forward() { kb<<<1, 2>>>(); }\n"),
        ("b/b.cpp", b'PYBIND11_MODULE(B, m) { m.def("run_b", &forward); }\n'),
    ]
    project = native.read(files)
    assert [one.name for one in project.bound(project.above("ka", "a/k.cu"))] == ["run_a"]
    assert [one.name for one in project.bound(project.above("kb", "b/k.cu"))] == ["run_b"]


def test_a_kernel_that_a_macro_makes_is_followed_through_it() -> None:
    text = b"""
    #define DEFINE(name) __global__ void name(int n)
    DEFINE(fill) { }
    MARKED(a) void start() { fill<<<1, 2>>>(3); }
    PYBIND11_MODULE(M, m) { m.def("begin", &start); }
    """
    project = native.read([("k.cu", text)])
    document = CudaDocument(Source.of("k.cu", text))
    (kernel,) = document.kernels()
    first = project.start_of(document, kernel)
    above = project.above(first, "k.cu")
    assert [name for name, _path in above] == ["DEFINE", "fill", "start"]
    assert [one.name for one in project.bound(above)] == ["begin"]


def test_bindings_of_every_form() -> None:
    text = b"""
    TORCH_LIBRARY_IMPL(lib, CUDA, m) { m.impl("a", TORCH_FN(ns::fa)); }
    TORCH_LIBRARY_EXPAND(lib, ops) { ops.impl("b", torch::kCUDA, &fb); ops.def("c(int x)"); }
    PYBIND11_MODULE(mod, m) {
      m.def("d", [](int x) { return fd(x); });
      // m.def("no", &no);
    }
    static auto r = torch::RegisterOperators().op("lib::e", &fe);
    """
    found = native.read([("b.cpp", text)]).bindings
    assert [(one.name, one.library, one.key) for one in found] == [
        ("a", "lib", "CUDA"),
        ("b", "lib", "CUDA"),
        ("c", "lib", ""),
        ("d", "mod", ""),
        ("e", "lib", ""),
    ]
    assert "fa" in found[0].functions
    assert "fb" in found[1].functions
    assert "fd" in found[3].functions
    assert [one.place.line for one in found] == [2, 3, 3, 5, 8]


PIECES = st.sampled_from(
    [
        *("void f(", ")", "{", "}", ";", "<", '"', "#define A(x) ", "\n", 'm.def("a", &f)'),
        *("PYBIND11_MODULE(M, m)", "TORCH_LIBRARY_IMPL(l, CUDA, m)", "namespace n ", "struct S "),
        "REGISTER_X(a, CPU, b)",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_any_text_is_read(text: str) -> None:
    project = native.read([("a.cpp", text.encode())])
    for name in project.functions:
        assert (name, "a.cpp") in project.above(name, "a.cpp")


@pytest.mark.parametrize(
    "piece", [b"void f() { f(); } ", b"a(", b"{", b'm.def("a", ', b"#define A(x) A\n"]
)
def test_a_long_file_is_read_in_time(piece: bytes) -> None:
    begin = time.perf_counter()
    native.read([("a.cu", b"PYBIND11_MODULE(M, m) {" + piece * (300_000 // len(piece)))])
    assert time.perf_counter() - begin < 5
