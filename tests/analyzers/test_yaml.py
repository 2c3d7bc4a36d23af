"""Conda environments and settings, read from YAML with their bytes."""

import re

import pytest

from analyzers.documents.base import Source
from analyzers.documents.conda import CondaDocument
from analyzers.documents.config import ConfigDocument
from analyzers.documents.requirements import Entry, Option


def conda(text: bytes) -> CondaDocument:
    return CondaDocument(Source.of("environment.yml", text))


def settings(text: bytes) -> list[tuple[str, str]]:
    document = ConfigDocument(Source.of("a.yaml", text))
    found = list(document.settings(re.compile(rb"[\w.*]+")))
    for one in found:
        assert document.source.decode(one.value.start, one.value.end) == one.value.value
    return [(one.key, one.value.value) for one in found]


@pytest.mark.parametrize(
    "path", ["environment.yml", "env/environment-gpu.yaml", "conda.yml", "conda_env.yml", "env.yml"]
)
def test_environments_are_read_as_such_alone(path: str) -> None:
    assert CondaDocument.accepts(path)
    assert not ConfigDocument.accepts(path)


@pytest.mark.parametrize(
    "path",
    [".github/workflows/conda.yml", "docker-compose.gpu.yml", "compose.yaml", ".gitlab-ci.yml",
     ".circleci/config.yml", ".pre-commit-config.yaml", "a.json", "environments.txt"],
)  # fmt: skip
def test_files_for_services_are_neither(path: str) -> None:
    assert not CondaDocument.accepts(path)
    assert not ConfigDocument.accepts(path)


@pytest.mark.parametrize("path", ["configs/train.yaml", "a.yml", "composer/model.yaml"])
def test_other_yaml_is_settings(path: str) -> None:
    assert ConfigDocument.accepts(path)


ENVIRONMENT = b"""\
name: x
channels: [pytorch, "nvidia"]
dependencies:
  - python=3.10
  - cudatoolkit=11.3   # [linux]
  - nccl   # [not osx]
  - cudnn   # [osx or linux]
  - 'pytorch-cuda=12.1'
  - pip:
      - --extra-index-url https://example.org/cu118
      - "torch==2.0+cu118"
      - -r other.txt
"""


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_channels_packages_and_pip(bom: bytes, end: bytes) -> None:
    text = bom + ENVIRONMENT.replace(b"\n", end)
    document = conda(text)
    assert [one.value for one in document.channels()] == ["pytorch", "nvidia"]
    packages = list(document.packages())
    assert [one.value for one in packages] == ["python=3.10", "cudnn", "pytorch-cuda=12.1"]
    for one in packages:
        assert text[one.start : one.end].decode() == one.value
    lines = list(document.pip_lines())
    assert [text[line.start : line.end] for line in lines] == [
        b"--extra-index-url https://example.org/cu118",
        b"torch==2.0+cu118",
        b"-r other.txt",
    ]
    assert [type(line) for line in lines] == [Option, Entry, Option]


def test_an_environment_of_another_shape_is_empty() -> None:
    for text in (b"", b"- a\n", b"dependencies: cudatoolkit\n", b"dependencies:\n", b"{", b"\t:\n"):
        document = conda(text)
        assert list(document.packages()) == list(document.pip_lines()) == []


def test_packages_below_another_key_are_not_the_environment() -> None:
    assert list(conda(b"x:\n  dependencies:\n    - cudatoolkit\n").packages()) == []


def test_settings_of_every_shape() -> None:
    text = (
        b"a: 1\nb: {c: 'x', d: [y, \"z\"]}\ne:\n  - f: g\n  - h\ni: &n !!str j\nk: *n\nl: |\n  t\n"
    )
    assert settings(text) == [
        ("a", "1"),
        ("c", "x"),
        ("d", "y"),
        ("d", "z"),
        ("f", "g"),
        ("e", "h"),
        ("i", "j"),
    ]


def test_settings_of_broken_and_foreign_text() -> None:
    assert settings(b"") == []
    assert ("b", "cuda") in settings(b"a: [1, 2\nb: cuda\n") or settings(
        b"a: [1, 2\nb: cuda\n"
    ) == []
    assert settings("ü: cuda\n".encode()) == [("ü", "cuda")]
    assert settings(b"a: 1\n---\nb: 2\n") == [("a", "1"), ("b", "2")]


def test_deep_nesting_ends() -> None:
    assert isinstance(settings(b"[" * 20_000), list)
    assert isinstance(settings(b"{a: " * 5_000), list)
