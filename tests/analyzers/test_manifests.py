"""What manifests ask for, with the bytes of each line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents import toml
from analyzers.documents.base import Source
from analyzers.documents.packages import PackagesDocument
from analyzers.documents.requirements import Address, Entry, Line, Option


def read(path: str, text: bytes) -> PackagesDocument:
    return PackagesDocument(Source.of(path, text))


def shown(path: str, text: bytes) -> list[tuple[str, str]]:
    document = read(path, text)

    def name(line: Line) -> str:
        if isinstance(line, Entry):
            return str(line.requirement)
        return line.name if isinstance(line, Option) else type(line).__name__

    return [(name(one), text[one.start : one.end].decode()) for one in document.lines]


@pytest.mark.parametrize(
    "path", ["pyproject.toml", "a/Pipfile", "setup.py", "setup.cfg", "tox.ini", "requirements.txt"]
)
def test_accepts(path: str) -> None:
    assert PackagesDocument.accepts(path)
    assert not PackagesDocument.accepts(path + ".bak")


def test_pyproject_of_the_standard() -> None:
    text = b"""\
[build-system]
requires = ["setuptools", "torch"]
[project]
name = "x"
dependencies = ['a>=1; sys_platform == "linux"', "b"]
[project.optional-dependencies]
fast = ["c"]
[dependency-groups]
dev = ["d", {include-group = "x"}]
"""
    assert shown("pyproject.toml", text) == [
        ("setuptools", "setuptools"),
        ("torch", "torch"),
        ('a>=1; sys_platform == "linux"', 'a>=1; sys_platform == "linux"'),
        ("b", "b"),
        ("c", "c"),
        ("d", "d"),
    ]
    document = read("pyproject.toml", text)
    assert [document.extra(line) for line in document.lines] == ["", "", "", "", "fast", "dev"]


def test_poetry() -> None:
    text = b"""\
[tool.poetry.dependencies]
python = "^3.10"
a = "^1.2"
b = {version = "~0.4.1", markers = "sys_platform == 'linux'"}
c = {version = "*", platform = "linux", optional = true}
d = {url = "https://x/d-1+cu118.whl"}
e = {git = "https://x/e.git"}
[tool.poetry.group.gpu.dependencies]
f = "0.3"
[[tool.poetry.source]]
name = "torch"
url = "https://x/cu118"
priority = "explicit"
"""
    assert shown("pyproject.toml", text) == [
        ("a<2,>=1.2", "^1.2"),
        ('b==0.4.*; sys_platform == "linux"', "~0.4.1"),
        ('c; sys_platform == "linux"', "*"),
        ("Address", "https://x/d-1+cu118.whl"),
        ("f==0.3", "0.3"),
        ("--extra-index-url", "https://x/cu118"),
    ]
    document = read("pyproject.toml", text)
    assert [document.extra(line) for line in document.lines] == ["", "", "c", "", "gpu", ""]


def test_indexes_of_uv_are_asked_on_a_mac_or_not() -> None:
    text = b"""\
[tool.uv.sources]
torch = [
  { index = "cu", marker = "sys_platform == 'linux'" },
  { index = "cpu", marker = "sys_platform != 'linux'" },
]
[[tool.uv.index]]
name = "cu"
url = "https://x/cu121"
[[tool.uv.index]]
name = "cpu"
url = "https://x/cpu"
default = true
"""
    assert shown("pyproject.toml", text) == [("--index-url", "https://x/cpu")]


def test_pipfile() -> None:
    text = b"""\
[[source]]
url = "https://x/simple"
[[source]]
url = "https://x/cu118"
[packages]
a = "==1.0"
b = {version = "*", sys_platform = "== 'linux'"}
"""
    assert shown("Pipfile", text) == [
        ("--index-url", "https://x/simple"),
        ("--extra-index-url", "https://x/cu118"),
        ("a==1.0", "==1.0"),
        ('b; sys_platform == "linux"', "*"),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_setup_cfg(end: bytes) -> None:
    text = (
        b"[options]\ninstall_requires =\n    a>=1\n    # no\n    b ; os_name == 'nt'\n"
        b"[options.extras_require]\ngpu = c\n    d\n[other]\ninstall_requires = e\n"
    ).replace(b"\n", end)
    assert shown("setup.cfg", text) == [
        ("a>=1", "a>=1"),
        ('b; os_name == "nt"', "b ; os_name == 'nt'"),
        ("c", "c"),
        ("d", "d"),
    ]


def test_setup_py_is_read_and_not_run() -> None:
    text = b"""\
import os
os.remove("/nothing")
NEEDS = ["a", "b>=2"]
OTHER = ["x"]
setup(install_requires=NEEDS, extras_require={"gpu": ["c"], "d": OTHER},
      tests_require=read("x.txt"), setup_requires=["e" + "f", f"g{1}", "h"])
"""
    assert shown("setup.py", text) == [("a", "a"), ("b>=2", "b>=2"), ("c", "c"), ("h", "h")]
    document = read("setup.py", text)
    assert [document.extra(line) for line in document.lines] == ["", "", "gpu", ""]


def test_what_is_no_toml_is_named() -> None:
    for text in (b"[project\n", b"a = \xff", b"x = 1\n" * 60_000, b"a = " + b"[" * 100_000):
        document = read("pyproject.toml", text)
        assert document.lines == ()
        assert len(document.problems()) == 1
    assert read("pyproject.toml", b"[project]\ndependencies = ['a']\n").problems() == ()


def test_values_of_toml() -> None:
    found, valid = toml.texts(b'a.b = "x"\n[c."d e"]\nf = [1, {g = true}]\nh = """y"""\n')
    assert valid
    assert [(one.path, one.value) for one in found] == [
        (("a", "b"), "x"),
        (("c", "d e", "f"), "1"),
        (("c", "d e", "f", "g"), "true"),
        (("c", "d e", "h"), "y"),
    ]


@pytest.mark.parametrize("path", ["pyproject.toml", "Pipfile", "setup.cfg", "setup.py", "tox.ini"])
@given(text=st.text(st.sampled_from("[]{}=\"'\n,.# ab1;\\install_requires("), max_size=80))
def test_any_text_is_read(path: str, text: str) -> None:
    data = text.encode()
    document = read(path, data)
    for line in document.lines:
        assert 0 <= line.start <= line.end <= len(data)
    assert len(document.problems()) <= 1
    assert all(isinstance(line, Entry | Option | Address) or line for line in document.lines)
