"""A project that means harm is scanned, and nothing comes of it."""

import json
import os
import pickle
import time
from pathlib import Path

import pytest

from analyzers import native
from analyzers.documents import notebook
from analyzers.examine import examine
from analyzers.registry import rules
from benchmarks import hostile

COUNT = 300


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody's git configuration but the repository's own."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return hostile.write(tmp_path / "hostile", COUNT, seed=7)


def test_a_scan_of_a_hostile_project_does_no_harm(root: Path) -> None:
    outcome = hostile.examine(root)
    assert outcome.harm() == []
    assert outcome.files >= COUNT
    assert outcome.findings > 100
    assert outcome.skipped > 10


def test_the_traps_are_armed(root: Path) -> None:
    trace = root.parent / "trace"
    assert list(trace.iterdir()) == []
    hostile.git(root, "status")
    hostile.git(root, "diff", "--ext-diff", "--textconv")
    assert {"core.fsmonitor", "filter.x.clean"} <= {path.name for path in trace.iterdir()}
    pickle.loads((root / "run.pkl").read_bytes())
    assert (trace / "pickle").exists()
    exec((root / "setup.py").read_text(encoding="utf-8").replace("from setuptools", "#"))
    assert (trace / "opened").exists()


HUGE = "9" * 5_000


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", f"torch=={HUGE}.7.1\ncupy-cuda12x\n"),
        ("pyproject.toml", f'[project]\ndependencies = ["torch<{HUGE}", "cupy-cuda12x"]\n'),
        (
            "pyproject.toml",
            f'[tool.poetry.dependencies]\ntorch = "^{HUGE}"\nnumpy = "^0.{HUGE}"\n'
            'cupy-cuda12x = "*"\n',
        ),
        (
            "environment.yml",
            f"dependencies:\n  - pytorch=1.{HUGE}\n  - python=3.{HUGE}\n  - pytorch-cuda\n",
        ),
        ("a.py", f'os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "{HUGE}"\nmodel.cuda()\n'),
        ("a.py", f'torch.device("cuda:{HUGE}")\ntorch.device("cuda", {HUGE})\n'),
        ("a.py", f"x.cuda({HUGE})\nx.cuda(\u00b2)\nx.to(device={HUGE})\n"),
    ],
)
def test_a_number_too_long_for_python_stops_nothing(path: str, text: str) -> None:
    report = examine(path, text.encode(), rules())
    assert report.findings


def _notebook(source: str) -> str:
    return json.dumps({"cells": [{"cell_type": "code", "source": source}]})


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("requirements.txt", ("torch" + ",".join(f">={i}" for i in range(3_000)) + "\n") * 20),
        ("README.md", "```sh\n" + "$ nvidia-smi \\\n" * 30_000 + "```\n"),
        ("run.sh", "nvidia-smi | " * 20_000),
        ("README.md", "cuda\n```" + "a" * 60_000 + "`\n"),
        ("README.md", "cuda\n```" + " " * 60_000 + "`\n"),
        ("README.md", "cuda\n" + "~" * 60_000 + "`\n"),
        ("a.rst", "cuda\n" + "".join(f"{' ' * i}.. code:: sh\n" for i in range(1_500))),
        ("a.ipynb", _notebook("!nvidia-smi \\\n" * 30_000)),
        ("a.py", 'x = """\n' + "cuda\n" * 30_000 + '"""\nx.cuda()\n'),
        ("a.py", "x.cuda()  # cuda2mps: keep" + " " * 60_000 + ".\n"),
        ("requirements.txt", "cupy-cuda12x # cuda2mps: keep\n" * 5_000),
        ("setup.py", 'os.environ["FORCE_CUDA"] = "' + "9" * 60_000 + '.cu"'),
    ],
    ids=[
        "specifiers",
        "prompts",
        "pipes",
        "language",
        "blanks",
        "tildes",
        "blocks",
        "magics",
        "words",
        "reason",
        "comments",
        "source",
    ],
)
def test_what_grows_by_the_square_is_not_waited_for(path: str, text: str) -> None:
    start = time.process_time()
    examine(path, text.encode(), rules())
    assert time.process_time() - start < 10


def test_many_libraries_and_bindings_are_matched_at_once() -> None:
    text = "".join(f'TORCH_LIBRARY(l{i}, m) {{ m.def("f{i}", &f); }}\n' for i in range(20_000))
    start = time.process_time()
    bindings = native.read([("a.cpp", text.encode())]).bindings
    assert time.process_time() - start < 10
    assert [(one.library, one.name) for one in bindings[-1:]] == [("l19999", "f19999")]
    assert len(bindings) == 20_000


def test_a_notebook_of_escapes_is_read_at_its_places() -> None:
    source = "a" + "\\u00e9\\n" * 3 + "x.cuda()\\n" + '\\ud83d\\ude00\\ud800\\"' + "z" * 5
    data = f'{{"cells": [{{"cell_type": "code", "source": ["{source}"]}}]}}'.encode()
    read = notebook.source_of("a.ipynb", data)
    assert read.text.decode() == "a" + "\u00e9\n" * 3 + 'x.cuda()\n\U0001f600?"' + "z" * 5
    for offset, byte in enumerate(read.text):
        spelled = data[read.offsets[offset] : read.ends[offset]]
        assert spelled == bytes([byte]) or spelled.startswith(b"\\")
    assert len(read.offsets) == len(read.text) + 1


def test_a_fallback_of_zeros_alone_is_no_fallback() -> None:
    text = 'os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "{}"\n'
    zeros = examine("a.py", text.format("0" * 5_000).encode(), rules())
    tens = examine("a.py", text.format("10").encode(), rules())
    assert (len(zeros.findings), len(tens.findings)) == (0, 1)


def test_harm_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each kind of harm, done on purpose, is told."""
    root = hostile.write(tmp_path / "hostile", 30, seed=7)

    def harmful(workspace, options, paths, then):
        (path,) = paths
        if path == "setup.py":
            raise ValueError("as meant")
        if path == "run.pkl":
            pickle.loads((root / path).read_bytes())
        if path == "conftest.py":
            (root / path).write_bytes(b"x")
        return iter(())

    monkeypatch.setattr(hostile, "scan", harmful)
    monkeypatch.setattr(hostile, "SECONDS", -1.0)
    monkeypatch.setattr(hostile.findings, "as_github", lambda session: "\x1b[2J\n")
    outcome = hostile.examine(root)
    assert outcome.crashes[0].splitlines()[-1] == "ValueError: as meant"
    assert outcome.traces == ["pickle"]
    assert outcome.changed == ["conftest.py"]
    assert len(outcome.slow) == outcome.files
    assert outcome.controls == ["<lambda>: '\\x1b'"]


def test_a_seed_makes_the_same_files_again(tmp_path: Path) -> None:
    one, two, other = (list(hostile.mutants(seed, 80, tmp_path)) for seed in (3, 3, 4))
    assert one == two
    assert one != other
    assert len({path for path, _data in one}) == 80
