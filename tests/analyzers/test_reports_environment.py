"""Problems that people had with packages, containers and sessions on their Macs."""

import json

import pytest

from project.vocabulary import Layer
from tests.analyzers.reported import Problem, Told, check, findings

B, D, C = "blocks", "degrades", "cosmetic"

NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "source": [
                    "!nvidia-smi\n",
                    "%pip install -q torch --index-url https://download.pytorch.org/whl/cu121",
                ],
            },
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)

PROBLEMS = (
    Problem(
        "a question to NVIDIA's tool",
        """\
        import subprocess
        def used():
            return subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used"])
        """,
        (Told("E340", 3, B, ("FileNotFoundError", "only says 0"), ("optional",)),),
    ),
    Problem(
        "a hosted Mac that changes",
        """\
        jobs:
          test:
            runs-on: macos-latest
            steps:
              - run: pytest tests/test_mps.py
        """,
        (Told("E317", 3, D, ("comes with macOS", "other numbers", "macOS build")),),
        path=".github/workflows/test.yml",
    ),
    Problem(
        "one watermark without the other",
        "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7\npython train.py\n",
        (Told("E313", 1, B, ("low watermark, 1.4", "LOW_WATERMARK_RATIO"), ("no cure",)),),
        path="env.sh",
    ),
    Problem(
        "available and not usable",
        'import torch\ndevice = "mps" if torch.backends.mps.is_available() else "cpu"\n',
        (Told("E342", 2, C, ("not yet usable", "refuse the first bytes", "small tensor"),
              ("memory limit", "nothing about the model")),),
    ),
    Problem(
        "cells that speak to the shell",
        NOTEBOOK,
        (
            Told("E305", 1, D, ("does not exist on macOS", "optional")),
            Told("E312", 2, B, ("cu121", "usual index")),
        ),
        path="demo.ipynb",
    ),
    Problem(
        "weights in four bits",
        """\
        from transformers import BitsAndBytesConfig
        q = BitsAndBytesConfig(load_in_4bit=True)
        """,
        (Told("E341", 2, D, ("0.50.2", "macOS 14", "older ones fail", "without quantisation"),
              ("device_map",)),),
    ),
    Problem(
        "a freeze of a Linux machine",
        "torch==2.5.1\nnvidia-cublas-cu12==12.4.5.8\ntriton==3.1.0\n",
        (
            Told("E301", 2, B, ("pip freeze", "placeholder", "marker for Linux")),
            Told("E301", 3, B, ("@triton.jit", "leftover")),
        ),
        path="requirements.txt",
    ),
    Problem(
        "markers the wrong way round",
        """\
        --extra-index-url https://download.pytorch.org/whl/cu121
        torch; sys_platform != "darwin"
        torch==2.5.1+cu121; sys_platform == "darwin"
        """,
        (Told("E301", 3, B, ("2.5.1+cu121", "torch==2.5.1 on a Mac")),),
        path="requirements.txt",
    ),
    Problem(
        "an old toolkit that resolves",
        "dependencies:\n  - python=3.8.5\n  - cudatoolkit=9.0\n  - pytorch=1.11.0\n",
        (
            Told("E303", 2, D, ("osx-arm64", "3.10")),
            Told("E303", 3, B, ("no proof that the program runs",)),
            Told("E303", 4, D, ("predates MPS", "1.12")),
        ),
        path="environment.yml",
    ),
    Problem(
        "a package that is built on the spot",
        "torch>=2.1\nflash-attn>=2.3.6\n",
        (Told("E301", 2, B, ("nvcc", "CUDA_HOME does not help", "scaled_dot_product_attention"),
              ("sys_platform", "extra")),),
        path="requirements.txt",
    ),
    Problem(
        "triton, of whom nobody knows why",
        "fire\ntriton\n",
        (Told("E301", 2, B, ("no wheel", "kernels of its own", "leftover")),),
        path="requirements.txt",
    ),
    Problem(
        "a library that installs and does not train",
        "accelerate\ndeepspeed\n",
        (Told("E301", 2, D, ("communication backend", "ZeRO", "stays on CUDA")),),
        path="requirements.txt",
    ),
    Problem(
        "eight processes of it",
        "accelerate launch --use_deepspeed --num_processes=8 train.py\n",
        (Told("E314", 1, B, ("ZeRO",)),),
        path="launch.sh",
    ),
    Problem(
        "a container on a Mac",
        """\
        FROM nvidia/cuda:12.1.1-cudnn8-runtime-ubuntu22.04
        RUN pip install torch --index-url https://download.pytorch.org/whl/cu121
        ENV CUDA_VISIBLE_DEVICES=0
        CMD ["python", "serve.py", "--device", "mps"]
        """,
        (
            Told("E304", 1, D, ("reaches no MPS, whatever its image", "run natively"),
                 ("emulating", "brings no MPS")),
            Told("E312", 2, D, ("reaches no MPS",)),
            Told("E316", 3, C, ("means nothing on a Mac",)),
            Told("E319", 4, B, ("False there, whatever the image",), ("linux/arm64",)),
        ),
        path="Dockerfile",
    ),
    Problem(
        "a Mac that is called unfit",
        'import torch\nassert torch.backends.mps.is_available(), "no MPS on this Mac"\n',
        (Told("E342", 2, B, ("sandbox", "in this process", "is_built()"), ("small tensor",)),),
    ),
    Problem(
        "a number in a message that lags behind",
        "# macOS 12.7\ntorch==2.5.1\n",
        (Told("E307", 2, D, ("13.0", "lags behind", "2.4 for macOS 12", "update macOS")),),
        path="requirements.txt",
    ),
    Problem(
        "a release for macOS 14",
        "# macOS 13\ntorch==2.9.0\n",
        (Told("E307", 2, D, ("14.0", "2.8 for macOS 13")),),
        path="requirements.txt",
    ),
)  # fmt: skip


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_people_are_told(problem: Problem) -> None:
    check(problem, Layer.ENVIRONMENT)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.sh", "pip install torch --index-url https://download.pytorch.org/whl/cpu\n"),
        ("setup.sh", 'python -c "import torch; print(torch.backends.mps.is_available())"\n'),
        ("requirements.txt", "torch==2.4.0\ntransformers\n"),
        ("requirements.txt", 'torch==2.5.1+cu121; sys_platform == "linux"\n'),
        ("requirements.txt", 'onnxruntime-gpu==1.17.1; sys_platform != "darwin"\n'),
        ("requirements.txt", 'triton; sys_platform == "linux"\n'),
        ("requirements.txt", "# macOS 13\ntorch==2.8.0\n"),
        ("env.sh", "export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7\n"
                   "export PYTORCH_MPS_LOW_WATERMARK_RATIO=0.5\n"),
        ("launch.sh", "accelerate launch --num_processes=1 train.py\n"),
        ("Dockerfile", 'FROM python:3.12\nCMD ["python", "serve.py", "--device", "cpu"]\n'),
        (".github/workflows/a.yml", "jobs:\n  a:\n    runs-on: macos-latest\n"),
        ("a.py", 'import torch\nhas = torch.backends.mps.is_available() or cuda_found()\n'),
        ("a.py", 'import shutil, subprocess\nif shutil.which("nvidia-smi"):\n'
                 '    subprocess.run(["ls"])\n'),
        ("environment.yml", "dependencies:\n  - python=3.11\n  - pytorch\n"),
    ],
)  # fmt: skip
def test_what_only_looks_like_it_is_left_alone(path: str, text: str) -> None:
    assert findings(path, text) == []


def test_mps_that_is_a_step_after_cuda_is_left_alone() -> None:
    text = """\
        import torch
        if torch.cuda.is_available():
            device = "cuda"
        else:
            device = "mps" if torch.backends.mps.is_available() else "cpu"
        """
    assert "E342" not in [one.rule for one in findings("a.py", text)]
