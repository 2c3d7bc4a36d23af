import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks import checklist
from checks.environment import ITEM_QUESTIONS, Answer, asked, evidence
from project.vocabulary import On, Result, Status
from tests.checks.answers import LINUX, MAC, of_a_mac

ITEMS = tuple(ITEM_QUESTIONS)


def by_item(answers, items=ITEMS):
    return {one.item: one for one in evidence(items, answers, LINUX)}


def statuses(answers):
    made = evidence(ITEMS, answers, LINUX)
    return {s.item.id: s.status for s in checklist.fill([], {}, [], made) if s.item.id in ITEMS}


def test_a_mac_on_which_everything_works_passes_every_item_from_mps():
    made = by_item(of_a_mac())
    assert {one.on for one in made.values()} == {On.MPS}
    assert {one.result for one in made.values()} == {Result.PASSED}, made
    assert made["environment.macos"].summary == "macOS 15.1."
    assert made["environment.mps-tensor"].facts["device"] == "mps:0"
    assert made["environment.python"].versions["torch"] == "2.9.0"
    assert set(statuses(of_a_mac()).values()) == {Status.PASSED}


@pytest.mark.parametrize(
    ("changed", "item", "result"),
    [
        ({"mps_built": {"value": False}}, "environment.mps-built", Result.FAILED),
        ({"mps_available": {"value": "yes"}}, "environment.mps-available", Result.FAILED),
        ({"system": {**MAC["system"], "process": "x86_64"}}, "environment.arm64", Result.FAILED),
        ({"system": {**MAC["system"], "translated": True}}, "environment.rosetta", Result.FAILED),
        (
            {"libraries": {"looked": 3, "without_arm64": ["a/b.so"], "count": 1}},
            "environment.libraries",
            Result.FAILED,
        ),
        ({"packages": {"versions": {"a": None}}}, "environment.packages", Result.WARNING),
        ({"python": {**MAC["python"], "virtual": False}}, "environment.virtual", Result.WARNING),
        ({"import:x": {"installed": True, "exit": 1, "error": "E: no"}}, "environment.imports",
         Result.FAILED),
        ({"import:x": {"installed": False}}, "environment.imports", Result.WARNING),
        ({"torch_installed": {"installed": False}}, "environment.torch-installed", Result.FAILED),
        ({"torch": {}}, "environment.torch", Result.FAILED),
    ],
)  # fmt: skip
def test_one_thing_wrong_on_a_mac_is_that_item_alone(changed, item, result):
    made = by_item(of_a_mac(**changed))
    assert made[item].result is result
    others = {one.result for id, one in made.items() if id != item}
    assert others == {Result.PASSED}


@pytest.mark.parametrize(
    "tensor",
    [
        {"device": "mps:0", "sum_device": "cpu", "sum": 16.0},
        {"device": "cpu", "sum_device": "cpu", "sum": 16.0},
        {"device": "mps:0", "sum_device": "mps:0", "sum": 15.0},
        {"error": "RuntimeError: The MPS backend is supported on MacOS 14.0+"},
        {},
    ],
)
def test_a_tensor_that_did_not_run_on_mps_passes_nothing_at_all(tensor):
    answers = of_a_mac(mps_tensor=tensor)
    assert by_item(answers)["environment.mps-tensor"].result is Result.FAILED
    assert {one.on for one in by_item(answers).values()} == {On.CPU}
    assert Status.PASSED not in statuses(answers).values()
    assert statuses(answers)["environment.mps-tensor"] is Status.FAILED


def test_linux_records_and_blocks_and_says_why():
    linux = {"system": {"system": "Linux", "release": "6.1", "process": "x86_64"}}
    cuda = {"available": True, "devices": ["H200"], "tensor": {
        "device": "cuda:0", "sum_device": "cuda:0", "sum": 16.0}}  # fmt: skip
    made = by_item(of_a_mac(**linux, cuda=cuda, mps_tensor={"error": "no"}))
    assert {one.result for one in made.values()} == {Result.BLOCKED}
    assert {one.on for one in made.values()} == {On.CUDA}
    note = made["environment.python"].summary
    assert note.startswith(
        "This is Linux on x86_64: MPS exists only on Apple silicon Macs; run this check on a Mac."
    )
    assert "/Users/a/p/.venv/bin/python" in note
    assert "H200" in made["environment.torch"].summary


def test_a_lost_answer_is_a_failure_and_one_never_asked_is_blocked():
    answers = of_a_mac()
    answers["mps_tensor"] = Answer(lost="The process died of SIGABRT.", exit=-6)
    answers["cuda"] = Answer(asked=False)
    made = by_item(answers)
    assert made["environment.mps-tensor"].result is Result.FAILED
    assert made["environment.mps-tensor"].exit == -6
    assert made["environment.torch"].result is Result.BLOCKED
    assert made["environment.macos"].result is Result.PASSED
    assert made["environment.macos"].on is On.CPU


def test_what_may_crash_is_asked_last_and_a_tensor_is_always_run():
    assert asked(()) == ()
    assert asked(("inventory.kernels",)) == ()
    assert asked(("environment.macos",)) == ("system", "python", "torch", "mps_tensor", "cuda")
    assert asked(ITEMS)[-4:] == ("mps_available", "mps_tensor", "cuda", "import:")


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.sampled_from(sorted(MAC)), st.dictionaries(st.text(max_size=5), junk, max_size=3))
def test_an_answer_of_any_shape_is_taken(question, value):
    for keys in (value, {**MAC[question], **dict.fromkeys(MAC[question], value)}):
        made = evidence(ITEMS, of_a_mac(**{question: keys}), LINUX)
        assert [one.item for one in made] == list(ITEMS)
