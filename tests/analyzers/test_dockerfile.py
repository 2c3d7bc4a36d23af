"""Dockerfiles: which images a build starts from."""

import pytest

from analyzers.documents.base import Source
from analyzers.documents.dockerfile import DockerfileDocument


def images(text: bytes) -> list[tuple[str, str]]:
    document = DockerfileDocument(Source.of("Dockerfile", text))
    found = list(document.images())
    for one in found:
        assert document.source.decode(one.start, one.end) == one.written
    return [(one.written, one.name) for one in found]


@pytest.mark.parametrize(
    "path",
    ["Dockerfile", "docker/Dockerfile.gpu", "train.dockerfile", "Containerfile", "dockerfile"],
)
def test_accepts(path: str) -> None:
    assert DockerfileDocument.accepts(path)


@pytest.mark.parametrize(
    "path", ["Dockerfiles", "my_dockerfile", "Dockerfile/readme.md", "a.docker"]
)
def test_leaves(path: str) -> None:
    assert not DockerfileDocument.accepts(path)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_images_with_tag_digest_and_platform(bom: bytes, end: bytes) -> None:
    lines = [
        b"# syntax=docker/dockerfile:1",
        b"from --platform=$BUILDPLATFORM nvidia/cuda:12.1 as Base",
        b"RUN echo FROM other && \\",
        b"    echo nvidia/cuda",
        b"FROM base",
        b"FROM a/b@sha256:" + b"0" * 64,
    ]
    assert images(bom + end.join(lines) + end) == [
        ("nvidia/cuda:12.1", "nvidia/cuda:12.1"),
        ("a/b@sha256:" + "0" * 64,) * 2,
    ]


def test_arguments_are_filled_in() -> None:
    text = b"""\
ARG BASE=nvidia/cuda
ARG TAG="12.1"
FROM ${BASE}:${TAG}-devel AS one
ARG BASE=python
FROM $BASE
FROM ${MISSING:-debian}:12
FROM ${UNKNOWN}
"""
    assert [name for _written, name in images(text)] == [
        "nvidia/cuda:12.1-devel",
        "nvidia/cuda",
        "debian:12",
        "${UNKNOWN}",
    ]


def test_broken_and_empty() -> None:
    assert images(b"") == []
    assert images(b"FROM\n") == []
    assert isinstance(images(b"@@@\nFROM nvidia/cuda\n\xff\xfe"), list)
    assert isinstance(images(b"FROM " + b"a" * 300_000), list)
