"""What people ran into with environments on a Mac, and what they must be told instead."""

import json
import random
import textwrap

import pytest

from analyzers.examine import examine
from analyzers.registry import rules
from project.vocabulary import Finding, Severity

MINE = [
    one
    for one in rules()
    if one.code == "D112" or "E301" <= one.code <= "E319" or "E330" <= one.code <= "E339"
]
DOCKERFILE = """\
    FROM nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04
    RUN pip install torch --index-url https://download.pytorch.org/whl/cu121
    ENV CUDA_VISIBLE_DEVICES=0
    CMD ["python", "serve.py", "--device", "mps"]
    """


def findings(path: str, text: str) -> tuple[Finding, ...]:
    return examine(path, textwrap.dedent(text).encode(), MINE).findings


def told(path: str, text: str) -> dict[str, str]:
    return {one.text: one.message for one in findings(path, text)}


def test_frozen_requirements_are_said_to_be_so() -> None:
    said = told(
        "requirements.txt",
        """\
        torch==2.5.1
        nvidia-cublas-cu12==12.4.5.8
        nvidia-nccl-cu12==2.21.5
        triton==3.1.0
        gymnasium==1.0.0
        """,
    )
    assert list(said) == [
        "nvidia-cublas-cu12==12.4.5.8",
        "nvidia-nccl-cu12==2.21.5",
        "triton==3.1.0",
    ]
    for name in ("nvidia-cublas-cu12==12.4.5.8", "nvidia-nccl-cu12==2.21.5"):
        assert "pip freeze" in said[name]
        assert "no placeholder" in said[name]
    assert "@triton.jit" in said["triton==3.1.0"]


def test_each_marker_is_asked_for_itself() -> None:
    found = findings(
        "requirements.txt",
        """\
        --extra-index-url https://download.pytorch.org/whl/cu121
        torch; sys_platform != "darwin"
        torch==2.5.1+cu121; sys_platform == "darwin"
        onnxruntime-gpu==1.17.1; sys_platform != "darwin"
        """,
    )
    assert [(one.rule, one.line, one.severity) for one in found] == [
        ("E302", 1, Severity.COSMETIC),
        ("E301", 3, Severity.BLOCKS),
    ]
    assert "torch==2.5.1 on a Mac" in found[1].message


def test_an_old_toolkit_that_resolves_is_no_cure() -> None:
    said = told(
        "environment.yaml",
        """\
        dependencies:
          - python=3.8.5
          - pip=20.3
          - cudatoolkit=9.0
          - pytorch=1.11.0
        """,
    )
    assert list(said) == ["python=3.8.5", "cudatoolkit=9.0", "pytorch=1.11.0"]
    assert "no proof that the program runs" in said["cudatoolkit=9.0"]
    assert "1.12" in said["pytorch=1.11.0"]


def test_a_source_package_is_not_cured_by_cuda_home() -> None:
    said = told("requirements.txt", "torch>=2.1\nflash-attn>=2.3.6\n")
    assert list(said) == ["flash-attn>=2.3.6"]
    assert "CUDA_HOME" in said["flash-attn>=2.3.6"]
    assert "scaled_dot_product_attention" in said["flash-attn>=2.3.6"]
    variable = told("env.sh", "export CUDA_HOME=/usr/local/cuda\n")
    assert "helps no build" in variable["CUDA_HOME=/usr/local/cuda"]


def test_a_launch_with_deepspeed_or_many_processes() -> None:
    line = "accelerate launch --use_deepspeed --num_processes=8 --mixed_precision=bf16 train.py"
    (found,) = findings("launch.sh", line + "\n")
    assert (found.rule, found.severity) == ("E314", Severity.BLOCKS)
    assert "ZeRO" in found.message
    (many,) = findings("launch.sh", "accelerate launch --num_processes=8 train.py\n")
    assert "single process" in many.message
    assert findings("launch.sh", "accelerate launch --num_processes=1 train.py\n") == ()


def test_no_image_brings_mps_into_a_container() -> None:
    found = findings("Dockerfile", DOCKERFILE)
    assert [(one.rule, one.line, one.severity) for one in found] == [
        ("E304", 1, Severity.DEGRADES),
        ("E312", 2, Severity.DEGRADES),
        ("E316", 3, Severity.COSMETIC),
        ("E319", 4, Severity.BLOCKS),
    ]
    assert "run natively" in found[0].message
    assert "whatever the image" in found[3].message
    assert not any("use another image" in one.message.lower() for one in found)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.sh", "python -m pip install torch --index-url https://download.pytorch.org/whl/cpu\n"),
        ("requirements.txt", "-i https://download.pytorch.org/whl/cpu\ntorch==2.4.0+cpu\n"),
        ("Dockerfile", "FROM python:3.11\nRUN pip install torch -i https://download.pytorch.org/whl/cpu\n"),
    ],
)  # fmt: skip
def test_the_index_for_the_cpu_is_no_trap(path: str, text: str) -> None:
    assert findings(path, text) == ()


def test_the_low_watermark_must_follow_the_high_one() -> None:
    (found,) = findings("env.sh", "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7\npython train.py\n")
    assert (found.rule, found.severity) == ("E313", Severity.BLOCKS)
    assert "PYTORCH_MPS_LOW_WATERMARK_RATIO" in found.message
    assert "0.0" not in found.message
    both = "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7\nPYTORCH_MPS_LOW_WATERMARK_RATIO=0.6\n"
    assert findings(".env", both) == ()
    (lifted,) = findings("env.sh", "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0\n")
    assert "no cure" in lifted.message
    (crossed,) = findings(
        ".env", "PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.5\nPYTORCH_MPS_LOW_WATERMARK_RATIO=1.6\n"
    )
    assert crossed.text == "PYTORCH_MPS_LOW_WATERMARK_RATIO=1.6"


@pytest.mark.parametrize(
    ("value", "severity"), [("1", "degrades"), ("true", "blocks"), ("0", None), ("$X", None)]
)
def test_a_fallback_that_is_always_on(value: str, severity: str | None) -> None:
    found = findings("run.sh", f"export PYTORCH_ENABLE_MPS_FALLBACK={value}\n")
    assert [one.severity.value for one in found] == ([severity] if severity else [])


def test_a_hosted_mac_changes_and_may_refuse() -> None:
    text = """\
        jobs:
          test:
            runs-on: macos-latest
            steps:
              - run: pytest tests/test_sam_mps.py
        """
    (found,) = findings(".github/workflows/ci.yml", text)
    assert (found.rule, found.severity, found.text) == ("E317", Severity.DEGRADES, "macos-latest")
    assert "macOS build" in found.message
    assert "refuse every allocation" in found.message
    (pinned,) = findings(".github/workflows/ci.yml", text.replace("latest", "15"))
    assert "macOS build" not in pinned.message


def test_a_notebook_has_shell_in_its_cells() -> None:
    cells = [
        [
            "!nvidia-smi\n",
            "%pip install -q torch --index-url https://download.pytorch.org/whl/cu121",
        ],
        ["net = net.cuda()\n", "%env PYTORCH_ENABLE_MPS_FALLBACK=1"],
    ]
    data = json.dumps({"cells": [{"cell_type": "code", "source": cell} for cell in cells]})
    found = findings("a.ipynb", data)
    assert [(one.rule, one.cell, one.line, one.column) for one in found] == [
        ("E305", 0, 1, 2),
        ("E312", 0, 2, 23),
        ("E313", 1, 2, 6),
    ]
    assert found[1].text == "--index-url https://download.pytorch.org/whl/cu121"


def test_a_pin_that_the_named_macos_cannot_take() -> None:
    (found,) = findings("requirements.txt", "# macOS 12.7.6, arm64\ntorch==2.5.1\n")
    assert (found.rule, found.severity) == ("E307", Severity.DEGRADES)
    assert "13.0" in found.message
    assert "2.4 for macOS 12" in found.message
    assert findings("requirements.txt", "torch==2.5.1\n") == ()


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("README.md", "conda install cudatoolkit=9.0\n```\nconda install cudatoolkit=9.0\n```\n"),
        ("README.md", "Install CUDA Toolkit 10.1 for macOS.\n"),
        ("setup.sh", "brew install --cask cuda\n"),
        ("requirements.txt", "cuda-python\n"),
        ("environment.yml", "dependencies:\n  - cudatoolkit=10.0\n"),
    ],
)
def test_a_toolkit_is_never_called_cuda(path: str, text: str) -> None:
    found = findings(path, text)
    assert found
    for one in found:
        assert "has CUDA" not in one.message
        assert "CUDA is available" not in one.message


def test_instructions_are_milder_than_scripts() -> None:
    for command, rule in (("nvidia-smi", "E305"), ("torchrun --nproc_per_node=8 a.py", "E314")):
        (script,) = findings("a.sh", command + "\n")
        (readme,) = findings("README.md", f"```bash\n{command}\n```\n")
        (workflow,) = findings(".github/workflows/a.yml", f"- run: {command}\n")
        assert script.rule == readme.rule == workflow.rule == rule
        assert script.severity is Severity.DEGRADES
        assert readme.severity is workflow.severity is Severity.COSMETIC


SEEDS = [
    (example.path, textwrap.dedent(example.text).encode())
    for one in MINE
    for example in one.examples
]


@pytest.mark.parametrize("seed", range(8))
def test_mutated_files_are_read_without_a_crash(seed: int) -> None:
    source = random.Random(seed)
    pieces = [
        b"",
        b"\xff",
        b"\r",
        b"\n",
        b"(",
        b"[",
        b"\\",
        b'"',
        b"`",
        b"${",
        b"\x1b[31m",
        b"\xc3\xbc",
    ]
    for _round in range(120):
        path, text = source.choice(SEEDS)
        data = bytearray(text)
        for _change in range(source.randrange(1, 8)):
            at = source.randrange(len(data) + 1)
            data[at : at + source.randrange(4)] = source.choice(pieces)
        for finding in examine(path, bytes(data), MINE).findings:
            assert 0 <= finding.start < finding.end <= len(data)
            assert finding.line >= 1
            assert finding.column >= 1
            assert finding.message
