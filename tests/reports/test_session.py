"""A session: decisions, patches, applies, and what survives it."""

from pathlib import Path

import pytest

from project.errors import Refused
from project.vocabulary import Fix, State
from reports.session import Session

PROGRAM = b"import torch\r\nx = torch.ones(1).cuda()\r\ny = x.is_cuda\r\n"


def opened(folder: Path) -> Session:
    session = Session.open(folder)
    session.scan()
    return session


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.py").write_bytes(PROGRAM)
    return tmp_path


def test_a_findings_grade_is_that_of_its_proposal(folder: Path) -> None:
    session = opened(folder)
    assert {one.rule: one.fix for one in session.findings} == {"D103": Fix.SAFE, "D111": Fix.NONE}
    assert set(session.proposals) == {session.findings[0].id}


def test_only_what_has_a_proposal_can_be_accepted(folder: Path) -> None:
    session = opened(folder)
    ids = [one.id for one in session.findings]
    assert session.decide(ids, State.ACCEPTED) == ids[:1]
    assert session.state(session.findings[1]) is State.OPEN


def test_decisions_survive_and_can_be_taken_back_later(folder: Path) -> None:
    session = opened(folder)
    first = session.findings[0]
    session.decide([first.id], State.KEPT, "the cluster stays")
    again = opened(folder)
    assert again.decisions[first.id].state is State.KEPT
    assert again.recent_reasons() == ["the cluster stays"]
    assert again.undo_decision() == [first.id]
    assert opened(folder).state(first) is State.OPEN


def test_apply_then_undo_gives_back_the_bytes(folder: Path) -> None:
    session = opened(folder)
    session.decide([session.findings[0].id], State.ACCEPTED)
    chosen = session.chosen(accepted_only=True)
    patch = session.patch(chosen)
    assert patch.startswith(b"diff --git a/a.py b/a.py\n")
    assert session.apply(chosen) is not None
    changed = (folder / "a.py").read_bytes()
    assert changed.count(b"\r\n") == changed.count(b"\n") == 3
    session.scan()
    assert [one.rule for one in session.findings] == ["D101", "D111"]
    session.undo_apply()
    assert (folder / "a.py").read_bytes() == PROGRAM
    session.scan()
    assert session.state(session.findings[0]) is State.ACCEPTED


def test_a_file_changed_after_the_scan_is_refused(folder: Path) -> None:
    session = opened(folder)
    proposals = session.chosen()
    (folder / "a.py").write_bytes(b"# new line\r\n" + PROGRAM)
    with pytest.raises(Refused, match=r"a\.py"):
        session.apply(proposals)
    assert (folder / "a.py").read_bytes() == b"# new line\r\n" + PROGRAM


def test_a_decision_whose_code_has_gone_is_an_orphan(folder: Path) -> None:
    session = opened(folder)
    session.decide([session.findings[0].id], State.DECLINED)
    (folder / "a.py").write_bytes(b"x = 1\n")
    session.scan()
    assert [one.path for one in session.orphans()] == ["a.py"]


def test_code_that_comes_back_after_an_apply_is_open_again(folder: Path) -> None:
    session = opened(folder)
    session.apply(session.chosen())
    (folder / "a.py").write_bytes(PROGRAM)
    session.scan()
    assert session.state(session.findings[0]) is State.OPEN
    assert [one.finding for one in session.chosen()] == [session.findings[0].id]
