import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import project
from project.errors import Refused, UserError
from project.git import Git, diff_trees
from tests.project.conftest import plain_git

# -- what a repository is -----------------------------------------------------------------------


def test_a_work_tree_is_found_from_anywhere_in_it(repository):
    for path in (repository, repository / "src"):
        git = Git.discover(path)
        assert git == Git(repository.resolve(), repository.resolve() / ".git")


def test_the_path_may_pass_a_link(repository, tmp_path):
    (tmp_path / "link").symlink_to(repository / "src")
    assert Git.discover(tmp_path / "link").top == repository


def test_outside_git_there_is_none(tmp_path):
    assert Git.discover(tmp_path) is None


def test_an_ignored_directory_is_a_project_of_its_own(repository):
    (repository / "ignored" / "deep").mkdir(parents=True)
    assert Git.discover(repository / "ignored") is None
    assert Git.discover(repository / "ignored" / "deep") is None
    (repository / "ignored" / "deep" / "kept.py").write_text("")
    plain_git(repository, "add", "--force", "ignored/deep/kept.py")
    assert Git.discover(repository / "ignored" / "deep").top == repository


def test_an_empty_directory_that_is_not_ignored_belongs_to_the_repository(repository):
    (repository / "new").mkdir()
    assert Git.discover(repository / "new").top == repository


def test_a_git_directory_is_no_work_tree(repository, tmp_path):
    plain_git(tmp_path, "init", "--quiet", "--bare", "bare")
    assert Git.discover(repository / ".git") is None
    assert Git.discover(repository / ".git" / "refs") is None
    assert Git.discover(tmp_path / "bare") is None


def test_a_linked_work_tree_has_its_own_directory(repository, tmp_path):
    plain_git(repository, "worktree", "add", "--quiet", str(tmp_path / "second"))
    git = Git.discover(tmp_path / "second")
    assert git.top == tmp_path / "second"
    assert git.directory == repository / ".git" / "worktrees" / "second"
    assert git.branch() == "second"


def test_a_work_tree_that_is_configured_elsewhere_is_not_believed(repository, tmp_path):
    for place in (tmp_path, tmp_path / "elsewhere"):
        place.mkdir(exist_ok=True)
        plain_git(repository, "config", "core.worktree", str(place))
        assert Git.discover(repository) is None


def test_the_environment_cannot_turn_it_elsewhere(repository, tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    plain_git(tmp_path / "other", "init", "--quiet")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "other" / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path / "other"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    monkeypatch.setenv("GIT_NAMESPACE", "odd")
    monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'core.quotePath'='nonsense'")
    git = Git.discover(repository)
    assert git.top == repository
    assert git.files() == [".gitignore", "src/data.py", "train.py"]
    assert not git.is_dirty()
    assert Git.discover(tmp_path) is None


def test_without_git_there_is_none_and_no_patch(repository, tmp_path, monkeypatch):
    git = Git.discover(repository)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Git.discover(repository) is None
    for act in (lambda: diff_trees({"a": b"1"}, {"a": b"2"}, {}), lambda: Git.create(tmp_path)):
        with pytest.raises(UserError, match="git is needed"):
            act()
    with pytest.raises(UserError, match="git is not installed"):
        git.files()


def test_the_first_call_needs_no_git_either(tmp_path):
    code = "import pathlib; from project.git import Git; print(Git.discover(pathlib.Path('.')))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env={"PATH": str(tmp_path), "PYTHONPATH": str(Path(project.__file__).parents[1])},
        check=False,
    )
    assert (done.stdout, done.stderr) == ("None\n", "")


def test_a_repository_of_another_user_is_one_sentence(repository, monkeypatch):
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    # The wrapper drops this variable like every other, so it has to be let through for once.
    monkeypatch.setattr(
        "project.git._ENVIRONMENT",
        {**project.git._ENVIRONMENT, "GIT_TEST_ASSUME_DIFFERENT_OWNER": "1"},
    )
    with pytest.raises(UserError) as caught:
        Git.discover(repository)
    assert str(caught.value) == (
        f"git refuses {repository} because it belongs to another user: if you trust it, run "
        f"git config --global --add safe.directory {repository}"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only the superuser can give a file away")
def test_a_repository_that_was_given_away_is_one_sentence(repository):
    for path in (repository, repository / ".git"):
        os.chown(path, 12345, 12345)
    with pytest.raises(UserError, match="belongs to another user"):
        Git.discover(repository)
    plain_git(repository, "config", "--global", "--add", "safe.directory", str(repository))
    assert Git.discover(repository).files() == [".gitignore", "src/data.py", "train.py"]


@pytest.mark.parametrize("damage", ["config", "index", "HEAD"])
def test_a_damaged_repository_is_one_sentence(repository, damage):
    (repository / ".git" / damage).write_bytes(b"[\x1b damaged")
    with pytest.raises(UserError) as caught:  # noqa: PT012 - whichever call meets the damage
        git = Git.discover(repository)
        if git is None:  # git itself no longer takes it for a repository
            raise UserError("git fails in x: outside.")
        git.files()
    assert str(caught.value).startswith("git fails in ")
    assert str(caught.value).isprintable()


# -- what is in it -------------------------------------------------------------------------------


def test_files_are_what_is_tracked_or_could_be_and_is_there(repository):
    (repository / "new [1].py").write_text("")
    (repository / "run.log").write_text("")
    (repository / "ignored").mkdir()
    (repository / "ignored" / "x.py").write_text("")
    (repository / "train.py").unlink()
    assert Git.discover(repository).files() == [".gitignore", "new [1].py", "src/data.py"]


def test_names_of_any_bytes_come_back(repository):
    names = [b"a\nb", b"sp ace", b"\xff\xfe", "größe".encode(), b'qu"ote\\', b"-n", b"\x1b[0m"]
    for name in names:
        (repository / os.fsdecode(name)).write_text("")
    plain_git(repository, "add", "--", os.fsdecode(names[0]), os.fsdecode(names[2]))
    found = Git.discover(repository / "src").files()
    assert {os.fsencode(path) for path in found} >= set(names)
    assert len(found) == len(set(found)) == 3 + len(names)


def test_a_conflict_lists_a_file_once(repository):
    plain_git(repository, "checkout", "--quiet", "-b", "other")
    (repository / "train.py").write_text("other\n")
    plain_git(repository, "commit", "--quiet", "--all", "--message=Other")
    plain_git(repository, "checkout", "--quiet", "main")
    (repository / "train.py").write_text("main\n")
    plain_git(repository, "commit", "--quiet", "--all", "--message=Main")
    plain_git(repository, "merge", "other", check=False)
    git = Git.discover(repository)
    assert git.files() == [".gitignore", "src/data.py", "train.py"]
    assert git.is_dirty()


def test_a_directory_that_became_a_link_has_no_files(repository, tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "data.py").write_text("secret")
    shutil.rmtree(repository / "src")
    (repository / "src").symlink_to(tmp_path / "elsewhere")
    assert Git.discover(repository).files() == [".gitignore", "src", "train.py"]


def test_submodules_and_inner_repositories_are_named_not_entered(repository, tmp_path):
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "x.py").write_text("")
    Git.create(tmp_path / "lib")
    plain_git(
        repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
        str(tmp_path / "lib"), "deps/lib",
    )  # fmt: skip
    shutil.copytree(tmp_path / "lib", repository / "inner")
    git = Git.discover(repository)
    assert git.submodules() == ["deps/lib", "inner"]
    assert git.files() == [".gitignore", ".gitmodules", "src/data.py", "train.py"]
    assert Git.discover(repository / "deps" / "lib").top == repository / "deps" / "lib"


def test_head_and_branch(repository, tmp_path):
    git = Git.discover(repository)
    assert git.head() == plain_git(repository, "rev-parse", "HEAD").decode().strip()
    assert git.branch() == "main"
    plain_git(repository, "checkout", "--quiet", "--detach")
    assert git.branch() is None
    (tmp_path / "unborn").mkdir()
    plain_git(tmp_path / "unborn", "init", "--quiet", "--initial-branch=first")
    unborn = Git.discover(tmp_path / "unborn")
    assert (unborn.head(), unborn.branch(), unborn.files()) == (None, "first", [])
    assert not unborn.is_dirty()


def test_dirty_means_a_tracked_file_changed(repository):
    git = Git.discover(repository)
    (repository / "untracked").write_text("")
    (repository / "train.py").touch()
    os.utime(repository / "train.py", (1, 1))
    index = (repository / ".git" / "index").read_bytes()
    assert not git.is_dirty()
    assert (repository / ".git" / "index").read_bytes() == index
    (repository / "train.py").write_text("changed\n")
    assert git.is_dirty()
    plain_git(repository, "add", "train.py")
    assert git.is_dirty()


def test_run_takes_input_and_accepts_answers(repository):
    git = Git.discover(repository)
    assert git.run("hash-object", "--stdin", stdin=b"").startswith(b"e69de29b")
    assert git.run("check-ignore", "--stdin", stdin=b"a.log\nb.py\n") == b"a.log\n"
    assert git.run("check-ignore", "-q", "b.py", accept=(1,)) == b""
    with pytest.raises(UserError, match=r"git fails in .*: Needed a single revision\.$"):
        git.run("rev-parse", "--verify", "no-such-thing")


def test_create_needs_nothing_of_the_user(tmp_path, home):
    (home / ".gitconfig").write_text(
        "[init]\n templateDir = /nowhere\n defaultBranch = odd\n[commit]\n gpgSign = true\n"
        "[core]\n excludesFile = ~/ignore\n autocrlf = true\n hooksPath = ~/hooks\n"
    )
    (home / "ignore").write_text("*.py\n")
    folder = tmp_path / "demo"
    folder.mkdir()
    (folder / "a.py").write_bytes(b"x\r\n")
    git = Git.create(folder)
    assert (git.branch(), git.files(), git.is_dirty()) == ("main", ["a.py"], False)
    assert git.run("cat-file", "blob", "HEAD:a.py") == b"x\r\n"
    assert git.run("log", "--format=%an %s") == b"cuda2mps Start\n"
    assert Git.discover(folder) == git


# -- patches -------------------------------------------------------------------------------------


def applied(folder: Path, files, patch: bytes) -> dict[str, bytes]:
    """What plain git makes of the files and the patch."""
    folder.mkdir()
    for path, data in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    subprocess.run(command, input=patch, cwd=folder, check=True, capture_output=True)
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_patch_is_the_one_that_a_repository_would_give(repository):
    before = {"train.py": b"model.cuda()\n", "src/data.py": b"x = 1\r\n"}
    after = {"train.py": b"model.to(device)", "src/data.py": b"x = 2\r\n"}
    for path, data in after.items():
        (repository / path).write_bytes(data)
    assert diff_trees(before, after, {}) == plain_git(repository, "diff")


def test_nothing_changed_is_no_patch(tmp_path):
    assert diff_trees({}, {}, {}) == b""
    assert diff_trees({"a": b"1"}, {"a": b"1"}, {}) == b""


def test_added_removed_modes_context_and_order():
    before = {"a-b": b"1\n", "a/b": b"1\n", "gone": b"x\n", "same": b"s\n"}
    after = {"a-b": b"2\n", "a/b": b"2\n", "new": b"n\n", "same": b"s\n"}
    patch = diff_trees(before, after, {"a/b": 0o100755, "new": 0o755}, context=0)
    assert [line for line in patch.splitlines() if line.startswith((b"diff", b"new", b"del"))] == [
        b"diff --git a/a-b b/a-b",
        b"diff --git a/a/b b/a/b",
        b"diff --git a/gone b/gone",
        b"deleted file mode 100644",
        b"diff --git a/new b/new",
        b"new file mode 100755",
    ]
    assert b" 100755\n--- a/a/b\n+++ b/a/b\n" in patch


def test_context_is_as_asked():
    lines = [b"%d\n" % number for number in range(20)]
    before = b"".join(lines)
    after = before.replace(b"10\n", b"ten\n")
    for context in (0, 1, 7):
        patch = diff_trees({"f": before}, {"f": after}, {}, context)
        assert patch.count(b"\n ") == 2 * context


def test_no_configuration_has_a_say(repository, home, monkeypatch):
    before, after = {"ä b.py": b"x\n\n\ny \n"}, {"ä b.py": b"x\n\n\nz\t\n"}
    expected = diff_trees(before, after, {})
    assert expected.startswith(b'diff --git "a/\\303\\244 b.py" "b/\\303\\244 b.py"\n')
    settings_text = (
        "[color]\n ui = always\n[diff]\n noprefix = true\n mnemonicPrefix = true\n"
        " context = 9\n algorithm = histogram\n external = false\n wordRegex = .\n"
        " colorMoved = zebra\n suppressBlankEmpty = true\n interHunkContext = 9\n"
        " renames = copies\n"
        "[core]\n abbrev = 20\n quotePath = false\n autocrlf = true\n whitespace = cr-at-eol\n"
    )
    (home / ".gitconfig").write_text(settings_text)
    with (repository / ".git" / "config").open("a") as file:
        file.write(settings_text)
    (home / ".config" / "git").mkdir(parents=True)
    (home / ".config" / "git" / "attributes").write_text("* -diff\n")
    monkeypatch.chdir(repository)
    monkeypatch.setenv("TMPDIR", str(repository))
    monkeypatch.setenv("GIT_DIFF_OPTS", "--unified=9")
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", "false")
    monkeypatch.setattr("tempfile.tempdir", None)
    assert diff_trees(before, after, {}) == expected


def test_a_path_that_leaves_is_refused(tmp_path):
    for path in ("../x", "/x", ".git/config"):
        with pytest.raises(Refused):
            diff_trees({path: b"1"}, {path: b"2"}, {})


NAMES = st.lists(
    st.sampled_from(["a", "b b", "é", 'q"', "t\tb", "n\nl", "[x]", "-", "a b/a", "\\"]),
    min_size=1,
    max_size=2,
).map("/".join)
CONTENTS = st.one_of(
    st.lists(st.sampled_from([b"x\n", b"y\r\n", b"", b"diff --git a/a b/a\n", b"z"])).map(b"".join),
    st.binary(max_size=30),
)


@settings(max_examples=30, deadline=None)
@given(files=st.dictionaries(NAMES, st.tuples(CONTENTS, CONTENTS), min_size=1, max_size=4))
def test_git_makes_of_the_patch_what_was_meant(tmp_path_factory, files):
    clashing = {path for path in files if any(other.startswith(f"{path}/") for other in files)}
    files = {path: both for path, both in files.items() if path not in clashing}
    before = {path: one for path, (one, _other) in files.items()}
    after = {path: other for path, (_one, other) in files.items()}
    patch = diff_trees(before, after, {})
    if before == after:
        assert patch == b""
        return
    assert applied(tmp_path_factory.mktemp("patch") / "r", before, patch) == after


def test_importing_the_wrapper_imports_no_gitpython():
    code = "import sys, project.workspace, project.journal; print('git' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(project.__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "False\n"


def test_ten_thousand_files_are_listed_at_once(tmp_path):
    for number in range(100):
        (tmp_path / f"d{number}").mkdir()
        for other in range(100):
            (tmp_path / f"d{number}" / f"{other}.py").touch()
    plain_git(tmp_path, "init", "--quiet")
    plain_git(tmp_path, "add", "--all")
    git = Git.discover(tmp_path)
    start = time.perf_counter()
    assert len(git.files()) == 10_000
    assert time.perf_counter() - start < 5
