"""Lock files: what a Mac gets from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.locks import LockDocument


def locked(path: str, text: bytes) -> list[tuple[str, str]]:
    document = LockDocument(Source.of(path, text))
    assert document.problems() == ()
    found = list(document.locked())
    for one in found:
        assert text[one.start : one.end].lower().replace(b"_", b"-") == one.name.encode()
    return [(one.name, one.version) for one in found]


def test_uv_follows_markers_from_the_project_on() -> None:
    text = b"""\
[[package]]
name = "mine"
version = "1"
source = { virtual = "." }
dependencies = [{ name = "torch" }, { name = "gone", marker = "sys_platform == 'linux'" }]
[package.dev-dependencies]
dev = [{ name = "tool" }]
[[package]]
name = "torch"
version = "2.6.0"
resolution-markers = ["sys_platform == 'linux'"]
dependencies = [{ name = "nvidia-nccl-cu12" }]
[[package]]
name = "torch"
version = "2.5.0"
dependencies = [{ name = "triton", marker = "sys_platform == 'linux'" }]
[[package]]
name = "gone"
version = "1"
[[package]]
name = "tool"
version = "1"
[[package]]
name = "triton"
version = "3"
[[package]]
name = "nvidia-nccl-cu12"
version = "2"
"""
    assert locked("uv.lock", text) == [("mine", "1"), ("torch", "2.5.0"), ("tool", "1")]


def test_poetry_follows_dependencies_and_markers() -> None:
    text = b"""\
[[package]]
name = "torch"
version = "2.1"
[package.dependencies]
triton = {version = "2.1", markers = "platform_system == \\"Linux\\""}
Num_Py = [{version = "1", markers = "python_version < '3.9'"}, {version = "2"}]
[[package]]
name = "triton"
version = "2.1"
[[package]]
name = "num-py"
version = "2"
[[package]]
name = "only-linux"
version = "1"
markers = "sys_platform == 'linux'"
"""
    assert locked("poetry.lock", text) == [("torch", "2.1"), ("num-py", "2")]


def test_pdm_pipenv_and_the_standard() -> None:
    pdm = (
        b'[[package]]\nname = "a"\nversion = "1"\n'
        b'dependencies = ["b; sys_platform == \'linux\'", "c==1", "!!"]\n'
        b'[[package]]\nname = "b"\nversion = "1"\n[[package]]\nname = "c"\nversion = "1"\n'
    )
    assert locked("pdm.lock", pdm) == [("a", "1"), ("c", "1")]
    pipenv = (
        b'{"default": {\n "a": {\n  "version": "==1"},\n'
        b' "b": {"markers": "sys_platform == \'linux\'"}},\n"develop": {\n "c": {}}}'
    )
    assert locked("Pipfile.lock", pipenv) == [("a", "1"), ("c", "")]
    standard = (
        b'[[packages]]\nname = "a"\nversion = "1"\n'
        b'[[packages]]\nname = "b"\nmarker = "sys_platform == \'linux\'"\n'
    )
    assert locked("pylock.toml", standard) == [("a", "1")]


def test_cycles_end() -> None:
    text = (
        b'[[package]]\nname = "r"\nversion = "1"\n[package.dependencies]\na = "*"\n'
        b'[[package]]\nname = "a"\nversion = "1"\n[package.dependencies]\nb = "*"\n'
        b'[[package]]\nname = "b"\nversion = "1"\n[package.dependencies]\na = "*"\n'
    )
    assert [name for name, _ in locked("poetry.lock", text)] == ["r", "a", "b"]


@pytest.mark.parametrize(
    "path", ["uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "pylock.toml"]
)
@pytest.mark.parametrize(
    "text", [b"", b"[]", b"[[package]]\n", b"package = 1\n", b"{", b"\xff", b"[" * 100_000]
)
def test_what_is_no_lock_is_named(path: str, text: bytes) -> None:
    document = LockDocument(Source.of(path, text))
    assert list(document.locked()) == []
    assert len(document.problems()) <= 1


@given(
    st.lists(
        st.sampled_from(["[[package]]\n", 'name = "a"\n', "name = 1\n", "dependencies = [1]\n",
                         'dependencies = ["a"]\n', "markers = 3\n", "[package.dependencies]\n"]),
        max_size=12,
    ),
    st.sampled_from(["uv.lock", "poetry.lock", "pdm.lock"]),
)  # fmt: skip
def test_odd_locks_are_read_or_named(pieces: list[str], path: str) -> None:
    document = LockDocument(Source.of(path, "".join(pieces).encode()))
    list(document.locked())
    assert len(document.problems()) <= 1
