import os
import shutil
import stat
import tempfile
from pathlib import Path

import pytest

from project.config import Config
from project.decisions import DecisionLog
from project.errors import UserError
from project.evidence import EvidenceStore
from project.files import listed
from project.git import Git
from project.journal import Change, Journal
from project.lock import held
from project.workspace import Workspace
from tests.project.conftest import plain_git


def everything(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


def test_inside_git_the_state_lies_in_the_git_directory(repository):
    assert Workspace.open(repository) == Workspace(
        repository, "", Git.discover(repository), Config(), repository / ".git" / "cuda2mps"
    )
    assert Workspace.open(repository / "src").scope == "src"


def test_outside_git_the_directory_itself_is_the_project(tmp_path):
    (tmp_path / "cuda2mps.toml").write_text('torch = "2.14"\n')
    assert Workspace.open(tmp_path) == Workspace(
        tmp_path, "", None, Config(torch="2.14"), tmp_path / ".cuda2mps"
    )


def test_opening_and_reading_write_nothing(repository, tmp_path):
    (tmp_path / "plain").mkdir()
    for folder in (repository, tmp_path / "plain"):
        before = everything(folder)
        workspace = Workspace.open(folder)
        listed(workspace)
        assert Journal(workspace.root, workspace.state).recover() == []
        assert DecisionLog(workspace.state).current() == {}
        assert EvidenceStore(workspace.state).all() == []
        assert everything(folder) == before


def test_the_first_write_makes_the_state_for_its_owner_alone(repository):
    workspace = Workspace.open(repository)
    change = Change("train.py", b"model.cuda()\n", b"model.to(device)\n")
    Journal(workspace.root, workspace.state).apply([change], "apply")
    assert stat.S_IMODE(workspace.state.stat().st_mode) == 0o700
    assert plain_git(repository, "status", "--porcelain") == b" M train.py\n"


def test_a_linked_work_tree_has_a_state_of_its_own(repository, tmp_path):
    plain_git(repository, "worktree", "add", "--quiet", str(tmp_path / "second"))
    state = Workspace.open(tmp_path / "second").state
    assert state == repository / ".git" / "worktrees" / "second" / "cuda2mps"


def test_an_ignored_directory_is_outside_git(repository):
    (repository / "ignored").mkdir()
    workspace = Workspace.open(repository / "ignored")
    assert workspace.git is None
    assert workspace.state == repository / "ignored" / ".cuda2mps"


def test_an_empty_directory_and_an_unborn_branch_work(tmp_path):
    assert listed(Workspace.open(tmp_path)) == ([], [])
    plain_git(tmp_path, "init", "--quiet")
    workspace = Workspace.open(tmp_path)
    assert listed(workspace) == ([], [])
    assert workspace.git.head() is None


def test_without_git_the_files_are_walked(repository, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    workspace = Workspace.open(repository)
    assert workspace.git is None
    assert listed(workspace)[0] == [".gitignore", "src/data.py", "train.py"]


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nowhere", "There is no directory {path}."),
        ("no\x1bwhere", "There is no directory {path}."),
        ("file", "{path} is not a directory: name the directory of the project."),
        ("file/below", "{path} cannot be reached."),
        ("loop", "{path} cannot be reached."),
        ("nul\0", "{path} cannot be reached."),
        ("r/.git", "{path} belongs to git itself: open a work tree of that repository."),
        ("r/.git/refs", "{path} belongs to git itself: open a work tree of that repository."),
        ("bare", "{path} belongs to git itself: open a work tree of that repository."),
        ("bare/refs", "{path} belongs to git itself: open a work tree of that repository."),
    ],
)
def test_what_is_no_project_is_one_sentence(tmp_path, path, sentence):
    (tmp_path / "file").write_text("")
    (tmp_path / "loop").symlink_to("loop")
    plain_git(tmp_path, "init", "--quiet", "r")
    plain_git(tmp_path, "init", "--quiet", "--bare", "bare")
    with pytest.raises(UserError) as caught:
        Workspace.open(tmp_path / path)
    shown = str(tmp_path / path).replace("\x1b", "\\x1b").replace("\0", "\\x00")
    assert str(caught.value) == sentence.format(path=shown)


def as_nobody(act) -> str:
    """What ``act`` says when it runs without the rights of the superuser."""
    out, into = os.pipe()
    child = os.fork()
    if not child:
        said = "something else was raised"
        try:
            if os.geteuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            said = str(act())
        except UserError as error:
            said = str(error)
        finally:
            os.write(into, said.encode())
            os._exit(0)
    os.close(into)
    os.waitpid(child, 0)
    with os.fdopen(out) as pipe:
        return pipe.read()


@pytest.fixture
def shared():
    """A directory that everybody can reach; pytest's own are for their owner alone."""
    folder = Path(tempfile.mkdtemp(dir="/tmp")).resolve()
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_a_directory_that_cannot_be_read_is_one_sentence(shared):
    (shared / "locked").mkdir(mode=0o700)
    (shared / "locked").chmod(0 if os.geteuid() else 0o700)
    said = as_nobody(lambda: Workspace.open(shared / "locked"))
    assert said == f"{shared}/locked cannot be read: you lack the permission."
    said = as_nobody(lambda: Workspace.open(shared / "locked" / "below"))
    assert said == f"{shared}/locked/below cannot be reached."


def test_a_project_on_a_read_only_place_can_be_looked_at(shared):
    (shared / "train.py").write_bytes(b"x\n")
    shared.chmod(0o555)

    def look():
        workspace = Workspace.open(shared)
        return (
            listed(workspace),
            Journal(workspace.root, workspace.state).recover(),
            DecisionLog(workspace.state).current(),
            EvidenceStore(workspace.state).all(),
        )

    def lock():
        with held(shared / ".cuda2mps"):
            return "held"

    def apply():
        change = Change("train.py", b"x\n", b"y\n")
        return Journal(shared, shared / ".cuda2mps").apply([change], "apply")

    assert as_nobody(look) == "((['train.py'], []), [], {}, [])"
    for act in (lock, apply):
        said = as_nobody(act)
        assert said.startswith(f"{shared}/.cuda2mps cannot be written (Permission denied)")


def test_a_state_of_somebody_else_is_one_sentence(shared):
    state = shared / ".cuda2mps"
    DecisionLog(state).record([])
    state.mkdir(mode=0o700)
    (state / "decisions.jsonl").write_bytes(b"")
    if os.geteuid():
        state.chmod(0)
    said = as_nobody(lambda: DecisionLog(state).current())
    assert said == (
        f"{state}/decisions.jsonl cannot be read (Permission denied): make it readable and try "
        "again."
    )
    if os.geteuid():
        state.chmod(0o700)
