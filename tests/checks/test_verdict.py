from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.checklist import ITEMS
from checks.verdict import DEVELOP, MAY_NOT_APPLY, NEEDED, RULES, decide
from project.vocabulary import Evidence, ItemState, Layer, On, Outcome, Result, State, Status
from tests.checks.test_checklist import decided, finding


def states(status=Status.PASSED, **changed):
    made = []
    for item in ITEMS:
        mine = changed.get(item.id.replace(".", "__").replace("-", "_"), status)
        made.append(ItemState(item, mine, "note", item.needs[0]))
    return made


PASSED = states()
KERNEL = finding("k", Layer.KERNEL, path="ops/k.cu")
CALL = finding("d")


def test_everything_passed_is_for_the_mac():
    verdict = decide(PASSED, [], {}, ["prototype"])
    assert verdict.outcome is Outcome.MAC
    assert verdict.uses == (("prototype", Outcome.MAC),)
    assert verdict.next_check == ""


def test_a_kernel_kept_on_cuda_stops_whatever_passed():
    verdict = decide(PASSED, [KERNEL], decided("k", State.KEPT))
    assert verdict.outcome is Outcome.CUDA
    assert "ops/k.cu:7" in verdict.reasons[0]
    assert verdict.next_check == ""


@pytest.mark.parametrize("use", ["distributed", "exact reproduction", "Exact-Reproduction"])
def test_a_use_that_only_cuda_serves(use):
    verdict = decide(PASSED, [], {}, [use])
    assert (verdict.outcome, verdict.uses) == (Outcome.CUDA, ((use, Outcome.CUDA),))


def test_each_use_has_its_own_outcome_and_together_they_share():
    verdict = decide(PASSED, [], {}, ["prototype", "distributed"])
    assert verdict.uses == (("prototype", Outcome.MAC), ("distributed", Outcome.CUDA))
    assert verdict.outcome is Outcome.DUAL
    assert any("they share preprocessing" in reason for reason in verdict.reasons)


@pytest.mark.parametrize(
    "id", ["operators__fallbacks", "numbers__output", "practicality__time", "practicality__memory"]
)
def test_a_failure_that_stops(id):
    assert decide(states(**{id: Status.FAILED}), [], {}).outcome is Outcome.CUDA
    rehearsed = [
        replace(one, on=On.REHEARSAL) if one.status is Status.FAILED else one
        for one in states(**{id: Status.FAILED})
    ]
    assert decide(rehearsed, [], {}).outcome is not Outcome.CUDA


def test_a_part_that_failed_is_shared():
    verdict = decide(states(practicality__real_batch=Status.FAILED), [], {})
    assert verdict.outcome is Outcome.DUAL
    assert "Near-real batch" in verdict.reasons[0]
    assert len(verdict.reasons) == 2


def test_calls_kept_on_cuda_are_shared():
    verdict = decide(PASSED, [CALL], decided("d", State.KEPT))
    assert verdict.outcome is Outcome.DUAL
    assert "train.py:7" in verdict.reasons[0]


def test_a_fallback_not_yet_accepted_is_undecided():
    verdict = decide(states(operators__fallbacks=Status.WARNING), [], {})
    assert (verdict.outcome, verdict.leaning) == (Outcome.UNDECIDED, Outcome.MAC)
    assert verdict.next_check == "Each fallback to the CPU recorded and accepted: note"


def test_nothing_known_is_undecided_without_a_leaning():
    verdict = decide(states(Status.NOT_RUN), [], {})
    assert (verdict.outcome, verdict.leaning) == (Outcome.UNDECIDED, None)
    assert verdict.next_check.startswith("Each kernel decided")
    assert verdict.would_change


def test_open_kernels_lean_to_cuda():
    verdict = decide(states(Status.NOT_RUN), [KERNEL], {})
    assert (verdict.outcome, verdict.leaning) == (Outcome.UNDECIDED, Outcome.CUDA)
    assert "ops/k.cu:7" in verdict.reasons[0]


def test_a_passed_item_from_the_wrong_place_is_not_passed():
    forged = [replace(one, on=On.CPU) for one in PASSED]
    assert decide(forged, [], {}).outcome is Outcome.UNDECIDED


def test_the_remote_items_are_needed_once_a_remote_mac_was_used():
    remote = {
        f"remote__{n}": Status.NOT_RUN
        for n in (
            "consent",
            "connected",
            "isolated",
            "sent",
            "ran",
            "reconnected",
            "fetched",
            "cleaned",
        )
    }
    local = states(**remote)
    assert decide(local, [], {}).outcome is Outcome.MAC
    far = Evidence("sample.runs", On.MPS, Result.PASSED, "ran", target="ssh:mac")
    sent = [replace(one, evidence=(far,)) if one.item.id == "sample.runs" else one for one in local]
    assert decide(sent, [], {}).outcome is Outcome.UNDECIDED


def test_rules_name_items_that_exist_and_have_ids_of_their_own():
    ids = {item.id for item in ITEMS}
    named = [id for rule in RULES for id in rule.items]
    assert ids.issuperset(
        [*named, *DEVELOP, *MAY_NOT_APPLY, *(i for n in NEEDED.values() for i in n)]
    )
    assert len({rule.id for rule in RULES}) == len(RULES)


any_states = st.tuples(
    *(
        st.builds(
            ItemState,
            st.just(item),
            st.sampled_from([Status.PASSED] * 60 + list(Status)),
            st.just("note"),
            st.sampled_from([item.needs[0]] * 60 + list(On)),
        )
        for item in ITEMS
    )
)
kept = st.sampled_from([{}, {}, {}, decided("k", State.KEPT), decided("d", State.KEPT)])
some_uses = st.lists(st.sampled_from(sorted(NEEDED)), max_size=3)


@given(any_states, kept, some_uses)
def test_never_for_the_mac_while_something_is_missing_or_stops(all_states, decisions, uses):
    verdict = decide(all_states, [KERNEL, CALL], decisions, uses)
    by_id = {one.item.id: one for one in all_states}
    outcomes = verdict.uses or (("", verdict.outcome),)
    for use, outcome in outcomes:
        if outcome is not Outcome.MAC:
            continue
        assert not decisions
        assert use not in ("distributed", "exact reproduction")
        for id in NEEDED.get(use, NEEDED["light training"]):
            one = by_id[id]
            right = one.status is Status.PASSED and one.on in one.item.needs
            assert right or (one.status is Status.NOT_APPLICABLE and id in MAY_NOT_APPLY)
    if verdict.outcome is Outcome.MAC:
        assert {outcome for _use, outcome in outcomes} == {Outcome.MAC}
    if "k" in decisions:
        assert verdict.outcome is Outcome.CUDA
    assert verdict.reasons
    if verdict.outcome is Outcome.UNDECIDED:
        assert verdict.next_check


@given(any_states, some_uses)
def test_deciding_is_pure(all_states, uses):
    assert decide(all_states, [CALL], {}, uses) == decide(all_states, [CALL], {}, uses)
