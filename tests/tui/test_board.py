from hypothesis import given
from hypothesis import strategies as st

from project.vocabulary import Decision, Finding, Fix, Layer, Proposal, Severity, State
from tui.board import Board


def finding(id, path="a.py", line=1, layer=Layer.DEVICE, text="x.cuda()"):
    return Finding(
        id, "D103", "cuda-method", layer, Severity.BLOCKS, Fix.SAFE, path, line, 1, line, 5,
        line * 10, line * 10 + 4, text, "message",
    )  # fmt: skip


def proposal(id):
    return Proposal(id, "D103", "a.py", "", (), Fix.SAFE, "why")


def board(*findings, decided=()):
    made = Board()
    decisions = {id: Decision(id, State.DECLINED, "") for id in decided}
    made.add(findings, {one.id: proposal(one.id) for one in findings}, decisions)
    return made


def keys(made):
    return [row.key for row in made.rows()]


def test_rows_go_by_layer_path_and_place():
    made = board(
        finding("k", "z.cu", layer=Layer.KERNEL),
        finding("b2", "b.py", 9),
        finding("a1", "a.py", 3),
        finding("b1", "b.py", 2),
    )
    assert keys(made) == [
        ("device",), ("device", "a.py"), ("device", "a.py", "a1"), ("device", "b.py"),
        ("device", "b.py", "b1"), ("device", "b.py", "b2"), ("kernel",), ("kernel", "z.cu"),
        ("kernel", "z.cu", "k"),
    ]  # fmt: skip
    made.collapsed.add(("device", "b.py"))
    assert ("device", "b.py", "b1") not in keys(made)
    made.collapsed.add(("device",))
    assert keys(made)[:2] == [("device",), ("kernel",)]
    assert made.unfold(("device", "b.py", "b1"))
    assert ("device", "b.py", "b1") in keys(made)


def test_a_decision_counts_once_however_often_it_is_made():
    made = board(finding("a"), finding("b", line=2))
    for state in (State.ACCEPTED, State.DECLINED, State.ACCEPTED):
        made.mark(["a"], state)
    assert made.tally() == made.tally(("device",)) == made.tally(("device", "a.py")) == (1, 2)
    made.settle({}, ["a"])
    assert made.tally() == (0, 2)
    assert made.state("a") is State.OPEN


def test_the_next_open_one_goes_around_the_end_and_over_decided_ones():
    made = board(*(finding(id, line=n) for n, id in enumerate("abcd")), decided=["b", "d"])
    assert made.open_from(made.key_of("a")).id == "c"
    assert made.open_from(made.key_of("c")).id == "a"
    assert made.open_from(made.key_of("a"), forward=False).id == "c"
    assert made.open_from(("device", "a.py")).id == "a"
    made.mark("ac", State.ACCEPTED)
    assert made.open_from(made.key_of("a")) is None


def test_a_filter_looks_for_all_words_and_hides_empty_groups():
    made = board(finding("a", "train.py"), finding("b", "eval.py", text="y.to('cuda')"))
    made.look_for(("train",))
    assert keys(made) == [("device",), ("device", "train.py"), ("device", "train.py", "a")]
    made.look_for(("y.to", "open"))
    assert [one.id for one in made.order()] == ["b"]
    assert [one.id for one in made.under(("device",))] == ["b"]
    made.look_for(("nothing",))
    assert made.rows() == []


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from(list(State)))))
def test_counts_are_what_counting_gives(steps):
    made = board(*(finding(id, line=n, path=f"{n % 2}.py") for n, id in enumerate("abcdef")))
    for id, state in steps:
        made.mark([id], state)
    decided = sum(made.state(id) is not State.OPEN for id in "abcdef")
    assert made.tally() == (decided, 6)
    for state in State:
        assert made.count(state) == sum(made.state(id) is state for id in "abcdef")
    for path in ("0.py", "1.py"):
        under = made.under(("device", path))
        assert made.tally(("device", path)) == (
            sum(made.state(one.id) is not State.OPEN for one in under),
            3,
        )
