"""Problems that people had with kernels and operators on their Macs."""

import pytest

from project.vocabulary import Layer
from tests.analyzers.reported import Problem, Told, check, findings

B, D, C = "blocks", "degrades", "cosmetic"

PROBLEMS = (
    Problem(
        "a Fourier transform",
        "import torch\ny = torch.fft.fftn(x.float(), dim=(-2, -1))\n",
        (Told("K220", 2, B, ("2.3", "macOS 14", "complex128"), ("on the CPU",)),),
        torch="2.2",
    ),
    Problem(
        "scaling with antialias",
        """\
        import torch.nn.functional as F
        y = F.interpolate(x, size=(56, 56), mode="bilinear", antialias=True)
        """,
        (Told("K220", 2, B, ("2.7", "FALLBACK=1", "Without antialias", "other numbers")),),
        torch="2.6",
    ),
    Problem(
        "a net in three dimensions",
        """\
        from torch import nn
        first = nn.Conv3d(1, 8, 3)
        second = nn.MaxPool3d(2)
        third = nn.ConvTranspose3d(8, 1, 2, 2)
        """,
        (
            Told("K220", 2, B, ("2.3", "from PyTorch 2.9 on")),
            Told("K220", 3, B, ("2.9",)),
            Told("K220", 4, B, ("2.8", "from PyTorch 2.9 on", "float16")),
        ),
        torch="2.2",
    ),
    Problem(
        "a factorisation that goes to the CPU by itself",
        'import torch\nu, s, v = torch.linalg.svd(torch.ones(4, 4, device="mps"))\n',
        (Told("K220", 2, D, ("2.14", "on the CPU by itself", "right")),),
        torch="2.13",
    ),
    Problem(
        "boxes that are copied for each picture",
        """\
        import torchvision
        for crop in crops:
            keep = torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.7)
        """,
        (Told("K221", 3, D, ("waited for", "0.16", "time both devices")),),
    ),
    Problem(
        "an operator that must be compiled",
        """\
        from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension
        import torch
        if torch.cuda.is_available() and CUDA_HOME is not None:
            sources = ["src/attention_cuda.cu"]
        else:
            raise NotImplementedError("no CUDA_HOME")
        """,
        (
            Told(
                "K203",
                4,
                B,
                ("nvcc", "does not exist on a Mac"),
                ("reference in plain PyTorch", "slower", "CppExtension in its place"),
            ),
        ),
        path="ops/setup.py",
    ),
    Problem(
        "a rasteriser without another back end",
        "import nvdiffrast.torch as dr\nc = dr.RasterizeCudaContext()\n",
        (Told("K204", 1, B, ("needs CUDA", "Keep training on the CUDA machine", "export")),),
    ),
    Problem(
        "a kernel of Numba",
        """\
        from numba import cuda
        @cuda.jit
        def scale(a, k):
            a[cuda.grid(1)] *= k
        scale[4, 256](data, 2.0)
        """,
        (
            Told("K204", 1, B, ("no target", "compile_shader", "on the CPU")),
            Told("K211", 3, B, ("PyTorch operators", "compile_shader", "2.7"), ("tested",)),
            Told("K211", 5, B, ("started on a CUDA device",)),
        ),
    ),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_people_are_told(problem: Problem) -> None:
    check(problem, Layer.KERNEL)


def test_what_goes_into_a_library_for_cuda_alone_is_not_to_be_sent_elsewhere() -> None:
    text = "import nvdiffrast.torch as dr\nr = dr.rasterize(c, points.cuda(), faces)\n"
    [one] = [one for one in findings("a.py", text) if one.rule == "D103"]
    assert (one.fix.value, one.severity.value) == ("none", B)
    assert "keep it there" in one.message
    [other] = findings("a.py", "r = draw(c, points.cuda(), faces)\n")
    assert other.fix.value == "safe"


def test_a_file_is_not_promised_a_release_that_lacks_one_of_its_operators() -> None:
    text = "import torch\nfrom torch import nn\na = nn.Conv3d(1, 8, 3)\nb = torch.mode(x)\n"
    told = {one.line: one.message for one in findings("a.py", text, "2.2")}
    assert set(told) == {3, 4}
    assert "All that this file uses" not in told[3]


@pytest.mark.parametrize(
    ("text", "torch"),
    [
        ("import torch\ny = torch.fft.fftn(x)\n", "2.3"),
        ("from torch import nn\nnet = nn.MaxPool3d(2)\n", "2.9"),
        ("import torch.nn.functional as F\ny = F.interpolate(x, size=8, mode='bilinear')\n", "2.2"),
        ("import torchvision\nkeep = torchvision.ops.nms(boxes, scores, 0.7)\n", "2.14"),
        ("import torch\nw = torch.linalg.eig(x.cpu())\n", "2.14"),
        ("from numba import njit\n@njit\ndef scale(a, k):\n    a *= k\n", "2.14"),
        ("from torch.utils.cpp_extension import CppExtension\ne = CppExtension('a', ['a.cpp'])\n",
         "2.14"),
        ('"""Needs nvdiffrast, and src/attention_cuda.cu."""\n', "2.14"),
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_left_alone(text: str, torch: str) -> None:
    assert findings("train.py", text, torch) == []
