"""`apply --to` the index and a branch, and back, in a repository that a person would have."""

import os
from pathlib import Path

import pytest

from project import staging, transactions
from project.errors import Refused
from project.journal import Journal
from project.vocabulary import Edit, Fix, Proposal
from reports.commits import message
from reports.session import Session
from rewriters.split import by_rule
from tests.project.conftest import plain_git
from tests.project.test_git_hostile import armed, traces
from tui import jobs
from tui.cli import run

PROGRAM = b"""\
import torch

model = torch.nn.Linear(2, 2).cuda()
x = torch.ones(1, 2).cuda()
torch.cuda.synchronize()
"""
OTHER = b"import torch\r\nx = torch.ones(1).cuda()"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    plain_git(folder, "init", "--quiet", "--initial-branch=main")
    plain_git(folder, "config", "user.name", "Ann")
    plain_git(folder, "config", "user.email", "ann@example.invalid")
    (folder / "train.py").write_bytes(PROGRAM)
    (folder / "train.py").chmod(0o755)
    (folder / "other file.py").write_bytes(OTHER)
    (folder / "notes.txt").write_text("notes\n")
    plain_git(folder, "add", "--all")
    plain_git(folder, "commit", "--quiet", "--message=Start")
    return folder


def standing(repo: Path) -> tuple[object, ...]:
    """Everything that a person sees: files, index, HEAD and branches."""
    files = {path.name: path.read_bytes() for path in repo.iterdir() if path.is_file()}
    asked = (("ls-files", "--stage"), ("symbolic-ref", "HEAD"), ("show-ref",), ("stash", "list"))
    return files, *(plain_git(repo, *words, check=False) for words in asked)


def patch_of(repo: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> bytes:
    capfdbinary.readouterr()
    assert run(["diff", str(repo)]) == 0
    return capfdbinary.readouterr().out


# -- a branch -------------------------------------------------------------------------------------


def test_a_branch_has_a_commit_a_rule_and_nothing_else_moves(repo, capfdbinary):
    before = standing(repo)
    patch = patch_of(repo, capfdbinary)
    assert run(["apply", str(repo), "--to", "branch:mac/first"]) == 0
    assert b"the new branch mac/first" in capfdbinary.readouterr().out
    subjects = plain_git(repo, "log", "--format=%s|%an <%ae>", "main..mac/first").splitlines()
    assert subjects == [
        b"Make cuda-call (D107) work without CUDA|Ann <ann@example.invalid>",
        b"Make cuda-method (D103) work without CUDA|Ann <ann@example.invalid>",
    ]
    assert plain_git(repo, "diff", "main", "mac/first") == patch
    listing = plain_git(repo, "ls-tree", "-r", "mac/first").decode()
    assert "100755" in listing.splitlines()[-1]
    assert plain_git(repo, "status", "--porcelain") == b""
    assert standing(repo)[0:3] == before[0:3]
    assert run(["undo", str(repo), "--list"]) == 0
    assert b"applied     branch:mac/first  other file.py, train.py" in capfdbinary.readouterr().out
    assert run(["undo", str(repo)]) == 0
    assert b"the branch mac/first is deleted" in capfdbinary.readouterr().out
    assert standing(repo) == before
    assert run(["undo", str(repo)]) == 1


def test_findings_stay_open_when_only_a_branch_has_the_rewrites(repo, capfdbinary):
    patch = patch_of(repo, capfdbinary)
    assert run(["apply", str(repo), "--to", "branch:mac"]) == 0
    assert patch_of(repo, capfdbinary) == patch
    assert run(["apply", str(repo)]) == 0
    assert run(["undo", str(repo)]) == 0
    assert plain_git(repo, "branch", "--list", "mac") != b""


def test_a_detached_head_and_a_dirty_other_file_do_not_matter(repo):
    plain_git(repo, "checkout", "--quiet", "--detach")
    (repo / "notes.txt").write_text("changed\n")
    assert run(["apply", str(repo), "--to", "branch:mac"]) == 0
    assert plain_git(repo, "show", "mac:notes.txt") == b"notes\n"


def test_line_ends_are_converted_as_the_project_says(repo):
    (repo / ".gitattributes").write_text("*.py text eol=crlf\n")
    for name in ("train.py", "other file.py"):
        path = repo / name
        path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    plain_git(repo, "add", "--all")
    plain_git(repo, "commit", "--quiet", "--message=Ends")
    assert run(["apply", str(repo), "--to", "branch:mac"]) == 0
    assert run(["apply", str(repo)]) == 0
    applied = (repo / "train.py").read_bytes()
    assert plain_git(repo, "show", "mac:train.py") == applied.replace(b"\r\n", b"\n") != applied


REFUSALS = {
    "exists": ("branch:main", lambda repo: None, "a branch main already"),
    "a bad name": ("branch:a..b", lambda repo: None, "no name for a branch"),
    "a dash": ("branch:-x", lambda repo: None, "no name for a branch"),
    "HEAD": ("branch:HEAD", lambda repo: None, "no name for a branch"),
    "below a branch": ("branch:main/x", lambda repo: None, "cannot lock ref"),
    "differs from HEAD": (
        "branch:mac",
        lambda repo: (repo / "train.py").write_bytes(PROGRAM + b"# mine\n"),
        "train.py differs from HEAD",
    ),
    "untracked": (
        "branch:mac",
        lambda repo: (repo / "new.py").write_bytes(PROGRAM),
        "new.py is not in HEAD",
    ),
    "not in the index": (
        "index",
        lambda repo: (repo / "new.py").write_bytes(PROGRAM),
        "new.py is not in the index",
    ),
    "index differs": (
        "index",
        lambda repo: (repo / "train.py").write_bytes(PROGRAM + b"# mine\n"),
        "train.py differs from the index",
    ),
}


@pytest.mark.parametrize("case", REFUSALS)
@pytest.mark.parametrize("check", [[], ["--check"]])
def test_what_does_not_fit_is_refused_and_nothing_changes(repo, case, check, capsys):
    to, prepare, words = REFUSALS[case]
    prepare(repo)
    before = standing(repo)
    assert run(["apply", str(repo), "--to", to, *check]) == 1
    said = capsys.readouterr()
    assert words in said.err
    assert said.err.count("\n") == 1
    assert standing(repo) == before


def test_nobody_commits_without_a_name(repo, capsys, monkeypatch):
    for key in ("user.name", "user.email"):
        plain_git(repo, "config", "--unset", key)
    monkeypatch.delenv("EMAIL", raising=False)
    before = standing(repo)
    for more in ([], ["--check"]):
        assert run(["apply", str(repo), "--to", "branch:mac", *more]) == 2
        assert "git does not know who you are" in capsys.readouterr().err
    assert standing(repo) == before


def test_without_a_commit_or_without_git_there_is_no_branch(tmp_path, capsys):
    (tmp_path / "train.py").write_bytes(PROGRAM)
    for to in ("index", "branch:mac"):
        assert run(["apply", str(tmp_path), "--to", to]) == 1
        assert "no git repository" in capsys.readouterr().err
    plain_git(tmp_path, "init", "--quiet")
    assert run(["apply", str(tmp_path), "--to", "branch:mac"]) == 1
    assert "no commit yet" in capsys.readouterr().err


@pytest.mark.parametrize("to", ["nowhere", "branch:", "branch", ""])
def test_another_place_is_wrong_usage(repo, to):
    assert run(["apply", str(repo), "--to", to]) == 2


def test_a_branch_that_moved_or_is_used_is_not_deleted(repo, capsys):
    assert run(["apply", str(repo), "--to", "branch:mac"]) == 0
    plain_git(repo, "checkout", "--quiet", "mac")
    before = standing(repo)
    assert run(["undo", str(repo)]) == 1
    assert "is checked out in" in capsys.readouterr().err
    plain_git(repo, "checkout", "--quiet", "main")
    tip = plain_git(repo, "rev-parse", "mac").decode().strip()
    plain_git(repo, "branch", "--force", "mac", "main")
    assert run(["undo", str(repo)]) == 1
    assert "has moved since" in capsys.readouterr().err
    plain_git(repo, "branch", "--force", "mac", tip)
    assert standing(repo)[3] == before[3]
    assert run(["undo", str(repo)]) == 0
    assert plain_git(repo, "branch", "--list", "mac") == b""


# -- the index ------------------------------------------------------------------------------------


def test_the_index_and_the_files_change_together_and_back(repo, capfdbinary):
    before = standing(repo)
    patch = patch_of(repo, capfdbinary)
    assert run(["apply", str(repo), "--to", "index", "--check"]) == 0
    assert standing(repo) == before
    assert run(["apply", str(repo), "--to", "index"]) == 0
    assert plain_git(repo, "diff") == b""
    assert plain_git(repo, "diff", "--cached") == patch
    assert plain_git(repo, "status", "--porcelain") == b'M  "other file.py"\nM  train.py\n'
    assert run(["undo", str(repo)]) == 0
    assert standing(repo) == before
    assert plain_git(repo, "status", "--porcelain") == b""


def test_what_was_staged_since_is_not_undone(repo, capsys):
    assert run(["apply", str(repo), "--to", "index"]) == 0
    applied = (repo / "train.py").read_bytes()
    (repo / "train.py").write_bytes(b"mine\n")
    plain_git(repo, "add", "train.py")
    (repo / "train.py").write_bytes(applied)
    before = standing(repo)
    assert run(["undo", str(repo)]) == 1
    assert "train.py was changed in the index since" in capsys.readouterr().err
    assert standing(repo) == before


def test_a_locked_index_takes_everything_back(repo, capsys):
    before = standing(repo)
    (repo / ".git" / "index.lock").touch()
    assert run(["apply", str(repo), "--to", "index"]) == 2
    assert "index.lock" in capsys.readouterr().err
    assert standing(repo) == before


# -- a crash --------------------------------------------------------------------------------------


class Crash(BaseException):
    """As a kill: nothing is tidied."""


def crash(*arguments, **named):
    raise Crash


@pytest.mark.parametrize("where", [(staging, "stage"), (transactions, "end")])
def test_an_apply_to_the_index_is_finished_after_a_crash(repo, monkeypatch, where):
    with monkeypatch.context() as patched:
        patched.setattr(*where, crash)
        patched.setattr(Journal, "_take_back", crash)
        with pytest.raises(Crash):
            run(["apply", str(repo), "--to", "index"])
    assert ["is finished now" in one for one in Session.open(repo).recovered] == [True]
    assert plain_git(repo, "diff") == b""
    assert b".cuda()" not in plain_git(repo, "show", ":train.py")
    assert run(["undo", str(repo)]) == 0
    assert plain_git(repo, "status", "--porcelain") == b""


@pytest.mark.parametrize(
    ("where", "words", "left"),
    [((staging, "create"), "taken back", b""), ((transactions, "end"), "finished", b"  mac\n")],
)
def test_a_crash_leaves_a_whole_branch_or_none(repo, monkeypatch, where, words, left):
    with monkeypatch.context() as patched:
        patched.setattr(*where, crash)
        with pytest.raises(Crash):
            run(["apply", str(repo), "--to", "branch:mac"])
    session = Session.open(repo)
    assert [words in one for one in session.recovered] == [True]
    assert plain_git(repo, "branch", "--list", "mac") == left
    assert len(session.applies()) == bool(left)


# -- a hostile repository -------------------------------------------------------------------------


@pytest.mark.parametrize("to", ["index", "branch:mac"])
def test_nothing_that_the_repository_configures_runs(repo, tmp_path, to):
    trace = tmp_path / "trace"
    trace.mkdir()
    armed(repo, trace)
    plain_git(repo, "config", "core.splitIndex", "true")
    plain_git(repo, "config", "i18n.commitEncoding", "utf-16")
    for path in repo.glob("*.py"):
        os.utime(path, (1, 1))
    for file in trace.iterdir():
        file.unlink()
    content = {path.name: path.read_bytes() for path in repo.glob("*.py")}
    assert run(["apply", str(repo), "--to", to, "--check"]) == 0
    assert run(["apply", str(repo), "--to", to]) == 0
    assert run(["undo", str(repo)]) == 0
    assert traces(trace) == set()
    assert {path.name: path.read_bytes() for path in repo.glob("*.py")} == content
    plain_git(repo, "-c", "commit.gpgSign=false", "branch", "other", check=False)
    plain_git(repo, "add", "train.py", check=False)
    assert {"hook-reference-transaction", "clean", "fsmonitor"} <= traces(trace)


def test_what_a_filter_would_change_is_refused(repo, capsys):
    (repo / ".gitattributes").write_text("*.py filter=one\n")
    plain_git(repo, "config", "filter.one.clean", "tr a-z A-Z")
    plain_git(repo, "add", "--all")
    plain_git(repo, "commit", "--quiet", "--message=Loud")
    before = standing(repo)
    for to in ("index", "branch:mac"):
        assert run(["apply", str(repo), "--to", to]) == 1
        assert "differs from" in capsys.readouterr().err
    assert standing(repo) == before


# -- one commit a rule ----------------------------------------------------------------------------


def proposal(rule: str, number: int, *edits: Edit, needs: tuple[str, ...] = ()) -> Proposal:
    return Proposal(f"{rule}-{number}", rule, "a.py", "", edits, Fix.SAFE, "", needs)


def test_rules_on_one_line_share_a_group_and_the_rest_does_not():
    data = b"one two\nthree\nfour\nfive\n"
    shared = Edit(0, 0, b"import os\n")
    chosen = [
        proposal("D102", 0, shared, Edit(0, 3, b"1")),
        proposal("D101", 0, Edit(4, 7, b"2")),
        proposal("D102", 1, shared, Edit(8, 13, b"3")),
        proposal("D103", 0, shared, Edit(14, 18, b"4"), needs=("D104-0",)),
        proposal("D104", 0, Edit(19, 23, b"5")),
        proposal("D101", 1, shared),
        proposal("D105", 0, shared),
    ]
    found = [
        (codes, [one.finding for one in group]) for codes, group in by_rule(chosen, {"a.py": data})
    ]
    assert found == [
        (("D101", "D102", "D105"), ["D102-0", "D101-0", "D101-1", "D105-0"]),
        (("D102",), ["D102-1"]),
        (("D103", "D104"), ["D103-0", "D104-0"]),
    ]


def test_a_message_names_every_rule_of_its_commit():
    subject, *rest = message(("D103", "D107")).split("\n\n")
    assert subject == "Make cuda-method (D103) and cuda-call (D107) work without CUDA"
    assert rest[0] == "D103 cuda-method:"
    assert rest[3] == "D107 cuda-call:"
    assert all(len(line) <= 72 for part in rest for line in part.splitlines())


def test_the_screen_takes_back_what_is_in_the_files_and_leaves_branches(repo):
    assert run(["apply", str(repo)]) == 0
    plain_git(repo, "stash", "--quiet")
    assert run(["apply", str(repo), "--to", "branch:mac"]) == 0
    plain_git(repo, "stash", "pop", "--quiet")
    session = Session.open(repo)
    assert jobs.read_history(session).applies == 1
    assert jobs.undo_apply(session).applied.entry.to == "worktree"
    assert (repo / "train.py").read_bytes() == PROGRAM
    with pytest.raises(Refused):
        jobs.undo_apply(session)
    assert plain_git(repo, "branch", "--list", "mac") != b""
