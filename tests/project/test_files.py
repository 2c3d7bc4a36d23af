import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project.config import Config
from project.files import listed, opened, read
from project.git import Git
from project.vocabulary import Skipped
from project.workspace import Workspace
from tests.project.conftest import plain_git


def lay(folder: Path, *paths: str) -> Path:
    for path in paths:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(b"x.cuda()\n")
    return folder


@pytest.fixture(params=["git", "no git"])
def project(request, tmp_path):
    """A project, inside and outside git: the same files must come out."""
    folder = tmp_path / "project"

    def make(*paths: str, scope: str = "", exclude: tuple[str, ...] = ()):
        lay(folder, *paths)
        if request.param == "git" and not (folder / ".git").exists():
            plain_git(folder, "init", "--quiet")
        workspace = Workspace.open(folder / scope if request.param == "git" else folder)
        return replace(workspace, config=Config(exclude=exclude), scope=scope)

    make.folder = folder
    return make


def reasons(skipped):
    return {one.path: one.reason for one in skipped}


def test_plain_files_come_sorted(project):
    found, skipped = listed(project("b.py", "a/c.py", ".github/x.yml", "a.py"))
    assert found == [".github/x.yml", "a.py", "a/c.py", "b.py"]
    assert skipped == []


def test_an_empty_project_has_none(project):
    project.folder.mkdir()
    assert listed(project()) == ([], [])


def test_vendored_trees_are_named_once(project):
    found, skipped = listed(
        project(
            "train.py",
            "third_party/apex/a.py",
            "third_party/apex/b.py",
            "src/Vendor/x.py",
            "web/node_modules/y.js",
            "lib/site-packages/z.py",
            "vendor.py",
            "vendors/v.py",
        )
    )
    assert found == ["train.py", "vendor.py", "vendors/v.py"]
    assert reasons(skipped) == dict.fromkeys(
        ["lib/site-packages", "src/Vendor", "third_party", "web/node_modules"], "a vendored tree"
    )


def test_a_vendored_tree_that_was_asked_for_is_looked_at(project):
    workspace = project("third_party/apex/a.py", "third_party/apex/vendor/b.py", "c.py")
    found, skipped = listed(replace(workspace, scope="third_party/apex"))
    assert found == ["third_party/apex/a.py"]
    assert reasons(skipped) == {"third_party/apex/vendor": "a vendored tree"}


def test_virtual_environments_and_caches_are_named(project):
    found, skipped = listed(
        project(
            "train.py",
            "env/train.py",
            ".venv/lib/x.py",
            "my env/pyvenv.cfg",
            "my env/lib/python/x.py",
            "__pycache__/train.pyc",
        )
    )
    assert found == ["env/train.py", "train.py"]
    assert reasons(skipped) == {
        ".venv": "a virtual environment",
        "my env": "a virtual environment",
        "__pycache__": "a cache",
    }


def test_links_are_named_and_not_followed(project, tmp_path):
    lay(tmp_path / "elsewhere", "secret.py")
    project("train.py")
    (project.folder / "link.py").symlink_to("train.py")
    (project.folder / "outside").symlink_to(tmp_path / "elsewhere")
    (project.folder / "loop").symlink_to(".")
    (project.folder / "broken").symlink_to("nowhere")
    found, skipped = listed(project())
    assert found == ["train.py"]
    assert reasons(skipped) == dict.fromkeys(
        ["broken", "link.py", "loop", "outside"], "a symbolic link"
    )


def test_repositories_inside_are_named_and_not_entered(project):
    project("train.py", "inner/x.py")
    Git.create(project.folder / "inner")
    found, skipped = listed(project())
    assert found == ["train.py"]
    assert reasons(skipped) == {"inner": "a repository of its own, such as a submodule"}


def test_names_of_any_kind_come_back(project):
    names = ["new\nline.py", "[a-z]*.py", "sp ace.py", "größe.py", os.fsdecode(b"\xff.py"), "-n.py"]
    found, skipped = listed(project(*names))
    assert found == sorted(names, key=os.fsencode)
    assert skipped == []
    assert all(read(project.folder, name) == b"x.cuda()\n" for name in found)


def test_the_program_s_own_directory_is_no_part_of_the_project(project):
    found, skipped = listed(project("train.py", ".cuda2mps/decisions.jsonl", ".hg/store"))
    if (project.folder / ".git").exists():
        assert "train.py" in found
    else:
        assert (found, skipped) == (["train.py"], [])


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (["docs"], ["a.py", "src/a.py", "src/deep/b.py", "x[1].py"]),
        (["docs/"], ["a.py", "src/a.py", "src/deep/b.py", "x[1].py"]),
        (["a.py"], ["docs/conf.py", "src/deep/b.py", "src/docs/x.py", "x[1].py"]),
        (["./a.py", "/src/a.py"], ["docs/conf.py", "src/deep/b.py", "src/docs/x.py", "x[1].py"]),
        (["src/*.py"], ["a.py", "docs/conf.py", "src/deep/b.py", "src/docs/x.py", "x[1].py"]),
        (["src/**/*.py"], ["a.py", "docs/conf.py", "x[1].py"]),
        (["src/**"], ["a.py", "docs/conf.py", "x[1].py"]),
        (["?.py"], ["docs/conf.py", "x[1].py"]),
        (["x[[]1].py"], ["a.py", "docs/conf.py", "src/a.py", "src/deep/b.py", "src/docs/x.py"]),
        (["[!abx].py", "x*"], ["a.py", "docs/conf.py", "src/a.py", "src/deep/b.py"]),
        (["[z-a]", "(", "\\"], None),
        (["**"], []),
    ],
)
def test_excluded_paths_are_left_out_and_named(project, patterns, left):
    paths = ["a.py", "docs/conf.py", "src/a.py", "src/deep/b.py", "src/docs/x.py", "x[1].py"]
    if left is None:
        left = paths
    if patterns in (["a.py"], ["?.py"]):
        left = [path for path in left if not path.endswith(("/a.py", "/b.py", "/x.py"))]
        left += ["src/deep/b.py", "src/docs/x.py"] if patterns == ["a.py"] else []
    found, skipped = listed(project(*paths, exclude=tuple(patterns)))
    assert found == sorted(left)
    for path in set(paths) - set(left):
        assert any(path == one.path or path.startswith(one.path + "/") for one in skipped)
    assert all(one.reason == "excluded by the configuration" for one in skipped)


def test_scope_is_the_part_that_was_asked_for(repository):
    lay(repository, "src/vendor/x.py", "srcs/y.py", "vendor/z.py")
    workspace = Workspace.open(repository / "src")
    found, skipped = listed(workspace)
    assert found == ["src/data.py"]
    assert reasons(skipped) == {"src/vendor": "a vendored tree"}


def test_what_git_ignores_is_not_listed(repository):
    lay(repository, "ignored/x.py", "run.log")
    assert listed(Workspace.open(repository))[0] == [".gitignore", "src/data.py", "train.py"]


def test_a_directory_that_cannot_be_read_is_named(tmp_path, monkeypatch):
    lay(tmp_path, "train.py", "locked/x.py")
    real = os.scandir

    def scandir(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    found, skipped = listed(Workspace.open(tmp_path))
    assert found == ["train.py"]
    assert reasons(skipped) == {"locked": "unreadable: Permission denied"}


# -- reading ---------------------------------------------------------------------------------------


@pytest.fixture
def deep(tmp_path):
    """A project with a thousand and a half folders in each other, the last with a file."""
    folders = ["d/" * depth for depth in range(1, 1_500)]
    for folder in folders:
        (tmp_path / folder).mkdir()
    (tmp_path / folders[-1] / "a.py").write_bytes(b"x.cuda()\n")
    yield tmp_path, folders[-1] + "a.py"
    # Who cleans up would call itself for every level.
    for file in (folders[-1] + "a.py", folders[199] + "b.py"):
        (tmp_path / file).unlink()
    for folder in reversed(folders):
        (tmp_path / folder).rmdir()


@pytest.mark.parametrize("kind", ["git", "no git"])
def test_a_tree_of_any_depth_is_listed(deep, kind):
    root, path = deep
    shallow = path.split("/", 200)
    lay(root, "/".join([*shallow[:200], "b.py"]))
    if kind == "git":
        plain_git(root, "init", "--quiet")
    found, left_out = listed(Workspace.open(root))
    assert found == ["/".join([*shallow[:200], "b.py"])]
    assert left_out == [Skipped("/".join(["d"] * 201), "nested too deeply")]


def test_bytes_come_as_they_are(tmp_path):
    for data in (b"", b"\xef\xbb\xbfx\r\n", b"\xff", b"a" * 8192 + b"\0"):
        (tmp_path / "file").write_bytes(data)
        assert read(tmp_path, "file") == data


def test_the_limit_is_the_last_size_that_is_read(tmp_path):
    (tmp_path / "file").write_bytes(b"12345")
    assert read(tmp_path, "file", limit=5) == b"12345"
    assert read(tmp_path, "file", limit=4) == Skipped("file", "larger than the limit: 5 of 4 bytes")


def test_binary_files_are_skipped(tmp_path):
    (tmp_path / "file").write_bytes(b"a" * 8191 + b"\0")
    assert read(tmp_path, "file") == Skipped("file", "binary, or text in UTF-16")


def test_what_is_no_file_of_the_project_is_skipped_without_waiting(tmp_path):
    lay(tmp_path, "outside.py", "root/real/file.py", "root/.git/config")
    root = tmp_path / "root"
    (root / "link.py").symlink_to("real/file.py")
    (root / "linked").symlink_to("real")
    os.mkfifo(root / "pipe")
    for path in ("link.py", "linked/file.py", "../outside.py", ".git/config", "/etc/passwd"):
        skipped = read(root, path)
        assert skipped == Skipped(path, "outside the project, in .git or behind a symbolic link")
    descriptors = sum(1 for _each in Path("/dev/fd").iterdir())
    assert read(root, "pipe") == Skipped("pipe", "not a regular file")
    assert read(root, "real") == Skipped("real", "not a regular file")
    assert sum(1 for _each in Path("/dev/fd").iterdir()) == descriptors
    assert read(root, "gone") == Skipped("gone", "unreadable: No such file or directory")
    assert read(root, "real/file.py/x").reason == "unreadable: Not a directory"


def test_a_file_of_any_size_can_be_opened(tmp_path):
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 40)
        file.seek(-4, os.SEEK_END)
        file.write(b"tail")
    (tmp_path / "link").symlink_to("sparse")
    with opened(tmp_path, "sparse") as file:
        assert not isinstance(file, Skipped)
        file.seek(-4, os.SEEK_END)
        assert file.read() == b"tail"
    assert file.closed
    with opened(tmp_path, "link") as file:
        assert isinstance(file, Skipped)


def test_a_link_that_appears_at_the_last_moment_is_not_followed(tmp_path, monkeypatch):
    lay(tmp_path, "file.py", "secret")

    def swapped(root, path):
        Path(root, path).unlink()
        Path(root, path).symlink_to("secret")
        return f"{root}/{path}"

    monkeypatch.setattr("project.files.checked", swapped)
    assert isinstance(read(tmp_path, "file.py"), Skipped)


@given(pattern=st.text(alphabet="ab*?[]!-\\/(.^", max_size=8))
def test_no_pattern_breaks_the_listing(tmp_path_factory, pattern):
    folder = tmp_path_factory.getbasetemp() / "patterns"
    lay(folder, "a/b.py")
    workspace = Workspace(folder, "", None, Config(exclude=(pattern,)), folder / ".cuda2mps")
    found, skipped = listed(workspace)
    assert bool(found) != bool(skipped)
