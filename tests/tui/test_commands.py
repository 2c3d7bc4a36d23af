"""The command line as a whole: exit statuses, wrong inputs, and the round trip of a patch."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tui.cli import run

PROGRAM = b"""\
import torch

model = torch.nn.Linear(2, 2).cuda()
x = torch.ones(1, 2).cuda()
torch.cuda.synchronize()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "train.py").write_bytes(PROGRAM)
    return folder


def test_scan_json_has_the_promised_form(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", str(project), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert set(found) == {"schema", "tool", "torch", "findings", "skipped", "summary"}
    assert found["summary"] == {"files": 1, "device": 3, "kernel": 0, "environment": 0}
    first = found["findings"][0]
    assert first["text"] == "torch.nn.Linear(2, 2).cuda()"
    assert (first["rule"], first["name"], first["layer"]) == ("D103", "cuda-method", "device")
    assert (first["line"], first["column"], first["end_line"], first["end_column"]) == (3, 9, 3, 37)
    assert first["decision"] == "open"
    assert first["cell"] is None
    assert first["path"] == "train.py"


def test_exit_zero(project: Path) -> None:
    assert run(["scan", str(project), "--exit-zero"]) == 0


def test_selecting_rules_and_layers(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["scan", str(project), "--select", "cuda-call", "--format", "json"]) == 1
    assert {f["rule"] for f in json.loads(capsys.readouterr().out)["findings"]} == {"D107"}
    assert run(["scan", str(project), "--layer", "kernel"]) == 0
    assert run(["scan", str(project), "--ignore", "D"]) == 0


def test_apply_and_undo_give_back_the_exact_bytes(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["apply", str(project), "--check"]) == 0
    assert (project / "train.py").read_bytes() == PROGRAM
    assert run(["apply", str(project)]) == 0
    changed = (project / "train.py").read_bytes()
    assert b".cuda()" not in changed
    assert b"if torch.cuda.is_available():\n    torch.cuda.synchronize()\n" in changed
    compile(changed, "train.py", "exec")
    capsys.readouterr()
    assert run(["diff", str(project)]) == 0
    assert capsys.readouterr().out == ""
    assert run(["undo", str(project), "--list"]) == 0
    assert "train.py" in capsys.readouterr().out
    assert run(["undo", str(project)]) == 0
    assert (project / "train.py").read_bytes() == PROGRAM
    assert run(["undo", str(project)]) == 1


def test_a_file_changed_after_the_apply_is_not_undone(project: Path) -> None:
    assert run(["apply", str(project)]) == 0
    mine = (project / "train.py").read_bytes() + b"# mine\n"
    (project / "train.py").write_bytes(mine)
    assert run(["undo", str(project)]) == 1
    assert (project / "train.py").read_bytes() == mine


@pytest.mark.parametrize(
    "arguments",
    [
        ["scan", "no-such-place"],
        ["no-such-place"],
        ["scan", "a-file"],
        ["scan", ".", "--select", "D999"],
        ["scan", ".", "--format", "xml"],
        ["explain", "D999"],
        ["check", ".", "--on", "mars", "--trust"],
        ["check", ".", "--only", "nothing", "--trust"],
        ["check", "."],
        ["export", ".", "-o", "snapshot.txt"],
        ["export", ".", "-o", "missing/snapshot.md"],
    ],
)
def test_wrong_use_is_one_sentence_and_status_two(
    project: Path,
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(project)
    (project / "a-file").write_text("text")
    assert run(arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert "Traceback" not in said.err
    last = said.err.strip().splitlines()[-1]
    assert last.startswith("cuda2mps: ")
    assert last.endswith((".", "?"))


@pytest.mark.skipif(os.name != "posix", reason="there is no such terminal")
def test_a_patch_on_a_terminal_cannot_harm_it(project: Path) -> None:
    (project / "train.py").write_bytes(
        b"import torch\nx = f('\x1b]0;a\x07\xc2\x9b2J\xff').cuda()\n"
    )
    outer, inner = os.openpty()
    command = [sys.executable, "-m", "tui.cli", "diff", str(project), "--review"]
    subprocess.run(command, stdin=subprocess.DEVNULL, stdout=inner, check=True)
    os.close(inner)
    shown = b""
    with contextlib.suppress(OSError):  # which says that the other end is closed
        while part := os.read(outer, 65536):
            shown += part
    os.close(outer)
    assert b"-x = f('\\x1b]0;a\\x07\\x9b2J\\xff').cuda()\r\n" in shown
    assert not set(shown) & set(b"\x1b\x07\x9b\xff")
    piped = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    assert b"-x = f('\x1b]0;a\x07\xc2\x9b2J\xff').cuda()\n" in piped.stdout


def test_odd_files_are_skipped_or_read_and_never_crash(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").unlink()
    (project / "binary.py").write_bytes(b"\x00\x01cuda" * 100)
    (project / "broken.py").write_bytes(b"def f(:\n    x.cuda()\n")
    (project / "new\nline[1].py").write_bytes(b"x.cuda()\n")
    (project / "bad.ipynb").write_bytes(b"{cuda")
    assert run(["scan", str(project), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {one["path"] for one in found["skipped"]} == {"binary.py", "broken.py", "bad.ipynb"}
    assert {one["path"] for one in found["findings"]} >= {"new\nline[1].py"}
    assert run(["scan", str(project)]) == 1
    assert "new\\nline[1].py" in capsys.readouterr().out


def test_without_a_terminal_the_summary_is_printed(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([str(project)]) == 0
    said = capsys.readouterr().out
    assert "3 findings in 1 file" in said
    assert "Undecided" in said
    assert "\x1b" not in said


@pytest.mark.parametrize("term", ["dumb", "xterm-256color"])
def test_a_pipe_gets_text_and_no_escape_sequence(project: Path, home: Path, term: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tui.cli", str(project)],
        env={"HOME": str(home), "TERM": term, "PATH": "/usr/bin:/bin"},
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert b"\x1b" not in done.stdout
    assert b"3 findings" in done.stdout


def test_check_passes_nothing_on_mps_without_a_mac(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if sys.platform == "darwin":
        pytest.skip("this machine is a Mac")
    run(["check", str(project), "--trust", "--python", sys.executable, "--format", "json"])
    said = json.loads(capsys.readouterr().out)
    states = {one["id"]: one for one in said["checklist"]}
    for item in ("mps-built", "mps-available", "mps-tensor"):
        state = states[f"environment.{item}"]
        assert state["status"] != "passed"
        assert "Linux" in state["note"]
    assert said["verdict"]["outcome"] == "undecided"


def test_a_check_needs_trust_where_nobody_can_answer(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["check", str(project), "--python", sys.executable]) == 2
    said = capsys.readouterr()
    assert sys.executable in said.err
    assert "--trust" in said.err
    assert not (project / ".cuda2mps" / "evidence").exists()


def test_version_is_quick_to_reach() -> None:
    code = "import sys; from tui.cli import run; run(['--version']); print(sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    for heavy in ("rich", "textual", "git", "tree_sitter", "torch", "jinja2"):
        assert f"'{heavy}'" not in done.stdout


def test_scan_imports_neither_textual_nor_torch(project: Path) -> None:
    code = (
        "import sys; from tui.cli import run; "
        f"run(['scan', {str(project)!r}]); print(sorted(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "'textual'" not in done.stdout
    assert "'torch'" not in done.stdout


def test_a_file_that_cannot_be_written_is_refused_by_the_trial_too(project: Path) -> None:
    (project / "train.py").chmod(0o444)
    assert run(["apply", str(project), "--check"]) == 1
    assert run(["apply", str(project)]) == 1
    assert (project / "train.py").read_bytes() == PROGRAM


@pytest.mark.parametrize("command", ["scan .", "diff .", "rules", "."])
@pytest.mark.parametrize(("end", "status"), [(">&-", (0, 1)), (">/dev/full", (2,))])
def test_an_output_that_takes_nothing_is_no_traceback(
    project: Path, command: str, end: str, status: tuple[int, ...]
) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = subprocess.run(
        ["sh", "-c", f'"$0" -m tui.cli {command} {end} </dev/null', sys.executable],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        cwd=project,
        stderr=subprocess.PIPE,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode in status
    assert "Traceback" not in done.stderr
    assert "Exception ignored" not in done.stderr


def test_a_repository_without_git_is_scanned_and_not_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / ".git").mkdir()
    monkeypatch.setenv("PATH", str(project))
    assert run(["scan", str(project)]) == 1
    capsys.readouterr()
    assert run(["apply", str(project)]) == 2
    assert "install git" in capsys.readouterr().err
    assert (project / "train.py").read_bytes() == PROGRAM
    assert not (project / ".cuda2mps").exists()


def test_what_is_nested_too_deeply_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "deep.py").write_text("x = y" + ".cuda()" * 2000 + "\n")
    assert run(["scan", str(project), "--format", "json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert [one["path"] for one in found["skipped"]] == ["deep.py"]
    assert {one["path"] for one in found["findings"]} == {"train.py"}
