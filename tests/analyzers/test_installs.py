"""What commands that install ask for, word by word."""

import re

import pytest

from analyzers.documents.base import Source
from analyzers.documents.shell import ShellDocument
from analyzers.installs import troubles


def wanted(line: str) -> list[str]:
    text = line.encode()
    document = ShellDocument(Source.of("a.sh", text))
    return [
        text[one.start : one.end].decode()
        for command in document.commands(re.compile(rb"\w+"))
        for one in troubles(command)
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("pip install torch==2.0.1+cu118", ["torch==2.0.1+cu118"]),
        ("pip3 install -U flash-attn --no-build-isolation", ["flash-attn"]),
        ("python3.11 -m pip install cupy-cuda12x torch", ["cupy-cuda12x"]),
        ("pip install a --index-url=https://x/whl/cu121", ["--index-url=https://x/whl/cu121"]),
        ("pip install -i https://x/cu118 a", ["-i https://x/cu118"]),
        ("sudo pip install triton", ["triton"]),
        ("uv pip install triton", ["triton"]),
        ("uv add triton", ["triton"]),
        ("poetry add triton", ["triton"]),
        ("conda install -y -c nvidia cuda-nvcc numpy", ["-c nvidia", "cuda-nvcc"]),
        ("mamba create -n cuda python=3.10 cudatoolkit=11.3", ["cudatoolkit=11.3"]),
        ("pip install 'triton; sys_platform == \"linux\"'", []),
        ("pip install torch", []),
        ("pip install -r requirements-cu118.txt -t triton", []),
        ("pip uninstall triton", []),
        ("pip download triton", []),
        ("npm install triton", []),
        ("python -m venv triton", []),
        ("conda create -n triton python=3.10", []),
        ("conda activate cudatoolkit", []),
        ("uv sync --extra cu118", []),
        ("pip", []),
        ("conda install", []),
        ("pip install -i", []),
    ],
)
def test_words(line: str, found: list[str]) -> None:
    assert wanted(line) == found
