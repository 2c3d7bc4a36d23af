import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from project import swap
from project.errors import Refused, UserError
from project.journal import Change, Entry, Journal

BEFORE = {
    "train.py": b"model.cuda()\n",
    "src/crlf.py": b"\xef\xbb\xbfx.cuda()\r\ny = 1\r\n",
    "src/no end.py": b"\xff\xfe last line.cuda()",
}
AFTER = {path: data.replace(b".cuda()", b".to(device)") for path, data in BEFORE.items()}
CHANGES = [Change(path, BEFORE[path], AFTER[path]) for path in BEFORE]


def lay(folder: Path, files=BEFORE) -> Path:
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def root(tmp_path):
    return lay(tmp_path / "root")


@pytest.fixture
def journal(root, tmp_path):
    return Journal(root, tmp_path / "state")


def test_reading_makes_nothing(tmp_path, root, journal):
    assert journal.entries() == []
    assert journal.recover() == []
    assert not (tmp_path / "state").exists()


def test_apply_and_undo_change_exactly_those_bytes(root, journal, tmp_path):
    (root / "src" / "crlf.py").chmod(0o750)
    (root / "other.py").write_bytes(b"untouched")
    entry = journal.apply(CHANGES, "device calls", ["f1", "f2"])
    assert tree(root) == {**AFTER, "other.py": b"untouched"}
    assert entry == Entry(entry.id, entry.at, "device calls", tuple(BEFORE), ("f1", "f2"), False)
    assert Journal(root, tmp_path / "state").entries() == [entry]
    assert stat.S_IMODE((root / "src" / "crlf.py").stat().st_mode) == 0o750
    undone = Journal(root, tmp_path / "state").undo()
    assert tree(root) == {**BEFORE, "other.py": b"untouched"}
    assert undone == Entry(entry.id, entry.at, entry.label, entry.paths, entry.findings, True)
    assert Journal(root, tmp_path / "state").entries() == [undone]
    assert stat.S_IMODE((root / "src" / "crlf.py").stat().st_mode) == 0o750


def test_applies_that_do_not_overlap_are_undone_in_any_order(root, journal):
    entries = [journal.apply([change], change.path) for change in CHANGES]
    assert [entry.id for entry in journal.entries()] == [entry.id for entry in entries]
    journal.undo(entries[0].id[:5])
    assert tree(root) == {**AFTER, "train.py": BEFORE["train.py"]}
    journal.undo()
    assert tree(root) == {**BEFORE, "src/crlf.py": AFTER["src/crlf.py"]}
    assert [entry.undone for entry in journal.entries()] == [True, False, True]
    journal.undo()
    assert tree(root) == BEFORE
    with pytest.raises(Refused, match="nothing to undo"):
        journal.undo()


def test_an_apply_that_a_later_one_overlaps_waits_for_it(root, journal):
    first = journal.apply(CHANGES, "first")
    second = journal.apply([Change("train.py", AFTER["train.py"], b"third\n")], "second")
    with pytest.raises(Refused, match=f"train.py was changed again by the apply {second.id}"):
        journal.undo(first.id)
    assert tree(root) == {**AFTER, "train.py": b"third\n"}
    journal.undo(second.id)
    journal.undo(first.id)
    assert tree(root) == BEFORE


def test_undo_refuses_a_file_that_was_edited_since_and_changes_nothing(root, journal):
    journal.apply(CHANGES, "apply")
    (root / "src" / "no end.py").write_bytes(b"edited")
    with pytest.raises(Refused, match=r"src/no end\.py has changed"):
        journal.undo()
    assert tree(root) == {**AFTER, "src/no end.py": b"edited"}
    assert [entry.undone for entry in journal.entries()] == [False]


def test_undo_names_what_it_does_not_know(root, journal):
    entry = journal.apply(CHANGES, "apply")
    for unknown in ("ffffffff0", "", "\x1b"):
        with pytest.raises(Refused, match="There is no apply"):
            journal.undo(unknown)
    journal.undo(entry.id)
    with pytest.raises(Refused, match="was undone before"):
        journal.undo(entry.id)


def refused(root, journal, changes, match):
    before = tree(root)
    with pytest.raises(Refused, match=match) as caught:
        journal.apply(changes, "apply")
    assert "\n" not in str(caught.value)
    assert tree(root) == before
    assert journal.entries() == []
    assert journal.recover() == []


def test_a_changed_file_refuses_all(root, journal):
    (root / "src" / "no end.py").write_bytes(b"edited")
    refused(root, journal, CHANGES, r"src/no end\.py has changed since it was read")


def test_a_file_that_is_gone_refuses_all(root, journal):
    (root / "src" / "no end.py").unlink()
    refused(root, journal, CHANGES, r"src/no end\.py is no longer there")


def test_nothing_to_do_and_doing_it_twice_are_refused(root, journal):
    refused(root, journal, [], "nothing to apply")
    refused(root, journal, [Change("train.py", b"x", b"x")], "nothing to apply")
    refused(root, journal, [CHANGES[0], *CHANGES], r"train\.py is to be changed twice")


@pytest.mark.parametrize("locked", ["src/no end.py", "src"])
def test_what_is_read_only_refuses_all_before_anything_is_changed(root, journal, locked):
    (root / locked).chmod(0o555)
    try:
        refused(root, journal, CHANGES, f"{Path(locked).name} is read-only: make it writable")
    finally:
        (root / locked).chmod(0o755)


@pytest.mark.parametrize(
    ("path", "match"),
    [
        ("../outside.py", "not a path inside"),
        ("link.py", "symbolic link"),
        ("linked/outside.py", "symbolic link"),
        (".git/config", "belongs to git"),
        ("src", "not a regular file"),
        ("pipe", "not a regular file"),
        ("train.py/x", "no longer there"),
    ],
)
def test_what_must_not_be_touched_refuses_all(root, journal, tmp_path, path, match):
    (tmp_path / "outside.py").write_bytes(b"outside")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    (root / "linked").symlink_to(tmp_path)
    (root / ".git").mkdir()
    (root / ".git" / "config").write_bytes(b"outside")
    os.mkfifo(root / "pipe")
    refused(root, journal, [*CHANGES, Change(path, b"outside", b"changed")], match)
    assert (tmp_path / "outside.py").read_bytes() == b"outside"


def test_a_state_that_cannot_be_written_is_one_sentence(root, tmp_path):
    (tmp_path / "state").write_bytes(b"")
    journal = Journal(root, tmp_path / "state")
    assert journal.entries() == []
    assert journal.recover() == []
    with pytest.raises(UserError, match="cannot be written"):
        journal.apply(CHANGES, "apply")
    assert tree(root) == BEFORE


def test_a_full_disk_takes_everything_back(root, journal, monkeypatch):
    real, seen = os.write, []

    def write(descriptor, data):
        if bytes(data) == AFTER["src/no end.py"]:
            seen.append(descriptor)
            if len(seen) == 2:  # the first is the journal's own copy
                raise OSError(28, "No space left on device")
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    refused(root, journal, CHANGES, r"src/no end\.py cannot be written \(No space left")
    assert len(seen) == 2


def test_an_interrupt_takes_everything_back(root, journal, monkeypatch):
    def interrupted(at, old, new):
        if at.name == "no end.py" and old == BEFORE["src/no end.py"]:
            raise KeyboardInterrupt
        return replace(at, old, new)

    replace = swap.replace
    monkeypatch.setattr(swap, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        journal.apply(CHANGES, "apply")
    assert tree(root) == BEFORE
    assert journal.entries() == []


# -- somebody else writes at the last moment -------------------------------------------------


def just_before_the_exchange(monkeypatch, name, act):
    """Run ``act`` when everything is compared and the exchange of ``name`` is about to happen."""
    real = swap.exchange_call()
    assert real is not None, "this system has no exchange"
    calls = []

    def exchange(folder, one, other):
        if other == name and not calls:
            calls.append(other)
            act()
        return real(folder, one, other)

    monkeypatch.setattr(swap, "exchange_call", lambda: exchange)
    return calls


def test_an_edit_at_the_very_moment_of_the_exchange_is_kept(root, journal, monkeypatch):
    calls = just_before_the_exchange(
        monkeypatch, "no end.py", lambda: (root / "src" / "no end.py").write_bytes(b"edit")
    )
    with pytest.raises(Refused, match=r"src/no end\.py has changed"):
        journal.apply(CHANGES, "apply")
    assert calls
    assert tree(root) == {**BEFORE, "src/no end.py": b"edit"}
    assert journal.entries() == []


def test_an_edit_between_a_crash_and_the_exchange_back_is_put_back(root, tmp_path, monkeypatch):
    """The edit was exchanged out of its place, and the process died before it saw that."""
    child = os.fork()
    if not child:
        just_before_the_exchange(
            monkeypatch, "train.py", lambda: (root / "train.py").write_bytes(b"edit")
        )
        real = swap.content
        swap.content = lambda folder, name: (
            os._exit(9) if name.endswith(".swap") else real(folder, name)
        )
        try:
            Journal(root, tmp_path / "state").apply(CHANGES, "apply")
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert (root / "train.py").read_bytes() == AFTER["train.py"]
    told = Journal(root, tmp_path / "state").recover()
    assert tree(root) == {**BEFORE, "train.py": b"edit"}
    assert "train.py was changed by something else meanwhile and is left as it is." in told


def test_a_system_without_the_exchange_replaces(root, journal, monkeypatch):
    monkeypatch.setattr(swap, "exchange_call", lambda: None)
    journal.apply(CHANGES, "apply")
    assert tree(root) == AFTER
    journal.undo()
    assert tree(root) == BEFORE


def test_a_file_system_without_the_exchange_replaces(root, journal, monkeypatch):
    monkeypatch.setattr(swap, "exchange_call", lambda: lambda folder, one, other: 22)
    journal.apply(CHANGES, "apply")
    assert tree(root) == AFTER


# -- a kill at every call ---------------------------------------------------------------------

CALLS = (
    "chmod", "close", "fchmod", "fchown", "fsync", "link", "lstat", "mkdir", "open", "pread",
    "rename", "replace", "stat", "unlink", "write",
)  # fmt: skip


def doomed(number: int) -> None:
    """Make this process die at its ``number``-th file-system call; a write gets half done."""
    left = [number]

    def wrap(name, real):
        def call(*arguments, **named):
            left[0] -= 1
            if left[0] == 0:
                if name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                os._exit(9)
            # Nothing here survives a power cut anyway, and waiting for the disk is slow.
            return None if name == "fsync" else real(*arguments, **named)

        return call

    for name in CALLS:
        setattr(os, name, wrap(name, getattr(os, name)))
    exchange = swap.exchange_call()
    if exchange is not None:
        dying = wrap("exchange", exchange)
        swap.exchange_call = lambda: dying


def killed(number: int, act) -> bool:
    """Run ``act`` in a process that dies at its ``number``-th call; False when it lived."""
    child = os.fork()
    if not child:
        code = 1
        try:
            doomed(number)
            act()
            code = 0
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, 9)
    return code == 9


def consistent(root, state) -> str:
    """All or nothing, nothing left lying about, and the journal says the same as the files."""
    files = tree(root)
    assert files in (BEFORE, AFTER)
    assert stat.S_IMODE((root / "train.py").stat().st_mode) == 0o755
    standing = [entry for entry in Journal(root, state).entries() if not entry.undone]
    assert bool(standing) == (files == AFTER)
    assert Journal(root, state).recover() == []
    return "after" if files == AFTER else "before"


def scenario(folder: Path, name: str):
    """A project, its state, and what is to be killed in it."""
    root, state = lay(folder / "root"), folder / "state"
    (root / "train.py").chmod(0o755)
    if name == "undo":
        Journal(root, state).apply(CHANGES, "apply")
        return root, state, lambda: Journal(root, state).undo()
    return root, state, lambda: Journal(root, state).apply(CHANGES, "apply")


@pytest.fixture
def no_disk(monkeypatch):
    """Do not wait for the disk in this process either."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)


@pytest.fixture(params=["exchange", "replace"])
def way(request, monkeypatch):
    if request.param == "replace":
        monkeypatch.setattr(swap, "exchange_call", lambda: None)
    return request.param


@pytest.mark.parametrize("name", ["apply", "undo"])
def test_a_kill_at_any_call_leaves_all_or_nothing(tmp_path, name, way, no_disk):
    seen, number, alive = set(), 0, False
    while not alive:
        number += 1
        root, state, act = scenario(tmp_path / str(number), name)
        alive = not killed(number, act)
        told = Journal(root, state).recover()
        where = consistent(root, state)
        assert not any("something else" in sentence for sentence in told)
        seen.add((where, bool(told)))
    assert number > 60
    assert seen >= {("before", True), ("after", True), ("before", False), ("after", False)}


@pytest.mark.parametrize("name", ["apply", "undo"])
def test_a_kill_in_the_recovery_is_recovered(tmp_path, name, no_disk):
    """Every seventeenth call of the change, and for each of them every fourth of the recovery."""
    number, recoveries, alive = 0, 0, False
    while not alive:
        number += 17
        second, busy = number % 4, True
        while busy and not alive:
            second += 4
            root, state, act = scenario(tmp_path / f"{number}-{second}", name)
            alive = not killed(number, act)
            recover = Journal(root, state).recover
            busy = killed(second, recover)
            recover()
            consistent(root, state)
            recoveries += busy
    assert recoveries > 30


@pytest.mark.parametrize("edited", list(BEFORE))
def test_an_edit_after_a_kill_is_left_alone_and_named(tmp_path, edited, no_disk):
    number, alive, named = 0, False, 0
    while not alive:
        number += 2
        root, state, act = scenario(tmp_path / str(number), "apply")
        alive = not killed(number, act)
        untouched = (root / edited).read_bytes() == BEFORE[edited]
        (root / edited).write_bytes(b"my edit")
        told = Journal(root, state).recover()
        files = tree(root)
        assert files.pop(edited) == b"my edit"
        if untouched:  # then the others must not keep the change that this one never had
            assert files.items() <= BEFORE.items()
        assert files in (
            {path: data for path, data in BEFORE.items() if path != edited},
            {path: data for path, data in AFTER.items() if path != edited},
        )
        sentence = f"{edited} was changed by something else meanwhile and is left as it is."
        assert bool(told) == (sentence in told)
        assert Journal(root, state).recover() == []
        named += bool(told)
    assert named > 10


def test_a_file_that_is_gone_after_a_kill_is_named(tmp_path, no_disk):
    number, alive = 0, False
    while not alive:
        number += 3
        root, state, act = scenario(tmp_path / str(number), "apply")
        alive = not killed(number, act)
        (root / "src" / "crlf.py").unlink()
        told = Journal(root, state).recover()
        rest = set(tree(root))
        assert rest == {"train.py", "src/no end.py"}
        assert bool(told) == any("src/crlf.py was changed by something" in one for one in told)


# -- what a restart finds ----------------------------------------------------------------------


def cut_short(root, state):
    """Leave an apply behind that was killed between its first and its last file."""

    def act():
        real = swap.replace

        def replace(at, old, new):
            if at.name == "no end.py":
                os._exit(9)
            real(at, old, new)

        swap.replace = replace
        Journal(root, state).apply(CHANGES, "apply")

    assert killed(10**9, act)
    assert tree(root) not in (BEFORE, AFTER)


def test_recovery_says_what_it_did(root, tmp_path):
    cut_short(root, tmp_path / "state")
    (told,) = Journal(root, tmp_path / "state").recover()
    assert told.startswith("The apply ")
    assert told.endswith("was interrupted: it is taken back.")
    assert tree(root) == BEFORE


def test_recovery_waits_for_an_apply_that_is_still_at_work(root, tmp_path, monkeypatch):
    cut_short(root, tmp_path / "state")
    mixed = tree(root)
    code = (
        "import sys, pathlib; from project.lock import held\n"
        "with held(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    from project import journal

    real = journal.held
    monkeypatch.setattr(journal, "held", lambda state: real(state, timeout=0.05))
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "state")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:
        assert child.stdout.readline() == b"held\n"
        (told,) = Journal(root, tmp_path / "state").recover()
        assert told.startswith("Another cuda2mps is changing")
        assert tree(root) == mixed
        child.stdin.close()
        child.wait()
    assert len(Journal(root, tmp_path / "state").recover()) == 1
    assert tree(root) == BEFORE


def test_the_next_apply_first_ends_what_was_cut_short_and_says_so(root, tmp_path):
    cut_short(root, tmp_path / "state")
    journal = Journal(root, tmp_path / "state")
    with pytest.raises(Refused, match=r"interrupted: it is taken back\. Look at it and try again"):
        journal.apply(CHANGES, "apply")
    assert tree(root) == BEFORE
    journal.apply(CHANGES, "apply")
    assert tree(root) == AFTER


def test_a_file_that_cannot_be_given_back_now_is_named_and_tried_again(root, tmp_path, monkeypatch):
    cut_short(root, tmp_path / "state")
    mixed = tree(root)
    real = swap.replace

    def replace(at, old, new):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(swap, "replace", replace)
    (told,) = Journal(root, tmp_path / "state").recover()
    assert "cannot be given back its old content (Permission denied)" in told
    assert tree(root) == mixed
    monkeypatch.setattr(swap, "replace", real)
    assert len(Journal(root, tmp_path / "state").recover()) == 1
    assert tree(root) == BEFORE


@pytest.mark.parametrize(
    "line",
    [
        b"\xff",
        b'{"event":"begin"}',
        b'{"event":"begin","id":"../../x","of":"aaaaaaaa","at":"","label":"","findings":[],'
        b'"files":[]}',
        b'{"event":"begin","id":"aaaaaaaa","of":"aaaaaaaa","at":"","label":"","findings":[],'
        b'"files":[{"path":"train.py","old":"../x","new":"../x"}]}',
        b'{"event":"begin","id":"aaaaaaaa","of":"aaaaaaaa","at":"","label":"","findings":[],'
        b'"files":[]}',
        b'{"event":"begin","id":1,"of":[],"at":"","label":"","findings":[],"files":[]}',
        b'{"event":"end","id":["x"]}',
        b'{"event":"end"}',
        b'{"event":"begin","id":"aaaa',
    ],
)
def test_a_damaged_line_costs_only_itself(root, journal, tmp_path, line):
    first = journal.apply(CHANGES[:1], "first")
    with (tmp_path / "state" / "journal.jsonl").open("ab") as file:
        file.write(line)
    assert journal.recover() == []
    assert journal.entries() == [first]
    journal.apply(CHANGES[1:], "second")
    assert tree(root) == AFTER
    journal.undo(first.id)
    assert tree(root) == {**AFTER, "train.py": BEFORE["train.py"]}


def test_a_damaged_copy_refuses_the_undo(root, journal, tmp_path):
    journal.apply(CHANGES, "apply")
    for kept in (tmp_path / "state" / "journal").iterdir():
        kept.write_bytes(b"damaged")
    with pytest.raises(UserError, match="is damaged"):
        journal.undo()
    assert tree(root) == AFTER


def test_names_that_are_no_text_are_kept(root, journal, tmp_path):
    path = os.fsdecode(b"src/\xff [new]\nline.py")
    lay(root, {path: b"old"})
    journal.apply([Change(path, b"old", b"new")], "apply", [os.fsdecode(b"\xfe")])
    (entry,) = Journal(root, tmp_path / "state").entries()
    assert entry.paths == (path,)
    assert (root / path).read_bytes() == b"new"
    journal.undo()
    assert (root / path).read_bytes() == b"old"


@settings(max_examples=25, deadline=None)
@given(before=st.binary(max_size=200), after=st.binary(max_size=200))
def test_any_bytes_go_there_and_back(tmp_path_factory, before, after):
    folder = tmp_path_factory.mktemp("any")
    (folder / "file").write_bytes(before)
    journal = Journal(folder, folder / ".cuda2mps")
    if before == after:
        return
    journal.apply([Change("file", before, after)], "apply")
    assert (folder / "file").read_bytes() == after
    journal.undo()
    assert (folder / "file").read_bytes() == before
