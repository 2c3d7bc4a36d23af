import inspect
import re

import pytest

from project.vocabulary import State
from tests.tui.conftest import app_on, screen_of, settle, shown
from tui.actions import ACTIONS, BY_ID, GROUPS, Situation, keys_markdown
from tui.actions import shown as shown_key
from tui.screens.triage import TriageScreen


def test_ids_and_keys_are_used_once():
    assert len(BY_ID) == len(ACTIONS)
    keys = [key for action in ACTIONS for key in action.keys]
    assert len(set(keys)) == len(keys)
    assert {action.group for action in ACTIONS} == set(GROUPS)


def test_every_action_does_something_and_nothing_else_is_bound():
    done = {name[4:] for name, _one in inspect.getmembers(TriageScreen) if name.startswith("_do_")}
    assert done == set(BY_ID)
    bound = {
        match.group(1)
        for binding in TriageScreen.BINDINGS
        if (match := re.fullmatch(r"act\('(\w+)'\)", binding.action))
    }
    assert bound == set(BY_ID)


def test_the_documented_keys_are_the_bound_ones():
    table = keys_markdown()
    for binding in TriageScreen.BINDINGS:
        if binding.action.startswith("act("):
            for key in binding.key.split(","):
                assert f"`{shown_key(key)}`" in table
    assert table.count("\n") == len(ACTIONS) + 2


async def test_footer_help_and_palette_read_the_registry(demo):
    async with app_on(demo).run_test(size=(100, 80)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        bar = screen.query_one("HintsBar")
        assert {one.id for one in bar.hints(1000)} == {
            one.id for one in ACTIONS if one.hint and not one.why_not(screen.situation())
        }
        await pilot.press("question_mark")
        await settle(pilot)
        text = shown(pilot)
        for action in ACTIONS:
            assert shown_key(action.keys[0]) in text
            assert action.help.split(";")[0][:40] in text
        await pilot.press("escape", "ctrl+p")
        await pilot.pause(0.5)
        options = pilot.app.screen.query_one("CommandList")
        prompts = [str(option.prompt) for option in options._options]
        for action in ACTIONS:
            expected = f"{action.label} ({action.key})"
            assert action.id == "palette" or any(expected in prompt for prompt in prompts)


@pytest.mark.parametrize(
    ("situation", "action", "word"),
    [
        (Situation(), "accept", "no findings"),
        (Situation(findings=3, undecided=3), "accept", "move to a finding"),
        (Situation(node="finding", findings=1), "accept", "no rewrite"),
        (Situation(node="finding", state=State.APPLIED, findings=1), "decline", "applied"),
        (Situation(node="file", findings=1), "edit", "one finding"),
        (Situation(accepted=1, scanning=True), "apply", "still running"),
        (Situation(), "apply", "Nothing is accepted"),
        (Situation(), "undo_apply", "Nothing is applied"),
        (Situation(findings=1), "next_open", "Everything is decided"),
    ],
)
def test_what_is_not_possible_says_why(situation, action, word):
    assert word in BY_ID[action].why_not(situation)


def test_what_is_possible_says_nothing():
    now = Situation("finding", State.OPEN, True, 1, 5, 9, accepted=2, applied=1)
    assert [one.id for one in ACTIONS if one.why_not(now)] == []
