import json
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from checks.plan import PROBE
from checks.probe import environment as probe

ROOT = Path.home() / ".pyenv" / "versions"
OTHERS = [
    path
    for minor in ("3.8", "3.9", "3.13")
    for path in sorted(ROOT.glob(f"{minor}.*/bin/python"))[:1]
]


def answers(python, tmp_path, *questions, **options):
    channel = tmp_path / "channel"
    command = [python, str(PROBE), "--channel", str(channel)]
    done = subprocess.run(
        [*command, "--packages", "pip", "--questions", *questions],
        capture_output=True,
        timeout=60,
        check=False,
        **options,
    )
    lines = [json.loads(line) for line in channel.read_text().splitlines()]
    return done, lines


@pytest.mark.parametrize("python", [sys.executable, *map(str, OTHERS)])
def test_one_line_a_question_and_nothing_printed(python, tmp_path):
    done, lines = answers(python, tmp_path, "system", "python", "packages", "torch_installed")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert [line["begin"] for line in lines[:-1:2]] == [
        "system", "python", "packages", "torch_installed"]  # fmt: skip
    told = {line["question"]: line["answer"] for line in lines if "question" in line}
    assert told["python"]["executable"] == python
    assert list(told["packages"]["versions"]) == ["pip"]
    assert lines[-1] == {"end": True}


@pytest.mark.parametrize("python", OTHERS)
def test_an_old_python_without_torch_says_so_in_each_answer(python, tmp_path):
    _done, lines = answers(str(python), tmp_path, "torch", "mps_built", "mps_tensor", "cuda")
    errors = [line.get("error", "") for line in lines if "question" in line]
    assert len(errors) == 4
    assert all(error.startswith("ModuleNotFoundError: No module named 'torch'") for error in errors)


def fake_torch(folder: Path, body: str) -> dict[str, str]:
    (folder / "torch.py").write_text(body)
    return {"PYTHONPATH": str(folder), "PATH": ""}


def test_a_torch_that_ends_the_process_leaves_the_earlier_answers(tmp_path):
    env = fake_torch(
        tmp_path,
        "__version__ = '2.9'\n__file__ = 'x'\nclass version: cuda = None\n"
        "def ones(*a, **k):\n    import os; print('bye', flush=True); os._exit(7)\n",
    )
    done, lines = answers(sys.executable, tmp_path, "torch", "mps_tensor", "system", env=env)
    assert done.returncode == 7
    assert done.stdout == b"bye\n"
    assert lines[-1] == {"begin": "mps_tensor"}
    assert lines[1]["answer"]["version"] == "2.9"


@pytest.mark.parametrize("how", ["raise SystemExit(3)", "raise RuntimeError('no')", "1 / 0"])
def test_a_torch_that_fails_to_import_is_an_error_and_no_end(how, tmp_path):
    env = fake_torch(tmp_path, how)
    done, lines = answers(sys.executable, tmp_path, "torch", "python", env=env)
    assert done.returncode == 0
    assert "error" in lines[1]
    assert lines[3]["answer"]["executable"] == sys.executable


def test_a_torch_before_mps_is_an_answer(tmp_path):
    env = fake_torch(tmp_path, "class backends: pass\n")
    _done, lines = answers(sys.executable, tmp_path, "mps_built", env=env)
    assert lines[1]["answer"]["value"] is False


def test_nothing_beside_the_probe_shadows_a_module_of_theirs(tmp_path):
    copy = tmp_path / "here" / "environment.py"
    copy.parent.mkdir()
    copy.write_bytes(PROBE.read_bytes())
    (copy.parent / "argparse.py").write_text("raise SystemExit('shadowed')")
    channel = tmp_path / "channel"
    done = subprocess.run(
        [sys.executable, str(copy), "--channel", str(channel), "--questions", "system"],
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert '"end"' in channel.read_text()


def test_an_import_happens_in_a_process_of_its_own():
    told = probe.ask_import("pytest")
    assert told["exit"] == 0
    assert "pytest" in told["modules"]
    assert probe.ask_import("no-such-package-here") == {"installed": False}


THIN_ARM = struct.pack("<II", 0xFEEDFACF, 0x0100000C) + bytes(24)
THIN_X86 = struct.pack("<II", 0xFEEDFACF, 0x01000007) + bytes(24)
FAT = struct.pack(">II", 0xCAFEBABE, 2) + b"".join(
    struct.pack(">IIIII", kind, 0, 4096, 10, 12) for kind in (0x01000007, 0x0100000C)
)
FAT_64 = struct.pack(">II", 0xCAFEBABF, 1) + struct.pack(">IIQQII", 0x01000007, 0, 64, 1, 1, 0)


@pytest.mark.parametrize(
    ("data", "kinds"),
    [
        (THIN_ARM, [0x0100000C]),
        (THIN_X86, [0x01000007]),
        (FAT, [0x01000007, 0x0100000C]),
        (FAT_64, [0x01000007]),
        (struct.pack(">II", 0xCAFEBABE, 0xFFFFFFFF), []),
        (b"\x7fELF" + bytes(60), []),
        (b"", []),
        (b"\xcf\xfa", []),
    ],
)
def test_the_processors_of_a_mach_o_file_are_read_from_its_head(data, kinds, tmp_path):
    """Constructed from Apple's documented headers; none is a library from a Mac."""
    file = tmp_path / "x.so"
    file.write_bytes(data)
    assert probe.architectures(file) == kinds
    assert probe.architectures(tmp_path / "absent.so") == []
