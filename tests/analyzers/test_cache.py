"""Reports that are remembered from one scan to the next."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from analyzers import cache
from analyzers import scan as scanning
from analyzers.examine import FileReport
from analyzers.scan import ScanOptions, scan
from project.workspace import Workspace
from rewriters.propose import Proposing, Style

OLD = time.time() - 100


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder / "a.py", "import torch\nx = torch.ones(1).cuda()  # cuda2mps: keep\n")
    write(folder / "b.py", "import torch\ny.cuda()\n# cuda2mps: keep\n")
    write(folder / "c.ipynb", "not a notebook")
    write(folder / "quiet.py", "x = 1\n")
    return folder


def write(file: Path, text: str, at: float = OLD) -> None:
    file.write_text(text)
    os.utime(file, (at, at))


def look(folder: Path, **options: object) -> list[FileReport]:
    asked = replace(ScanOptions(), **options)  # type: ignore[arg-type]
    return list(scan(Workspace.open(folder), asked, then=Proposing(Style())))


class Counted:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.paths: list[str] = []
        really = scanning.examine

        def counting(path: str, data: bytes, chosen: object) -> FileReport:
            self.paths.append(path)
            return really(path, data, chosen)  # type: ignore[arg-type]

        monkeypatch.setattr(scanning, "examine", counting)


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the change times of the files, which nobody can set, were long ago."""
    monkeypatch.setattr(cache, "_RACY", -(10**12))


@pytest.mark.usefixtures("settled")
def test_a_second_scan_reads_nothing_and_says_the_same(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = look(project)
    assert any(report.proposals for report in first)
    counted = Counted(monkeypatch)
    assert look(project) == first
    assert counted.paths == []
    assert sorted(one.name for one in project.iterdir()) == ["a.py", "b.py", "c.ipynb", "quiet.py"]


@pytest.mark.usefixtures("settled")
def test_one_edit_is_one_file(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    look(project)
    write(project / "quiet.py", "x.cuda()\n")
    counted = Counted(monkeypatch)
    found = {report.path: len(report.findings) for report in look(project)}
    assert counted.paths == ["quiet.py"]
    assert found["quiet.py"] == 1


@pytest.mark.usefixtures("settled")
def test_a_change_that_keeps_size_and_time_is_seen(project: Path) -> None:
    look(project)
    write(project / "b.py", "import torch\ny.cudb()\n# cuda2mps: keep\n")
    assert [r.findings for r in look(project) if r.path == "b.py"] == [()]


@pytest.mark.usefixtures("settled")
def test_a_touched_file_is_known_by_its_content(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = look(project)
    os.utime(project / "a.py", (OLD + 1, OLD + 1))
    counted = Counted(monkeypatch)
    assert look(project) == first
    assert counted.paths == []


def test_a_file_that_just_changed_is_read_again(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look(project)
    [file] = (project.parent / "cache").rglob("*.json")
    assert {one[0] for one in json.loads(file.read_text()).values()} == {None}


@pytest.mark.usefixtures("settled")
def test_other_options_have_other_reports(project: Path) -> None:
    look(project)
    assert all(not report.findings for report in look(project, select=("D101",)))
    assert any(report.findings for report in look(project))


@pytest.mark.usefixtures("settled")
@pytest.mark.parametrize(
    "damage", [b"", b"[]", b"{}", b'{"a.py":[1]}', b"\xff", b'{"a.py":[null,"",1]}']
)
def test_a_damaged_cache_is_no_cache(project: Path, damage: bytes) -> None:
    first = look(project)
    [file] = (project.parent / "cache").rglob("*.json")
    file.write_bytes(damage)
    assert look(project) == first


def test_no_cache_writes_nothing(project: Path) -> None:
    look(project, cache=False)
    assert not (project.parent / "cache").exists()


def test_a_cache_that_cannot_be_written_is_no_error(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocked = project.parent / "blocked"
    blocked.write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert any(report.findings for report in look(project))


@pytest.mark.usefixtures("settled")
def test_files_that_are_gone_are_forgotten(project: Path) -> None:
    look(project)
    (project / "a.py").unlink()
    look(project)
    [file] = (project.parent / "cache").rglob("*.json")
    assert "a.py" not in json.loads(file.read_text())
