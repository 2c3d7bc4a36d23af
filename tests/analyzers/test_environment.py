"""What packages, indexes and images mean on a Mac, and the table of libraries behind it."""

import datetime
import random

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from analyzers.documents.requirements import Option
from analyzers.environment import (
    address_trouble,
    conda_trouble,
    image_trouble,
    index_trouble,
    library_trouble,
    requirement_trouble,
)
from analyzers.examine import examine
from analyzers.libraries import LIBRARIES, OnMac, distribution, imported
from analyzers.markers import wanted_on_mac
from analyzers.registry import rules
from project.vocabulary import Severity


@pytest.mark.parametrize(
    ("line", "severity"),
    [
        ("torch==1.9.0+cu111", "blocks"),
        ("torch===1.9.0+cu111", "blocks"),
        ("torch @ https://example.org/torch-2.0%2Bcu118-linux_x86_64.whl", "blocks"),
        ("torch @ https://example.org/torch-2.0-cp310-cp310-linux_x86_64.whl", "blocks"),
        ("nvidia-cudnn-cu12==9.1", "blocks"),
        ("nvidia_cublas_cu11", "blocks"),
        ("Flash_Attn", "blocks"),
        ("cupy-cuda11x", "blocks"),
        ("spconv-cu118", "blocks"),
        ("nvidia-dali-cuda120", "blocks"),
        ("something-cu12", "blocks"),
        ("jax[cuda12_pip]", "blocks"),
        ("triton; python_version < '3.9'", "blocks"),
        ("triton; sys_platform == 'linux' or sys_platform == 'darwin'", "blocks"),
        ("bitsandbytes==0.41.*", "blocks"),
        ("bitsandbytes<0.49", "blocks"),
        ("bitsandbytes~=0.43.1", "blocks"),
        ("deepspeed", "degrades"),
        ("torch-scatter", "degrades"),
    ],
)
def test_troubles(line: str, severity: str) -> None:
    trouble = requirement_trouble(Requirement(line))
    assert trouble is not None
    assert trouble.severity.value == severity


@pytest.mark.parametrize(
    "line",
    [
        "torch",
        "torch==2.0.1+cpu",
        "torch @ https://example.org/torch-2.0-cp310-none-macosx_11_0_arm64.whl",
        "a @ https://example.org/a-1-cp310-manylinux_2_17_x86_64.whl ; sys_platform == 'linux'",
        "torch==2.5.1",
        "numba",
        "bitsandbytes",
        "bitsandbytes>=0.41",
        "bitsandbytes>=0.41,<0.50",
        "bitsandbytes!=0.49.0",
        "faiss-cpu",
        "onnxruntime",
        "cucumber",
        "focus12",
        "nvidia-ml-py; sys_platform != 'darwin'",
        "triton; platform_machine == 'x86_64'",
        "triton; platform_system == 'Linux'",
        "triton; extra == 'gpu'",
        "jax[cpu]",
    ],
)
def test_no_trouble(line: str) -> None:
    assert requirement_trouble(Requirement(line)) is None


def test_each_line_is_asked_for_itself() -> None:
    assert wanted_on_mac(Requirement("a; sys_platform == 'darwin'").marker)
    assert not wanted_on_mac(Requirement("a; sys_platform != 'darwin'").marker)
    assert wanted_on_mac(Requirement("a; python_version >= '3.12'").marker)


def test_messages_help() -> None:
    def message(line: str) -> str:
        trouble = requirement_trouble(Requirement(line))
        assert trouble is not None
        return trouble.message

    assert "torch==1.13.1 on a Mac" in message("torch==1.13.1+cu117")
    assert "pip freeze" in message("nvidia-nccl-cu12")
    assert "nvcc" in message("flash-attn")
    assert "CUDA_HOME" in message("flash-attn")
    assert "@triton.jit" in message("triton")
    assert "0.49.0" in message("bitsandbytes==0.40.0")
    assert "needs CUDA" not in message("deepspeed")


@pytest.mark.parametrize(
    "url",
    ["https://download.pytorch.org/whl/cu118", "https://download.pytorch.org/whl/nightly/cu121/",
     "https://data.pyg.org/whl/torch-2.1.0+cu121.html", "https://pypi.nvidia.com",
     "https://storage.googleapis.com/x/cuda12/index.html"],
)  # fmt: skip
def test_indexes_of_cuda(url: str) -> None:
    assert address_trouble(url) is not None


@pytest.mark.parametrize(
    "url",
    ["https://download.pytorch.org/whl/cpu", "https://download.pytorch.org/whl/torch_stable.html",
     "https://example.org/simple", "https://example.org/focus118", "wheels/"],
)  # fmt: skip
def test_indexes_for_everybody(url: str) -> None:
    assert address_trouble(url) is None


@pytest.mark.parametrize(
    "spec",
    ["cudatoolkit", "cudatoolkit=11.3", "pytorch-cuda=12.1", "cuda", "cuda-nvcc", "nvidia::cuda",
     "cudnn>=8", "nccl", "libcublas-dev", "pytorch=1.13=py3.9_cuda11.7_cudnn8_0",
     "pytorch=2.1=*cuda*", "tensorflow-gpu", "faiss-gpu", "cupy", "nvidia/label/cuda-11.8::x"],
)  # fmt: skip
def test_conda_packages_of_cuda(spec: str) -> None:
    assert conda_trouble(spec) is not None


@pytest.mark.parametrize(
    "spec",
    ["pytorch=2.1", "pytorch::pytorch", "barracuda", "numba", "cpuonly", "", "???", "cudf-x"],
)
def test_conda_packages_for_everybody(spec: str) -> None:
    assert conda_trouble(spec) is None


@pytest.mark.parametrize(
    "image",
    ["nvidia/cuda:12.1.1-devel", "docker.io/nvidia/cuda", "nvcr.io/nvidia/pytorch:23.10-py3",
     "pytorch/pytorch", "pytorch/pytorch:2.1.0-cuda12.1-cudnn8-runtime", "rapidsai/base:23.10",
     "tensorflow/tensorflow:latest-gpu", "ghcr.io/x/y:main-cuda", "x/y:1.0-cu118"],
)  # fmt: skip
def test_images_for_nvidia(image: str) -> None:
    trouble = image_trouble(image)
    assert trouble is not None
    assert "reaches no MPS" in trouble.message


@pytest.mark.parametrize(
    "image", ["python:3.11", "ubuntu", "x/barracuda:1", "pytorch/manylinux", "x/gpuless:1", "x:cpu"]
)
def test_images_for_everybody(image: str) -> None:
    assert image_trouble(image) is None


def test_the_table_is_whole() -> None:
    seen: set[str] = set()
    for row in LIBRARIES:
        assert row.distributions or row.imports
        assert row.state
        assert row.instead or row.on_mac is OnMac.WORKS
        assert row.source.startswith("https://")
        assert datetime.date.fromisoformat(row.checked)
        assert not row.since or Version(row.since)
        for name in row.distributions:
            assert name == canonicalize_name(name)
            assert name not in seen
            seen.add(name)
            assert distribution(name) is row
        for name in row.imports:
            assert imported(name) == (name, row)
    assert len(LIBRARIES) >= 30


def test_what_works_is_never_called_cuda_only() -> None:
    for row in LIBRARIES:
        trouble = library_trouble("name", row)
        if row.on_mac is OnMac.WORKS:
            assert trouble is None
        else:
            assert trouble is not None
            only = row.on_mac is OnMac.CUDA_ONLY
            assert ("needs CUDA" in trouble.message) is only
            assert (trouble.severity is Severity.BLOCKS) is only


def test_imports_are_matched_by_whole_parts() -> None:
    assert imported("flash_attn.ops.triton") == ("flash_attn", distribution("flash-attn"))
    assert imported("numba.cuda") is not None
    assert imported("numba") is None
    assert imported("flash_attnx") is None


ODD = ["setup.sh", "requirements.txt", "environment.yml", "a.yaml", "Dockerfile", "k.cu", "m.py"]


@pytest.mark.parametrize("path", ODD)
def test_mutated_files_are_read_without_a_crash(path: str) -> None:
    mine = [one for one in rules() if one.code[0] in "KE" or one.code == "D112"]
    seeds = [
        example.text.encode()
        for one in mine
        for example in one.examples
        if example.path.rpartition(".")[2] == path.rpartition(".")[2]
    ]
    assert seeds
    source = random.Random(path)
    for _round in range(150):
        data = bytearray(source.choice(seeds))
        for _change in range(source.randrange(1, 8)):
            at = source.randrange(len(data) + 1)
            data[at : at + source.randrange(4)] = source.choice(
                [b"", b"\x00", b"\xff", b"\r", b"\n", b"(", b"\\", b'"', b"\x1b[31m", b"\xc3\xbc"]
            )
        for finding in examine(path, bytes(data), mine).findings:
            assert 0 <= finding.start < finding.end <= len(data)
            assert finding.line >= 1
            assert finding.column >= 1


@pytest.mark.parametrize(
    ("option", "severity"),
    [
        ("--index-url", "blocks"),
        ("-i", "blocks"),
        ("--extra-index-url", "cosmetic"),
        ("-f", "degrades"),
        ("-r", None),
    ],
)
def test_an_index_in_place_of_the_usual_one_is_worse_than_one_beside_it(
    option: str, severity: str | None
) -> None:
    trouble = index_trouble(Option(option, "https://download.pytorch.org/whl/cu121", 0, 1))
    assert (trouble.severity.value if trouble is not None else None) == severity


@pytest.mark.parametrize("text", ["jax[cuda12]", "tensorflow[and-cuda]==2.16", "spacy[cuda12x]"])
def test_an_extra_for_cuda_is_named_before_the_library(text: str) -> None:
    trouble = requirement_trouble(Requirement(text))
    assert trouble is not None
    assert trouble.severity is Severity.BLOCKS
    assert "The extra" in trouble.message
    assert "alone on a Mac" in trouble.message


@pytest.mark.parametrize("text", ["tensorflow[cute]", "spacy[lookups]", "tool[cucumber]"])
def test_an_extra_that_only_begins_alike_is_none(text: str) -> None:
    assert requirement_trouble(Requirement(text)) is None
