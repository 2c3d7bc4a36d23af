"""Settings of YAML, JSON, TOML and INI around words."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.config import ConfigDocument
from analyzers.documents.service import Service, ServiceDocument

CUDA = re.compile(rb"cuda")


def settings(path: str, text: bytes) -> list[tuple[tuple[str, ...], str]]:
    document = ConfigDocument(Source.of(path, text))
    found = list(document.settings(CUDA))
    for one in found:
        assert document.source.decode(one.value.start, one.value.end) == one.value.value
    return [((one.key, *one.above), one.value.value) for one in found]


@pytest.mark.parametrize(
    "path", ["a.yaml", "conf/a.json", "ds_config.json", "train.toml", "a.ini", "a.cfg", "b.conf"]
)
def test_accepts(path: str) -> None:
    assert ConfigDocument.accepts(path)


@pytest.mark.parametrize(
    "path",
    ["data.json", "package.json", "package-lock.json", "tsconfig.json", "pyproject.toml", "tox.ini",
     "setup.cfg", "Pipfile", ".vscode/settings.json", ".github/workflows/a.yml", "vocab_conf.json",
     "docker-compose.yml", "Cargo.toml", "environment.yml"],
)  # fmt: skip
def test_leaves_other_files(path: str) -> None:
    assert not ConfigDocument.accepts(path)


def test_the_same_setting_in_every_format() -> None:
    assert settings("a.yaml", b"m:\n  d: cuda\n  e: [x, 'cuda:1']\n") == [
        (("d", "m"), "cuda"),
        (("e", "m"), "cuda:1"),
    ]
    assert settings("conf.json", b'{"m": {"d": "cuda", "e": ["x", "cuda:1"]}}') == [
        (("d", "m"), "cuda"),
        (("e", "m"), "cuda:1"),
    ]
    assert settings("a.toml", b"[m]\nd = \"cuda\"\ne = ['x', 'cuda:1']\n") == [
        (("d",), "cuda"),
        (("e",), "cuda:1"),
    ]
    assert settings("a.ini", b"[m]\nd = cuda  ; why\ne: 'cuda:1'\n") == [
        (("d",), "cuda"),
        (("e",), "cuda:1"),
    ]


def test_a_word_in_a_key_gives_its_value() -> None:
    assert settings("a.yaml", b"use_cuda: true\ncuda: {x: 1}\n") == [(("use_cuda",), "true")]
    assert settings("conf.json", b'{"cuda": true}') == [(("cuda",), "true")]
    assert settings("a.ini", b"cuda = 1\n") == [(("cuda",), "1")]


def test_comments_and_long_texts_are_no_settings() -> None:
    assert settings("a.yaml", b"# cuda: x\na: b # cuda\n") == []
    assert settings("a.toml", b"# d = 'cuda'\n") == []
    assert settings("a.ini", b"; d = cuda\n# d = cuda\n") == []
    assert settings("a.yaml", b"a: cuda " + b"x" * 400 + b"\n") == []


def test_services_by_name() -> None:
    def service(path: str) -> Service:
        assert ServiceDocument.accepts(path)
        return ServiceDocument(Source.of(path, b"")).service

    assert service("docker-compose.gpu.yml") is service("compose.yaml") is Service.COMPOSE
    assert service(".github/workflows/a.yml") is service(".gitlab-ci.yml") is Service.WORKFLOW
    assert service("cog.yaml") is Service.COG
    assert service(".devcontainer/devcontainer.json") is Service.DEV_CONTAINER
    assert service("k8s/job.yaml") is Service.OTHER
    assert not ServiceDocument.accepts("a.json")
    assert not ServiceDocument.accepts("environment.yml")


@pytest.mark.parametrize("path", ["a.yaml", "conf.json", "a.toml", "a.ini"])
@given(text=st.text(st.sampled_from("[]{}:=\"',-\n #cuda"), max_size=60))
def test_any_text_is_read(path: str, text: str) -> None:
    document = ConfigDocument(Source.of(path, text.encode()))
    for one in document.settings(re.compile(rb"\w")):
        assert 0 <= one.value.start <= one.value.end <= len(text)
