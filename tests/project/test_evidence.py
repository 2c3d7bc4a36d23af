import hashlib
import json
from dataclasses import asdict, replace

import pytest

from project.errors import UserError
from project.evidence import EvidenceStore, identity
from project.vocabulary import Evidence, On, Result

SEEN = Evidence(
    item="environment.tensor",
    on=On.CPU,
    result=Result.PASSED,
    summary="2 + 2 is 4",
    command=("python", "-c", "…"),
    at="2026-01-01T00:00:00Z",
    seconds=0.25,
    exit=0,
    facts={"loss": [1.5, None], "deep": {"b": 1, "a": 2}},
    versions={"torch": "2.13.0"},
)


def test_reading_makes_nothing(tmp_path):
    store = EvidenceStore(tmp_path / "state")
    assert store.all() == []
    assert store.damaged == []
    assert list(tmp_path.iterdir()) == []


def test_evidence_comes_back_whole_with_its_files(tmp_path):
    stored = EvidenceStore(tmp_path).add(SEEN, {"stdout": b"4\n", "log": b""})
    assert stored.files == {
        "stdout": hashlib.sha256(b"4\n").hexdigest(),
        "log": hashlib.sha256(b"").hexdigest(),
    }
    store = EvidenceStore(tmp_path)
    assert store.all() == [stored]
    assert store.damaged == []
    assert store.file(stored.files["stdout"]) == b"4\n"


def test_the_id_is_the_hash_of_the_canonical_json_of_the_rest(tmp_path):
    stored = EvidenceStore(tmp_path).add(replace(SEEN, id="a lie"))
    rest = {name: value for name, value in asdict(stored).items() if name != "id"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert stored.id == hashlib.sha256(text.encode()).hexdigest() == identity(stored)


def test_the_same_evidence_is_kept_once_and_order_is_kept(tmp_path):
    store = EvidenceStore(tmp_path)
    first = store.add(SEEN)
    # An earlier clock (another machine) does not change what came last.
    second = store.add(replace(SEEN, result=Result.FAILED, at="2025-01-01T00:00:00Z"))
    assert store.add(SEEN) == first
    assert store.all() == [first, second]
    assert len((tmp_path / "evidence.jsonl").read_bytes().splitlines()) == 2


def test_evidence_without_files_has_no_folder(tmp_path):
    EvidenceStore(tmp_path).add(SEEN)
    assert [path.name for path in tmp_path.iterdir()] == ["evidence.jsonl"]


def change(record, **changes):
    return json.dumps({**record, **changes})


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: change(record, result="failed"),
        lambda record: change(record, on="mps"),
        lambda record: change(record, seconds=0.1),
        lambda record: change(record, extra=1),
        lambda record: change(record, on="moon"),
        lambda record: change(record, command=None),
        lambda record: change(record, files={"x": "../../etc/passwd"}),
        lambda record: change(record, files=1),
        lambda record: json.dumps({"id": record["id"]}),
        lambda record: json.dumps(record)[:-9],
        lambda record: "null",
    ],
)
def test_a_record_that_is_not_what_its_id_says_is_left_out_and_named(tmp_path, damage):
    store = EvidenceStore(tmp_path)
    store.add(SEEN)
    file = tmp_path / "evidence.jsonl"
    record = json.loads(file.read_bytes())
    file.write_text(damage(record) + "\n")
    second = store.add(replace(SEEN, item="other"))
    assert store.all() == [second]
    assert len(store.damaged) == 1


@pytest.mark.parametrize("files", [{"x": "../decisions.jsonl"}, {"x": 1}, 1])
def test_forged_file_names_with_a_right_id_are_left_out(tmp_path, files):
    forged = replace(SEEN, files=files)
    record = {**asdict(forged), "id": identity(forged)}
    (tmp_path / "evidence.jsonl").write_text(json.dumps(record) + "\n")
    store = EvidenceStore(tmp_path)
    assert store.all() == []
    assert store.damaged == [f"The evidence {record['id'][:12]} is damaged."]


def test_a_file_that_is_gone_or_changed_is_noticed(tmp_path):
    store = EvidenceStore(tmp_path)
    stored = store.add(SEEN, {"stdout": b"4\n"})
    kept = tmp_path / "evidence" / stored.files["stdout"]
    kept.write_bytes(b"5\n")
    with pytest.raises(UserError, match="damaged"):
        store.file(kept.name)
    assert store.add(SEEN, {"stdout": b"4\n"}) == stored
    assert store.file(kept.name) == b"4\n"
    kept.unlink()
    assert store.all() == []
    assert store.damaged == [f"The evidence {stored.id[:12]} has lost a file."]
    with pytest.raises(UserError, match="cannot be read"):
        store.file(kept.name)


def test_a_torn_end_costs_only_itself(tmp_path):
    store = EvidenceStore(tmp_path)
    first = store.add(SEEN)
    file = tmp_path / "evidence.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:40])
    assert store.all() == [first]
    second = store.add(replace(SEEN, item="other"))
    assert store.all() == [first, second]
    assert store.damaged == ["Line 2 of evidence.jsonl is damaged."]
