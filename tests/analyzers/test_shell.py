"""Shell scripts and batch jobs."""

import re

import pytest

from analyzers.documents.base import Source
from analyzers.documents.shell import ShellDocument

WORDS = re.compile(rb"[\w-]+")


def read(text: bytes) -> ShellDocument:
    return ShellDocument(Source.of("job.sh", text))


def commands(text: bytes) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.arguments) for one in read(text).commands(WORDS)]


@pytest.mark.parametrize("path", ["a.sh", "b/c.bash", "train.slurm", "x.sbatch"])
def test_accepts(path: str) -> None:
    assert ShellDocument.accepts(path)
    assert not ShellDocument.accepts(path + ".txt")


def test_commands_wherever_they_stand() -> None:
    text = b"""\
if true; then /usr/bin/nvidia-smi -L > out.txt; fi
n=$(nvidia-smi | wc -l)
"nvcc" --version && echo nvidia-smi
cat <<EOF
nvidia-smi
EOF
"""
    assert commands(text) == [
        ("true", ()),
        ("nvidia-smi", ("-L",)),
        ("nvidia-smi", ()),
        ("wc", ("-l",)),
        ("nvcc", ("--version",)),
        ("echo", ("nvidia-smi",)),
        ("cat", ()),
    ]


def test_a_command_run_by_another_is_named() -> None:
    assert [name for name, _ in commands(b"sudo -E env A=1 timeout 5 nvidia-smi -L\n")] == [
        "sudo",
        "env",
        "timeout",
        "nvidia-smi",
    ]
    assert len(commands(b"sudo " * 1000)) < 20


def test_assignments_exported_plain_and_for_one_command() -> None:
    text = b"export A=0,1\nB='x y'\nC=1 python a.py\nfor D in 1; do :; done\necho E=1\n"
    assert [(one.name, one.value) for one in read(text).assignments(WORDS)] == [
        ("A", "0,1"),
        ("B", "x y"),
        ("C", "1"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_directives_stop_at_the_first_command(end: bytes) -> None:
    lines = [
        b"#!/bin/bash",
        b"# a comment",
        b"#SBATCH --gres=gpu:1  # one card",
        b"",
        b"##SBATCH --gpus=2",
        b" #SBATCH --gpus=3",
        b"#PBS -l select=1:ngpus=1",
        b"set -e",
        b"#SBATCH --gpus=4",
    ]
    text = end.join(lines) + end
    found = list(read(text).directives())
    assert [(one.system, one.content) for one in found] == [
        ("SBATCH", "--gres=gpu:1"),
        ("PBS", "-l select=1:ngpus=1"),
    ]
    assert text[found[0].start : found[0].end] == b"#SBATCH --gres=gpu:1"


def test_broken_empty_and_foreign() -> None:
    assert commands(b"") == []
    assert list(read(b"\xef\xbb\xbf").directives()) == []
    assert "nvidia-smi" in [name for name, _ in commands(b"nvidia-smi\nif [ ; then ((\n")]
    assert commands(b"echo \xfc\nnvidia-smi\n")[-1] == ("nvidia-smi", ())
    assert isinstance(commands(b"(" * 5000), list)
