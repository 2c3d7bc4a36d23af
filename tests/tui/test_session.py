"""The whole session on the demo, by its keys."""

import json
import sys
import time

import pytest
from textual.widgets import Input

from project.vocabulary import State
from reports.session import Session
from tests.tui.conftest import SIZES, app_on, notices, screen_of, settle, shown
from tui.screens.checks import ChecksWindow
from tui.screens.dialog import Notice, Question
from tui.screens.export import ExportAsked

# Where the session opens, no finding has a rewrite; this goes to one that has.
TO_REWRITE = ("end", "home", "down", "down", "down", "down", "down")


async def go_to(pilot, path, line):
    screen = screen_of(pilot)
    found = next(o for o in screen.board.order() if o.path == path and o.line == line)
    screen.tree_view.go_to(screen.board.key_of(found.id))
    await settle(pilot)
    return found


def bytes_of(root):
    return {
        str(file.relative_to(root)): file.read_bytes()
        for file in root.rglob("*")
        if file.is_file() and ".git" not in file.parts
    }


@pytest.mark.parametrize("size", SIZES)
async def test_open_accept_apply_undo_export_quit_and_come_back(demo, size):
    before = bytes_of(demo)
    async with app_on(demo).run_test(size=size) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        first = await go_to(pilot, "evaluate.py", 29)
        await pilot.press("y")
        await settle(pilot)
        assert screen.finding.line == 33
        await pilot.press("y")
        await settle(pilot)
        assert screen.session.state(first) is State.ACCEPTED

        await pilot.press("p")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Question)
        assert "2 rewrites · 1 hunk · 1 file" in shown(pilot)
        assert bytes_of(demo) == before
        await pilot.press("enter")
        await settle(pilot)
        assert isinstance(pilot.app.screen, Notice)
        assert "2 rewrites applied" in shown(pilot)
        assert {name for name, data in bytes_of(demo).items() if before[name] != data} == {
            "evaluate.py"
        }
        await pilot.press("escape")
        await settle(pilot)
        assert "±changed" in shown(pilot)
        assert first.id not in screen.board.findings

        await pilot.press("P")
        await settle(pilot)
        assert bytes_of(demo) == before
        assert "✓clean" in shown(pilot)
        assert screen.board.state(first.id) is State.ACCEPTED

        await pilot.press("x")
        await pilot.pause()
        assert isinstance(pilot.app.screen, ExportAsked)
        pilot.app.screen.query_one(Input).value = "out.json"
        await pilot.press("enter")
        await settle(pilot)
        exported = json.loads((demo.parent / "out.json").read_text(encoding="utf-8"))
        assert exported["verdict"]["outcome"] == "undecided"
        assert any("out.json" in text for text in notices(pilot))
        await pilot.press("q")
    assert not pilot.app.is_running

    again = Session.open(demo)
    again.scan()
    assert again.decisions[first.id].state is State.ACCEPTED
    assert len(again.decisions) == 2
    async with app_on(demo).run_test(size=size) as pilot:
        await settle(pilot)
        assert screen_of(pilot).board.state(first.id) is State.ACCEPTED
        await pilot.press("u")
        await settle(pilot)
    # What was applied once is taken back by undoing the apply, and never by a decision's undo.
    assert len(Session.open(demo).decisions) == 2


async def test_findings_stream_in_while_the_rest_is_read(demo, monkeypatch):
    real = Session.scan_files

    def slow(self):
        for report in real(self):
            time.sleep(0.03)
            yield report

    monkeypatch.setattr(Session, "scan_files", slow)
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        screen = screen_of(pilot)
        seen = set()
        while screen._scanning:
            seen.add(len(screen.board.findings))
            await pilot.pause(0.02)
        assert len(seen) > 3
        assert max(seen) < len(screen.session.findings) or len(seen) > 5
        assert len(screen.board.findings) == len(screen.session.findings)


async def test_a_decision_made_during_a_second_scan_is_kept(demo, monkeypatch):
    real = Session.scan_files

    def slow(self):
        for report in real(self):
            time.sleep(0.08)
            yield report

    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(Session, "scan_files", slow)
        screen = screen_of(pilot)
        found = await go_to(pilot, "evaluate.py", 29)
        await pilot.press("r")
        await pilot.pause(0.05)
        await pilot.press("y")
        assert screen._scanning
        assert screen.board.state(found.id) is State.ACCEPTED
        await settle(pilot)
        assert screen.session.state(found) is State.ACCEPTED
        assert screen.board.state(found.id) is State.ACCEPTED
        assert screen.finding.line == 33


async def test_a_decision_made_during_a_second_scan_survives_quitting(demo, monkeypatch):
    real = Session.scan_files

    def slow(self):
        for report in real(self):
            time.sleep(0.02)
            yield report

    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(Session, "scan_files", slow)
        found = await go_to(pilot, "evaluate.py", 29)
        await pilot.press("r")
        await pilot.pause(0.05)
        await pilot.press("y", "q")
    assert Session.open(demo).decisions[found.id].state is State.ACCEPTED


async def test_keep_asks_for_a_reason_and_offers_earlier_ones(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        first = await go_to(pilot, "evaluate.py", 29)
        await pilot.press("k", "enter")
        await settle(pilot)
        assert "Say why" in shown(pilot)
        assert screen.session.state(first) is State.OPEN
        await pilot.press(*"yn k", "enter")
        await settle(pilot)
        assert screen.session.decisions[first.id].reason == "yn k"
        second = screen.finding
        await pilot.press("k")
        await settle(pilot)
        assert "yn k" in shown(pilot)
        await pilot.press("down", "enter")
        await settle(pilot)
        assert screen.session.decisions[second.id].reason == "yn k"
        third = screen.finding
        await pilot.press("k", "x", "escape")
        await settle(pilot)
        assert screen.session.state(third) is State.OPEN
        assert len(screen.session.decisions) == 2


async def test_a_file_is_accepted_at_once_after_a_question(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        await go_to(pilot, "evaluate.py", 29)
        screen.tree_view.go_to(("device", "evaluate.py"))
        wanted = {
            one.id for one in screen.board.acceptable(screen.board.under(screen.tree_view.row.key))
        }
        assert len(wanted) > 2
        await pilot.press("y", "y", "y")
        await settle(pilot)
        assert f"Accept {len(wanted)} rewrites in evaluate.py?" in shown(pilot)
        assert not screen.session.decisions
        await pilot.press("enter")
        await settle(pilot)
        assert {*screen.session.decisions} == wanted
        await pilot.press("u")
        await settle(pilot)
        assert not screen.session.decisions


async def test_many_offers_file_rule_layer_and_everything(demo):
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        found = await go_to(pilot, "evaluate.py", 29)
        same = {one.id for one in screen.board.order() if one.rule == found.rule}
        await pilot.press("a", "down", "n")
        await settle(pilot)
        assert {*screen.session.decisions} == same
        assert {one.state for one in screen.session.decisions.values()} == {State.DECLINED}
        await pilot.press("U", "u", "u")
        await settle(pilot)
        assert any("no decision to make again" in text for text in notices(pilot))
        assert any("no decision to take back" in text for text in notices(pilot))


async def test_a_key_that_is_not_possible_says_why_and_decides_nothing(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await go_to(pilot, "evaluate.py", 34)
        await pilot.press("y", "p", "P")
        await settle(pilot)
        said = " ".join(notices(pilot))
        for word in ("no rewrite for this place", "Nothing is accepted", "Nothing is applied"):
            assert word in said
        assert not screen_of(pilot).session.decisions


async def test_a_file_that_changed_outside_is_not_applied_over(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await go_to(pilot, "evaluate.py", 29)
        await pilot.press("y")
        await settle(pilot)
        changed = (demo / "evaluate.py").read_bytes() + b"# mine\n"
        (demo / "evaluate.py").write_bytes(changed)
        await pilot.press("p")
        await settle(pilot)
        assert pilot.app.screen is screen_of(pilot)
        assert any("evaluate.py" in text for text in notices(pilot))
        assert (demo / "evaluate.py").read_bytes() == changed
        (demo / "evaluate.py").unlink()
        await go_to(pilot, "evaluate.py", 33)
        await pilot.press("s", "r")
        await settle(pilot)
        screen = screen_of(pilot)
        assert not any(one.path == "evaluate.py" for one in screen.board.order())
        assert any("has changed, look again: evaluate.py:29" in text for text in notices(pilot))


async def test_checks_ask_then_show_each_line_and_fill_the_checklist(demo, monkeypatch):
    # The environment that runs the tests has PyTorch.
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        await pilot.press("c")
        await settle(pilot)
        window = pilot.app.screen
        assert isinstance(window, ChecksWindow)
        text = shown(pilot)
        for word in ("interpreter", "command", "host"):
            assert word in text
        assert window.run.phase == "asking"
        await pilot.press("escape")
        await settle(pilot)
        assert not screen.session.evidence
        await pilot.press("c")
        await settle(pilot)
        await pilot.press("enter")
        for _turn in range(600):
            await pilot.pause(0.1)
            if screen._run.phase == "done":
                break
        await settle(pilot)
        assert screen._run.phase == "done"
        assert screen._run.problem == ""
        assert {one.item for one in screen.session.evidence} == set(screen._run.plan.items)
        assert "passed" in shown(pilot)
        await pilot.press("escape")
        await settle(pilot)
        assert "torch 2." in shown(pilot)


async def test_a_running_check_can_be_stopped(demo, monkeypatch):
    from checks import run

    def waiting(workspace, plan, *, cancelled, progress, timeout=60.0):
        progress(run.Progress(plan.items[0], "running", None, "x"))
        while not cancelled():
            time.sleep(0.01)
        return []

    monkeypatch.setattr(run, "run", waiting)
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("c")
        await settle(pilot)
        await pilot.press("enter")
        await settle(pilot)
        screen = screen_of(pilot)
        assert screen._run.phase == "running"
        await pilot.press("escape", "down")
        await settle(pilot)
        assert pilot.app.screen is screen
        await pilot.press("c", "shift+tab", "enter")
        for _turn in range(100):
            await pilot.pause(0.05)
            if screen._run.phase == "done":
                break
        assert screen._run.phase == "done"
        assert not screen.session.evidence


async def test_an_unknown_editor_is_a_message(demo, monkeypatch):
    monkeypatch.setenv("EDITOR", "no-such-editor")
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("e")
        await settle(pilot)
        assert any("no-such-editor was not found" in text for text in notices(pilot))


async def test_an_export_with_an_unknown_suffix_is_a_message(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("x")
        await pilot.pause()
        pilot.app.screen.query_one(Input).value = "out.docx"
        await pilot.press("enter")
        await settle(pilot)
        assert not (demo.parent / "out.docx").exists()
        assert any("docx" in text for text in notices(pilot))


async def test_an_export_asks_before_it_replaces(demo):
    (demo.parent / "cuda2mps-tremor.md").write_text("mine")
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("x", "enter")
        await settle(pilot)
        assert (demo.parent / "cuda2mps-tremor.md").read_text() == "mine"
        await pilot.press("enter")
        await settle(pilot)
        assert "Acceptance" in (demo.parent / "cuda2mps-tremor.md").read_text(encoding="utf-8")


async def test_panes_are_pages_when_narrow_and_stand_side_by_side_when_wide(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        panes = (screen.findings_pane, screen.code_pane, screen.checklist_pane)
        for key, pane in zip("123", panes, strict=True):
            await pilot.press(key)
            await pilot.pause()
            assert [one for one in panes if one.display] == [pane]
            assert "Acceptance: undecided" in shown(pilot)
        await pilot.press("tab")
        await pilot.pause()
        assert [one for one in panes if one.display] == [panes[0]]
        await pilot.resize_terminal(160, 48)
        await settle(pilot)
        assert all(one.display for one in panes)
        await pilot.resize_terminal(110, 30)
        await settle(pilot)
        assert [one.display for one in panes] == [True, True, False]
        assert "Acceptance: undecided" in shown(pilot)


async def test_the_filter_leaves_what_has_the_words(demo):
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        total = len(screen.board.order())
        await pilot.press("slash", *"train.py safe", "enter")
        await settle(pilot)
        found = screen.board.order()
        assert found
        assert all(one.path.endswith("train.py") and one.fix == "safe" for one in found)
        assert screen.focused is screen.tree_view
        await pilot.press("escape")
        await settle(pilot)
        assert len(screen.board.order()) == total


async def test_the_mouse_can_move_fold_and_decide(demo):
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        await pilot.click(screen.tree_view, offset=(12, 5))
        await settle(pilot)
        assert (screen.finding.path, screen.finding.line) == ("evaluate.py", 29)
        await pilot.click("HintsBar", offset=(3, 0))
        await settle(pilot)
        assert len(screen.session.decisions) == 1
        rows = len(screen.board.rows())
        await pilot.click(screen.tree_view, offset=(2, 3))
        await settle(pilot)
        assert len(screen.board.rows()) < rows
