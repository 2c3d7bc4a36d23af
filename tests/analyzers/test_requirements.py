"""Requirement files: every line read by the standard, with its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import Requirement

from analyzers.documents.base import Source
from analyzers.documents.requirements import (
    Address,
    Entry,
    Option,
    RequirementsDocument,
    Unreadable,
)


def read(text: bytes) -> RequirementsDocument:
    return RequirementsDocument(Source.of("requirements.txt", text))


def shown(text: bytes) -> list[tuple[str, str]]:
    return [
        (type(line).__name__, text[line.start : line.end].decode("latin-1"))
        for line in read(text).lines
    ]


@pytest.mark.parametrize(
    "path",
    ["requirements.txt", "a/requirements-dev.txt", "requirements_cu118.in", "dev-requirements.txt",
     "constraints.txt", "requirements/gpu.txt", "requirements/base.in"],
)  # fmt: skip
def test_accepts_the_usual_names(path: str) -> None:
    assert RequirementsDocument.accepts(path)


@pytest.mark.parametrize(
    "path", ["notes.txt", "requirements.md", "requirements.py", "docs/a.txt", "myrequirements.txt"]
)
def test_leaves_other_names(path: str) -> None:
    assert not RequirementsDocument.accepts(path)


def test_every_kind_of_line() -> None:
    text = (
        b"# a comment\n"
        b"torch==2.1 ; sys_platform == 'linux'  # why\n"
        b"-r base.txt\n-cconstraints.txt\n-e git+https://example.org/x#egg=x\n"
        b"--extra-index-url=https://example.org/cu118 --pre --find-links 'a b'\n"
        b"./local\nhttps://example.org/a-1.whl\nname @ https://example.org/a.zip\n"
        b"what is this\n"
    )
    assert shown(text) == [
        ("Entry", "torch==2.1 ; sys_platform == 'linux'"),
        ("Option", "-r base.txt"),
        ("Option", "-cconstraints.txt"),
        ("Option", "-e git+https://example.org/x#egg=x"),
        ("Option", "--extra-index-url=https://example.org/cu118"),
        ("Option", "--pre"),
        ("Option", "--find-links 'a b'"),
        ("Address", "./local"),
        ("Address", "https://example.org/a-1.whl"),
        ("Entry", "name @ https://example.org/a.zip"),
        ("Unreadable", "what is this"),
    ]
    options = [line for line in read(text).lines if isinstance(line, Option)]
    assert [(one.name, one.value) for one in options] == [
        ("-r", "base.txt"),
        ("-c", "constraints.txt"),
        ("-e", "git+https://example.org/x#egg=x"),
        ("--extra-index-url", "https://example.org/cu118"),
        ("--pre", ""),
        ("--find-links", "a b"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_continuations_keep_offsets_and_hashes_stay_out(end: bytes) -> None:
    text = b"torch==2.1 \\" + end + b"  --hash=sha256:aa \\" + end + b"  --hash=sha256:bb" + end
    text += b"numpy \\" + end + b">=1" + end
    entries = [line for line in read(text).lines if isinstance(line, Entry)]
    assert [str(one.requirement) for one in entries] == ["torch==2.1", "numpy>=1"]
    assert [text[one.start : one.end] for one in entries] == [
        b"torch==2.1",
        b"numpy \\" + end + b">=1",
    ]


def test_a_comment_ends_a_continuation() -> None:
    assert shown(b"a \\\n# b \\\nc\n") == [("Entry", "a"), ("Entry", "c")]
    assert shown(b"torch#nospace\n") == [("Unreadable", "torch#nospace")]


def test_bom_missing_last_line_end_and_nothing() -> None:
    assert shown(b"\xef\xbb\xbftorch") == [("Entry", "torch")]
    assert shown(b"") == []
    assert shown(b"\xef\xbb\xbf") == []
    assert shown(b"torch \\") == [("Entry", "torch")]


def test_latin_1_and_utf_8_comments_do_not_move_anything() -> None:
    for comment in ("# schön\n".encode("latin-1"), "# schön 🚀\n".encode()):
        text = comment + b"torch  # \xe9\n"
        (line,) = read(text).lines
        assert text[line.start : line.end] == b"torch"


def test_problems_name_the_first_bad_line() -> None:
    assert read(b"torch\n").problems() == ()
    (problem,) = read(b"torch\n\n???\n!!!\n").problems()
    assert "line 3" in problem
    assert "2 lines" in problem


def test_hostile_lines_are_unreadable_and_quick() -> None:
    for text in (b"a" * 1_000_000, b"a;" + b"(" * 15_000, b"a " * 200_000, b"-" * 500_000):
        for line in read(text).lines:
            assert isinstance(line, (Unreadable, Option, Address, Entry))
            assert 0 <= line.start < line.end <= len(text)


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}(-[a-z0-9]{1,4})?", fullmatch=True)
VERSIONS = st.sampled_from(["", "==1.0", ">=2,<3", "==1.13.1+cu117", "~=1.4", "!=1.5.*"])
MARKERS = st.sampled_from(["", '; sys_platform == "linux"', " ; python_version<'3.9'"])
TAILS = st.sampled_from(["", "  # note", " --hash=sha256:00", " \\\n  --hash=sha256:00"])
NOISE = st.sampled_from(["", "\n", "# ünïcode\n", "-r other.txt\n", "\t\n"])


@given(st.lists(st.tuples(NOISE, NAMES, VERSIONS, MARKERS, TAILS), max_size=8), st.booleans())
def test_offsets_give_back_what_was_written(
    rows: list[tuple[str, str, str, str, str]], windows: bool
) -> None:
    text = "".join(f"{noise}{n}{v}{m}{tail}\n" for noise, n, v, m, tail in rows)
    data = (text.replace("\n", "\r\n") if windows else text).encode()
    entries = [line for line in read(data).lines if isinstance(line, Entry)]
    written = [f"{n}{v}{m}" for _noise, n, v, m, _tail in rows]
    assert [data[one.start : one.end].decode() for one in entries] == written
    assert [str(one.requirement) for one in entries] == [str(Requirement(w)) for w in written]


@given(st.binary(max_size=200))
def test_any_bytes_are_read(data: bytes) -> None:
    for line in read(data).lines:
        assert 0 <= line.start < line.end <= len(data)
