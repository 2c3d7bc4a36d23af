from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.checklist import GROUPS, ITEMS, fill
from project.vocabulary import (
    Decision,
    Evidence,
    Finding,
    Fix,
    Layer,
    On,
    Result,
    Severity,
    Skipped,
    State,
    Status,
)

TENSOR = Evidence(
    "environment.mps-tensor",
    On.MPS,
    Result.PASSED,
    "ran",
    at="2026-11-01T10:00:00Z",
    versions={"system": "Darwin", "macos": "15.1"},
)
STATIC_BY_SCAN = {"inventory.extensions", "inventory.device-calls", "inventory.kernels"}


def finding(id, layer=Layer.DEVICE, severity=Severity.BLOCKS, path="train.py"):
    return Finding(id, "X1", "x", layer, severity, Fix.MANUAL, path, 7, 1, 7, 2, 0, 1, "x", "m")


def decided(id, state):
    return {id: Decision(id, state, "2026-11-01T10:00:00Z")}


def state(id, *evidence, findings=(), decisions=None, skipped=(), scanned=True):
    states = fill(findings, decisions or {}, skipped, evidence, scanned)
    return next(one for one in states if one.item.id == id)


def status(*evidence):
    return state("environment.mps-tensor", *evidence).status


def test_ids_are_unique_and_ordered_by_group():
    ids = [item.id for item in ITEMS]
    assert len(set(ids)) == len(ids)
    groups = [item.group for item in ITEMS]
    assert list(dict.fromkeys(groups)) == [group for group, _title in GROUPS]
    assert sorted(groups, key=[g for g, _t in GROUPS].index) == groups
    assert all(item.needs and item.title and item.how for item in ITEMS)
    assert [item.id for item in fill_items()] == ids


def fill_items():
    return [one.item for one in fill([], {}, [], [])]


def test_before_a_scan_and_without_evidence_nothing_is_passed_and_all_say_how():
    states = fill([finding("a")], {}, [], [], scanned=False)
    assert {one.status for one in states} == {Status.NOT_RUN}
    assert all(one.note == one.item.how for one in states)


def test_mps_evidence_passes_and_no_other_does():
    assert status(TENSOR) is Status.PASSED
    assert status(replace(TENSOR, on=On.REHEARSAL)) is Status.REHEARSED
    for where in (On.CPU, On.CUDA, On.STATIC):
        seen = state("environment.mps-tensor", replace(TENSOR, on=where))
        assert seen.status is Status.BLOCKED
        assert "must be seen on an MPS device" in seen.note


def test_the_latest_wins_whatever_the_order():
    later = replace(TENSOR, result=Result.FAILED, at="2026-11-02T10:00:00Z")
    assert status(TENSOR, later) is status(later, TENSOR) is Status.FAILED
    newest = replace(TENSOR, at="2026-11-03T10:00:00Z")
    assert status(newest, later, TENSOR) is Status.PASSED


def test_two_of_the_same_second_count_as_the_worse():
    failed = replace(TENSOR, result=Result.FAILED)
    assert status(TENSOR, failed) is status(failed, TENSOR) is Status.FAILED


def test_a_later_look_from_linux_takes_nothing_back():
    blocked = replace(
        TENSOR, on=On.CPU, result=Result.BLOCKED, at="2026-11-09T10:00:00Z",
        versions={"system": "Linux"},
    )  # fmt: skip
    assert status(TENSOR, blocked) is Status.PASSED
    assert status(TENSOR, replace(blocked, result=Result.FAILED)) is Status.PASSED
    assert status(blocked) is Status.BLOCKED


def test_a_later_failure_on_the_mac_counts_even_though_no_mps_device_was_there():
    failed = replace(TENSOR, on=On.CPU, result=Result.FAILED, at="2026-11-09T10:00:00Z")
    assert status(TENSOR, failed) is Status.FAILED


@pytest.mark.parametrize(
    "damage",
    [
        {"versions": {"system": "Linux"}},
        {"facts": {"device": "cpu"}},
        {"facts": ["device"]},
        {"versions": None},
        {"on": "mps"},
        {"result": "passed"},
        {"item": "environment.no-such"},
    ],
)
def test_damaged_or_contradictory_evidence_raises_nothing(damage):
    damaged = replace(TENSOR, **damage)
    assert status(damaged) is Status.NOT_RUN
    earlier = replace(TENSOR, result=Result.FAILED, at="2026-10-01T10:00:00Z")
    assert status(earlier, damaged) is Status.FAILED


def test_a_time_that_is_none_is_the_oldest():
    odd = replace(TENSOR, at="tomorrow")
    assert status(odd, replace(TENSOR, result=Result.FAILED)) is Status.FAILED


def test_not_applicable_counts_only_from_where_the_item_must_be_seen():
    assert status(replace(TENSOR, result=Result.NOT_APPLICABLE)) is Status.NOT_APPLICABLE
    elsewhere = replace(TENSOR, result=Result.NOT_APPLICABLE, on=On.CPU)
    assert status(elsewhere) is Status.BLOCKED


def test_device_calls_are_settled_when_each_is_decided_and_applied():
    id, two = "inventory.device-calls", [finding("a"), finding("b")]
    assert state(id, findings=two).status is Status.WARNING
    assert state(id, findings=two).note == "0 of 2 decided. Next: train.py:7."
    accepted = {**decided("a", State.ACCEPTED), **decided("b", State.KEPT)}
    seen = state(id, findings=two, decisions=accepted)
    assert (seen.status, seen.on) == (Status.WARNING, On.STATIC)
    assert "1 is accepted, not applied." in seen.note
    settled = {**decided("a", State.APPLIED), **decided("b", State.DECLINED)}
    assert state(id, findings=two, decisions=settled).status is Status.PASSED


def test_cosmetic_findings_and_other_layers_ask_for_no_decision():
    others = [finding("a", severity=Severity.COSMETIC), finding("b", Layer.ENVIRONMENT)]
    assert state("inventory.device-calls", findings=others).status is Status.PASSED
    assert state("inventory.kernels", findings=others).status is Status.PASSED


def test_what_was_not_looked_at_leaves_a_warning_that_names_it():
    for path in ("third_party/ops", "k.cu", "lib/x.so"):
        seen = state("inventory.kernels", skipped=[Skipped(path, "a reason")])
        assert seen.status is Status.WARNING
        assert path in seen.note
    harmless = [
        Skipped("photo.png", "binary"),
        Skipped("venv", "a virtual environment"),
        Skipped("old", "excluded by the configuration"),
    ]
    assert state("inventory.kernels", skipped=harmless).status is Status.PASSED


def test_names_from_the_project_cannot_steer_a_terminal():
    seen = state("inventory.kernels", skipped=[Skipped("\x1b[2Jx/k.cu", "a reason")])
    assert "\x1b" not in seen.note


evidences = st.lists(
    st.builds(
        Evidence,
        item=st.sampled_from([item.id for item in ITEMS]),
        on=st.sampled_from(On),
        result=st.sampled_from(Result),
        summary=st.just("seen"),
        at=st.sampled_from(["", "2026-11-01T10:00:00Z", "2026-11-02T10:00:00Z", "no"]),
        versions=st.sampled_from([{}, {"system": "Linux"}, {"macos": "15"}]),
        facts=st.sampled_from([{}, {"device": "cpu"}, {"device": "mps:0"}]),
    ),
    max_size=30,
)


@given(evidences, st.booleans())
def test_an_item_is_passed_only_by_evidence_from_where_it_must_be_seen(evidence, scanned):
    for one in fill([], {}, [], evidence, scanned):
        if one.status is Status.PASSED and not (scanned and one.item.id in STATIC_BY_SCAN):
            assert one.on in one.item.needs
            assert one.evidence[0].result is Result.PASSED
            if one.on is On.MPS:
                assert one.evidence[0].versions.get("system") != "Linux"
                assert one.evidence[0].facts.get("device") != "cpu"
