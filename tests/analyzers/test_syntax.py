"""Texts that would keep the parser busy for minutes, or end the process."""

import subprocess
import sys
import time

import pytest

from analyzers.documents import syntax
from analyzers.documents.shell import BASH
from analyzers.documents.syntax import parse
from analyzers.documents.yaml import YAML, is_too_deep
from analyzers.examine import examine
from analyzers.registry import rules

#: What parses in minutes.
TANGLED = b"((x)" * 10_000
STEPS = b"".join(b" " * step + b"a:\n" for step in range(300))
DEEP = {
    "lists": b"- " * 300,
    "keys": b"? " * 300,
    "mappings": STEPS,
    "mappings after carriage returns": STEPS.replace(b"\n", b"\r"),
    "both": b"".join(b"  " * step + b"- a:\n" for step in range(300)),
}


def test_a_tree_is_that_of_the_whole_text() -> None:
    text = b"echo $CUDA_HOME\n" * 3_000
    root = parse(BASH, text)
    last = root.named_children[-1]
    assert (root.start_byte, root.end_byte, root.named_child_count) == (0, len(text), 3_000)
    assert last.text == b"echo $CUDA_HOME"
    assert root.text == text


def test_a_tangled_text_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(syntax, "SECONDS", 0.1)
    monkeypatch.setattr(syntax, "SECONDS_A_BYTE", 0.0)
    start = time.process_time()
    with pytest.raises(RecursionError):
        parse(BASH, TANGLED)
    assert time.process_time() - start < 1


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("run.sh", b"nvidia-smi\n" + TANGLED),
        (".github/workflows/ci.yml", b"cuda: 1\nscript: x\n" + b"- " * 300),
        ("environment.yml", b"dependencies:\n- cudatoolkit\n" + STEPS),
        ("config.yaml", b"device: cuda\n" + b"- " * 300),
        ("compose.yaml", b"runtime: nvidia\n" + b"- " * 300),
    ],
    ids=("script", "workflow", "environment", "settings", "service"),
)
def test_such_a_file_is_named_and_not_read(
    path: str, text: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syntax, "SECONDS", 0.1)
    monkeypatch.setattr(syntax, "SECONDS_A_BYTE", 0.0)
    report = examine(path, text, rules())
    assert {one.reason for one in report.skipped} == {"It is nested too deeply to be read."}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_yaml_that_ends_the_process_never_reaches_the_parser(text: bytes) -> None:
    assert is_too_deep(text)
    with pytest.raises(RecursionError):
        parse(YAML, text)


def test_yaml_that_is_nested_as_deep_as_allowed_is_parsed() -> None:
    """In a process of its own, since it would be this one that ends."""
    code = (
        "from analyzers.documents.yaml import YAML\n"
        "from analyzers.documents.syntax import parse\n"
        "steps = range(99)\n"
        "lists = b''.join(b' ' * step + b'a:\\n' + b' ' * step + b'-\\n' for step in steps)\n"
        "mappings = b''.join(b' ' * step + b'a:\\n' for step in steps)\n"
        "for text in (b'- ' * 99, b'? ' * 99, mappings, lists):\n"
        "    parse(YAML, text + b' ' * 120 + b'x')\n"
        "print('parsed')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout == "parsed\n"


@pytest.mark.parametrize(
    "text",
    [
        b"a: |\n" + b" " * 300 + b"x\n",
        b"a: 1" + b" " * 300 + b"# far\n",
        b"a:\n" + b"- x\n" * 5_000,
        b"- " * 20 + b"a\n",
    ],
    ids=("block scalar", "comment", "long list", "lists"),
)
def test_yaml_that_people_write_is_not_too_deep(text: bytes) -> None:
    assert not is_too_deep(text)


def test_an_environment_beside_a_long_line_is_read() -> None:
    text = b"dependencies:\n- cudatoolkit" + b" " * 200 + b"# for the GPU\n"
    report = examine("environment.yml", text, rules())
    assert [one.text for one in report.findings] == ["cudatoolkit"]
