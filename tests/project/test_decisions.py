import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from project.decisions import DecisionLog, now
from project.errors import UserError
from project.vocabulary import Decision, State


def decision(finding, state=State.ACCEPTED, reason=""):
    return Decision(finding, state, now(), reason, "D103", "src/ä.py", 12, "x.cuda()")


def states(log):
    return {finding: one.state for finding, one in log.current().items()}


def test_time_is_utc_in_seconds():
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", now())


def test_reading_makes_nothing(tmp_path):
    log = DecisionLog(tmp_path / "state")
    assert log.current() == {}
    assert log.undo() is None
    assert log.redo() is None
    assert log.reasons() == []
    log.record([])
    assert list(tmp_path.iterdir()) == []


def test_a_decision_comes_back_whole_in_another_process(tmp_path):
    kept = decision("a", State.KEPT, "needs NCCL \ud800")
    DecisionLog(tmp_path).record([kept])
    assert DecisionLog(tmp_path).current() == {"a": kept}


def test_the_last_decision_counts_and_open_ones_are_not_listed(tmp_path):
    log = DecisionLog(tmp_path)
    log.record([decision("a"), decision("b")])
    log.record([decision("a", State.DECLINED), decision("b", State.OPEN)])
    assert states(log) == {"a": State.DECLINED}


def test_a_batch_is_one_step_back_and_forth_also_after_a_restart(tmp_path):
    DecisionLog(tmp_path).record([decision("a")])
    DecisionLog(tmp_path).record([decision("a", State.DECLINED), decision("b")])
    assert DecisionLog(tmp_path).undo() == ["a", "b"]
    assert states(DecisionLog(tmp_path)) == {"a": State.ACCEPTED}
    assert DecisionLog(tmp_path).redo() == ["a", "b"]
    assert states(DecisionLog(tmp_path)) == {"a": State.DECLINED, "b": State.ACCEPTED}
    assert DecisionLog(tmp_path).redo() is None
    assert DecisionLog(tmp_path).undo() == ["a", "b"]
    assert DecisionLog(tmp_path).undo() == ["a"]
    assert DecisionLog(tmp_path).undo() is None


def test_a_new_decision_ends_redo(tmp_path):
    log = DecisionLog(tmp_path)
    log.record([decision("a")])
    log.undo()
    log.record([decision("b")])
    assert log.redo() is None
    assert states(log) == {"b": State.ACCEPTED}


def test_undo_stops_at_what_happened_to_the_files(tmp_path):
    log = DecisionLog(tmp_path)
    log.record([decision("a")])
    log.record([decision("a", State.APPLIED)])
    assert log.undo() is None
    log.record([decision("b")])
    assert log.undo() == ["b"]
    assert log.undo() is None
    log.record([decision("a", State.ACCEPTED)])  # the apply was taken back
    assert log.undo() is None
    assert states(log) == {"a": State.ACCEPTED}


def test_reasons_are_the_standing_ones_newest_first(tmp_path):
    log = DecisionLog(tmp_path)
    for finding, reason in (("a", "one"), ("b", "two"), ("c", ""), ("d", "one"), ("e", "three")):
        log.record([decision(finding, State.KEPT, reason)])
    log.undo()
    assert log.reasons() == ["one", "two"]


def test_every_torn_end_is_passed_over_and_closed_by_the_next(tmp_path):
    log = DecisionLog(tmp_path)
    file = tmp_path / "decisions.jsonl"
    log.record([decision("a")])
    whole = file.read_bytes()
    log.record([decision("b")])
    both = file.read_bytes()
    for length in range(len(whole), len(both) - 1):
        file.write_bytes(both[:length])
        assert states(log) == {"a": State.ACCEPTED}
        log.record([decision("c")])
        assert states(log) == {"a": State.ACCEPTED, "c": State.ACCEPTED}


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[]",
        b"1",
        b"[" * 100_000,
        b'{"do": "decide"}',
        b'{"do": "decide", "decisions": 1}',
        b'{"do": "decide", "decisions": [1, {}, {"finding": "x"}]}',
        b'{"do": "decide", "decisions": [{"finding": "x", "state": "odd", "at": ""}]}',
        b'{"do": "decide", "decisions": [{"finding": ["x"], "state": "kept", "at": ""}]}',
        b'{"do": "something newer"}',
    ],
)
def test_a_damaged_line_costs_only_itself(tmp_path, line):
    log = DecisionLog(tmp_path)
    log.record([decision("a")])
    with (tmp_path / "decisions.jsonl").open("ab") as file:
        file.write(line + b"\n")
    log.record([decision("b")])
    assert states(log) == {"a": State.ACCEPTED, "b": State.ACCEPTED}
    assert log.undo() == ["b"]


def test_two_instances_append_to_one_history(tmp_path):
    one, other = DecisionLog(tmp_path), DecisionLog(tmp_path)
    one.record([decision("a")])
    other.record([decision("b")])
    assert one.undo() == ["b"]
    assert states(other) == {"a": State.ACCEPTED}


def test_the_file_only_grows(tmp_path):
    log = DecisionLog(tmp_path)
    before = b""
    for step in (lambda: log.record([decision("a")]), log.undo, log.redo, log.undo):
        step()
        data = (tmp_path / "decisions.jsonl").read_bytes()
        assert data.startswith(before)
        assert len(data) > len(before)
        before = data
    assert all(isinstance(json.loads(line), dict) for line in before.splitlines())


def test_a_state_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "state").write_text("")
    log = DecisionLog(tmp_path / "state")
    assert log.current() == {}
    with pytest.raises(UserError, match="cannot be written"):
        log.record([decision("a")])


def test_a_log_that_is_a_link_is_not_written_through(tmp_path):
    (tmp_path / "precious").write_bytes(b"mine\n")
    (tmp_path / "decisions.jsonl").symlink_to("precious")
    with pytest.raises(UserError, match="cannot be written"):
        DecisionLog(tmp_path).record([decision("a")])
    assert (tmp_path / "precious").read_bytes() == b"mine\n"


STEPS = st.lists(
    st.one_of(
        st.sampled_from(["undo", "redo"]),
        st.lists(
            st.tuples(
                st.sampled_from("abc"),
                st.sampled_from([State.OPEN, State.ACCEPTED, State.DECLINED, State.KEPT]),
            ),
            min_size=1,
            max_size=3,
        ),
    ),
    max_size=12,
)


@settings(max_examples=60, deadline=None)
@given(steps=STEPS)
def test_it_behaves_like_a_stack_of_batches(tmp_path_factory, steps):
    state = tmp_path_factory.mktemp("state")
    done, undone = [], []
    for step in steps:
        log = DecisionLog(state)
        if step == "undo":
            expected = done and undone.append(done.pop()) is None and [f for f, _s in undone[-1]]
            assert log.undo() == (expected or None)
        elif step == "redo":
            expected = undone and done.append(undone.pop()) is None and [f for f, _s in done[-1]]
            assert log.redo() == (expected or None)
        else:
            log.record([decision(finding, to) for finding, to in step])
            done.append(step)
            undone.clear()
        now_is = {finding: to for batch in done for finding, to in batch}
        assert states(log) == {f: to for f, to in now_is.items() if to is not State.OPEN}
