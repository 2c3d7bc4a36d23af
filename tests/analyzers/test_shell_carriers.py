"""The shell's share of scripts, containers, workflows, recipes, notebooks and instructions."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents.notebook_shell import shell_of
from analyzers.documents.shell import ShellDocument
from analyzers.documents.shell_carriers import Carrier, carrier_of

WORDS = re.compile(rb"[\w-]+")


def read(path: str, text: bytes) -> ShellDocument:
    return ShellDocument(ShellDocument.source_from(path, text))


def commands(path: str, text: bytes) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.name, one.arguments) for one in read(path, text).commands(WORDS)]


@pytest.mark.parametrize(
    ("path", "carrier"),
    [
        ("a/run.sh", Carrier.SCRIPT),
        ("job.pbs", Carrier.SCRIPT),
        (".env", Carrier.VARIABLES),
        ("conf/train.env", Carrier.VARIABLES),
        ("Dockerfile.gpu", Carrier.CONTAINER),
        (".github/workflows/ci.yml", Carrier.WORKFLOW),
        (".gitlab-ci.yml", Carrier.WORKFLOW),
        ("Makefile", Carrier.RECIPE),
        ("a.ipynb", Carrier.NOTEBOOK),
        ("README.md", Carrier.INSTRUCTIONS),
        ("train.py", None),
        ("config.yml", None),
        ("environment.yml", None),
    ],
)
def test_carriers_by_name(path: str, carrier: Carrier | None) -> None:
    assert carrier_of(path) is carrier


def test_a_container_gives_its_commands_and_variables() -> None:
    text = b"""\
FROM nvidia-smi AS x
RUN --mount=type=cache,target=/c pip install a \\
    # why
    b && nvcc
ENV A=1 B="x y"
ENV HOME_OF /usr/local/cuda
RUN <<EOF
nvidia-smi
EOF
CMD ["python", "a.py", "--device", "mps"]
"""
    assert commands("Dockerfile", text) == [
        ("pip", ("install", "a", "b")),
        ("nvcc", ()),
        ("nvidia-smi", ()),
        ("python", ("a.py", "--device", "mps")),
    ]
    assignments = read("Dockerfile", text).assignments(WORDS)
    assert [(one.name, one.value) for one in assignments] == [
        ("A", "1"),
        ("B", "x y"),
        ("HOME_OF", "/usr/local/cuda"),
    ]


def test_a_workflow_gives_its_steps_alone() -> None:
    text = b"""\
name: nvcc
jobs:
  a:
    steps:
      - name: nvcc
        run: nvcc --version
      - run: |
          nvidia-smi ${{ matrix.gpu }}
          # nvcc
"""
    assert [name for name, _ in commands(".github/workflows/a.yml", text)] == ["nvcc", "nvidia-smi"]
    listed = b"t:\n  script:\n    - nvidia-smi -L\n    - 'nvcc a.cu'\n  stage: nvcc\n"
    assert commands(".gitlab-ci.yml", listed) == [("nvidia-smi", ("-L",)), ("nvcc", ("a.cu",))]


def test_a_recipe_gives_its_lines() -> None:
    text = b"NVCC = nvcc\nall: nvcc\n\t@nvidia-smi -L\n\t-$(NVCC) a.cu\n"
    assert [name for name, _ in commands("Makefile", text)] == ["nvidia-smi", "$(NVCC)"]


def test_instructions_give_fences_for_the_shell() -> None:
    text = b"""\
nvcc in prose
```bash
$ nvidia-smi
nvcc is output here
(env) $ pip install \\
    x
```
```python
nvcc
```
1. item
   ```
   nvcc --version
   ```
"""
    assert commands("README.md", text) == [
        ("nvidia-smi", ()),
        ("pip", ("install", "x")),
        ("nvcc", ("--version",)),
    ]
    rst = b"nvcc\n\n.. code-block:: bash\n\n   nvcc a.cu\n\nnvcc\n.. code:: python\n\n   nvcc\n"
    assert commands("a.rst", rst) == [("nvcc", ("a.cu",))]


def notebook(*cells: object) -> bytes:
    rows = [{"cell_type": "code", "source": cell} for cell in cells]
    rows.insert(1, {"cell_type": "markdown", "source": ["!nvcc"]})
    return json.dumps({"cells": rows}, indent=1).encode()


def test_a_command_or_block_that_goes_on_is_taken_once() -> None:
    assert shell_of(b"!nvcc \\\n!a\n!b\n") == b" nvcc \\\n!a\n b\n"
    text = b".. code:: sh\n\n  a\n  .. code:: sh\n\n    b\n\nc\n.. code:: sh\n\n  d\n"
    kept = ShellDocument.source_from("a.rst", text).text
    assert kept.split() == [b"a", b"..", b"code::", b"sh", b"b", b"d"]


def test_a_notebook_gives_lines_with_cell_and_line() -> None:
    data = notebook(
        ["import torch\n", "!nvidia-smi\n", "%pip install -q torch --index-url https://x/cu121"],
        ["out = !nvcc --version\n", "%env CUDA_VISIBLE_DEVICES=0\n", "x = 1 % 2\n", "y != nvcc"],
        "%%bash\nnvcc a.cu \\\n  -o b\n",
        "%%html\n!nvcc\n",
    )
    document = read("a.ipynb", data)
    found = document.commands(WORDS)
    places = [
        (document.source.cell_of(one.start), document.source.position(one.start)[0], one.name)
        for one in found
    ]
    assert places == [(0, 2, "nvidia-smi"), (0, 3, "pip"), (1, 1, "nvcc"), (2, 2, "nvcc")]
    offsets = document.source.offsets
    assert offsets is not None
    assert data[offsets[found[0].start] :].startswith(b"nvidia-smi")
    (variable,) = document.assignments(WORDS)
    assert (variable.name, variable.value) == ("CUDA_VISIBLE_DEVICES", "0")


def test_a_notebook_without_shell_is_not_parsed_and_a_broken_one_is_named() -> None:
    assert commands("a.ipynb", b"not json at all") == []
    with pytest.raises(ValueError, match="not valid JSON"):
        read("a.ipynb", b'{"cells": ["!nvcc')


def test_a_script_longer_than_people_write_is_named() -> None:
    with pytest.raises(ValueError, match="longer"):
        read("a.sh", b"nvcc\n" * 100_000)


@pytest.mark.parametrize(
    ("text", "guarded"),
    [
        (b"nvcc", False),
        (b"set -e; nvcc", False),
        (b"make && nvcc", False),
        (b"conda install cuda && nvcc", False),
        (b"nvcc || true", True),
        (b"if command -v nvcc; then nvcc; fi", True),
        (b'if [ "$(uname)" = Darwin ]; then a; else nvcc; fi', True),
        (b"if [ -f x ]; then nvcc; fi", False),
        (b"[ -n $GPU ] && nvcc", True),
        (b"case $1 in cuda) nvcc;; esac", True),
        (b"case $1 in a) nvcc;; esac", False),
    ],
)
def test_guards(text: bytes, guarded: bool) -> None:
    document = read("a.sh", text)
    last = [one for one in document.commands(re.compile(rb"nvcc")) if one.name == "nvcc"][-1]
    assert document.guarded(last.start, last.end) is guarded


NAMES = ["a.sh", "Dockerfile", ".github/workflows/a.yml", "Makefile", "README.md", "a.rst", ".env"]
PIECES = st.sampled_from(
    ["RUN ", "ENV A B\n", "```", "```sh\n", "\n", "\r\n", "\t@", "run: |\n", "  - run: x\n", "$ ",
     "nvcc", "\\\n", "# c\n", '["a", "b"]', "<<EOF\n", "EOF\n", "   ", "ü",
     ".. code-block:: sh\n\n"]
)  # fmt: skip


@given(st.sampled_from(NAMES), st.lists(PIECES, max_size=25))
def test_the_text_keeps_its_length_and_lines(path: str, pieces: list[str]) -> None:
    data = "".join(pieces).encode()
    source = ShellDocument.source_from(path, data)
    assert len(source.text) == len(data)
    assert [m.start() for m in re.finditer(rb"[\r\n]", source.text)] == [
        m.start() for m in re.finditer(rb"[\r\n]", data)
    ]
    for one in ShellDocument(source).commands(WORDS):
        assert 0 <= one.start < one.end <= len(data)


@given(st.lists(st.sampled_from([*"!%\n \\=ab", "%env ", "%%bash\n", "x = "]), max_size=30))
def test_a_cell_keeps_its_length(pieces: list[str]) -> None:
    cell = "".join(pieces).encode()
    assert len(shell_of(cell)) == len(cell)
