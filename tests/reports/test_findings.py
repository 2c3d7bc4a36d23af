"""Scan results as text, SARIF and annotations."""

import json
from pathlib import Path

import pytest

from reports import findings
from reports.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    (tmp_path / "a,b.py").write_text('é = "ü"; x.cuda()\n')
    (tmp_path / "k.cu").write_text("__global__ void add(float *a) { a[0] = 1; }\n")
    (tmp_path / "evil\x1b[31m.py").write_text("y.cuda()\n")
    opened = Session.open(tmp_path)
    opened.scan()
    return opened


def test_text_names_layers_files_and_places(session: Session) -> None:
    text = findings.as_text(session, 80, False)
    assert "Device calls (2)" in text
    assert "Operators and kernels (1)" in text
    assert "evil\\x1b[31m.py" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 80
    assert text.rstrip().endswith("3 findings in 3 files")


def test_text_cuts_what_is_longer_than_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("f(" + "'\x1b', " * 50 + "0).cuda()\n", newline="")
    opened = Session.open(tmp_path)
    opened.scan()
    text = findings.as_text(opened, 60, False)
    [line] = [one for one in text.splitlines() if opened.findings[0].rule in one]
    assert len(line) == 60
    assert line.endswith("\u2026")
    assert "f('\\x1b', " in line


def test_sarif_points_at_characters_and_escapes_paths(session: Session) -> None:
    log = json.loads(findings.as_sarif(session))
    assert log["version"] == "2.1.0"
    [one] = log["runs"]
    assert one["columnKind"] == "unicodeCodePoints"
    first = one["results"][0]
    place = first["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "a%2Cb.py"
    assert place["region"] == {"startLine": 1, "startColumn": 10, "endLine": 1, "endColumn": 18}
    driver = one["tool"]["driver"]
    assert driver["rules"][first["ruleIndex"]]["id"] == first["ruleId"] == "D103"
    assert first["level"] == "error"


def test_annotations_cannot_be_broken_out_of(session: Session) -> None:
    lines = findings.as_github(session).splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("::error file=a%2Cb.py,line=1,endLine=1,col=10,endColumn=18,title=")
