import ast
import os
import shutil
from pathlib import Path

import pytest

import project
from project.errors import UserError
from project.git import Git, diff_trees
from tests.project.conftest import plain_git


def armed(folder: Path, trace: Path) -> dict[str, str]:
    """Let everything that a repository can configure leave a trace; returns what that is."""

    def script(name: str) -> str:
        path = trace.parent / "tools" / name
        path.parent.mkdir(exist_ok=True)
        # A filter must read what it is given; a remote that did would wait for git for ever.
        rest = "exit 1" if name == "remote" else "cat 2>/dev/null; exit 0"
        path.write_text(f"#!/bin/sh\necho ran >> '{trace}/{name}'\n{rest}\n")
        path.chmod(0o755)
        return str(path)

    own = {
        "core.fsmonitor": "fsmonitor",
        "filter.one.clean": "clean",
        "filter.one.smudge": "smudge",
        "filter.o.t.h.e.r.process": "process",
        "diff.tool.textconv": "textconv",
        "diff.tool.command": "diff-command",
        "diff.external": "diff-external",
        "core.editor": "editor",
        "sequence.editor": "sequence-editor",
        "core.pager": "pager",
        "pager.status": "pager-status",
        "pager.ls-files": "pager-ls-files",
        "pager.diff": "pager-diff",
        "core.askPass": "askpass",
        "core.sshCommand": "ssh",
        "core.gitProxy": "proxy",
        "core.alternateRefsCommand": "alternate-refs",
        "credential.helper": "credential",
        "gpg.program": "gpg",
        "interactive.diffFilter": "diff-filter",
        "uploadpack.packObjectsHook": "pack-objects",
        "remote.origin.uploadpack": "upload-pack",
        "trailer.x.command": "trailer",
    }
    for key, name in own.items():
        plain_git(folder, "config", key, script(name))
    included = trace.parent / "included.cfg"
    for key, name in (
        ("filter.three.clean", "included-clean"),
        ("filter.three.smudge", "included-smudge"),
        ("diff.included.textconv", "included-textconv"),
    ):
        plain_git(folder, "config", "--file", str(included), key, script(name))
    for key, value in {
        "include.path": str(included),
        "filter.one.required": "true",
        "commit.gpgSign": "true",
        "log.showSignature": "true",
        "status.submoduleSummary": "true",
        "diff.submodule": "log",
        "submodule.recurse": "true",
        "alias.status": f"!{script('alias')}",
        "alias.ls-files": f"!{script('alias')}",
        "remote.origin.url": f"ext::{script('remote')}",
        "remote.origin.promisor": "true",
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "protocol.file.allow": "always",
    }.items():
        plain_git(folder, "config", key, value)
    (folder / ".gitattributes").write_text(
        "*.py filter=one diff=tool\n*.txt filter=o.t.h.e.r\n*.md filter=three diff=included\n"
    )
    for hook in (
        "applypatch-msg", "fsmonitor-watchman", "post-checkout", "post-commit",
        "post-index-change", "post-merge", "pre-auto-gc", "pre-commit", "reference-transaction",
    ):  # fmt: skip
        target = folder / ".git" / "hooks" / hook
        target.parent.mkdir(exist_ok=True)
        shutil.copy(script(f"hook-{hook}"), target)
    return own


@pytest.fixture
def hostile(repository, tmp_path):
    """A repository that would run a program at every turn, and the folder where they report."""
    (repository / "notes.md").write_text("x.cuda()\n")
    (repository / "data.txt").write_text("x.cuda()\n")
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "lib.py").write_text("1\n")
    Git.create(tmp_path / "lib")
    plain_git(
        repository, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
        str(tmp_path / "lib"), "lib",
    )  # fmt: skip
    plain_git(repository, "config", "--file", ".gitmodules", "submodule.lib.ignore", "none")
    plain_git(repository, "add", "--all")
    plain_git(repository, "commit", "--quiet", "--message=More")
    trace = tmp_path / "trace"
    trace.mkdir()
    for folder in (repository, repository / "lib"):
        if folder.name == "lib":
            # A submodule's git directory lies elsewhere; its hooks are armed with the parent's.
            plain_git(folder, "config", "core.fsmonitor", str(tmp_path / "tools" / "fsmonitor"))
            plain_git(
                folder, "config", "filter.inner.clean", f"echo ran > {trace}/inner-clean; cat"
            )
            (folder / ".gitattributes").write_text("*.py filter=inner\n")
        else:
            armed(folder, trace)
    plain_git(repository, "config", "submodule.lib.ignore", "none")
    # Everything looks touched, so that git has to look at the contents.
    for path in [*repository.glob("*.*"), repository / "lib" / "lib.py"]:
        if path.is_file():
            os.utime(path, (1, 1))
    for file in trace.iterdir():
        file.unlink()
    return repository, trace


def traces(trace: Path) -> set[str]:
    return {path.name for path in trace.iterdir()}


def test_nothing_that_a_repository_configures_runs(hostile, monkeypatch):
    repository, trace = hostile
    monkeypatch.chdir(repository)
    git = Git.discover(repository / "src")
    assert git.files() == [
        ".gitattributes", ".gitignore", ".gitmodules", "data.txt", "notes.md", "src/data.py",
        "train.py",
    ]  # fmt: skip
    assert git.submodules() == ["lib"]
    assert len(git.head()) == 40
    assert git.branch() == "main"
    assert git.is_dirty() is False
    (repository / "train.py").write_text("changed.cuda()\n")
    assert git.is_dirty() is True
    monkeypatch.setenv("TMPDIR", str(repository))
    monkeypatch.setattr("tempfile.tempdir", None)
    attributes = (repository / ".gitattributes").read_bytes()
    patch = diff_trees(
        {"train.py": b"1\n", ".gitattributes": b""},
        {"train.py": b"2\n", ".gitattributes": attributes},
        {},
    )
    assert patch.endswith(b"-1\n+2\n")
    for arguments in (
        ("diff",),
        ("diff", "--cached"),
        ("show", "HEAD"),
        ("log", "-1", "-p"),
        ("hash-object", "--path=train.py", "train.py"),
        ("update-index", "--refresh", "-q"),
        ("add", "train.py", "notes.md", "data.txt"),
        ("apply", "--check", "-"),
        ("stash", "create"),
        ("diff", "--submodule=diff"),
        ("commit", "--dry-run", "--all"),
    ):
        git.run(*arguments, stdin=patch, accept=(0, 1, 128))
        assert (arguments, traces(trace)) == (arguments, set())


def test_the_same_calls_of_plain_git_do_run_things(hostile):
    """The control: were the wrapper to let anything through, the test above would see it."""
    repository, trace = hostile
    seen = {}
    for arguments in (
        ("ls-files", "--others"),
        ("status", "--porcelain"),
        ("diff",),
        ("hash-object", "--path=train.py", "train.py"),
        ("hash-object", "--path=data.txt", "data.txt"),
        ("hash-object", "--path=notes.md", "notes.md"),
        ("update-index", "--refresh", "-q"),
        ("-c", "diff.external=", "diff", "--no-ext-diff"),
    ):
        (repository / "train.py").write_text(f"{arguments}\n")
        plain_git(repository, *arguments, check=False)
        seen[arguments] = traces(trace)
        for file in trace.iterdir():
            file.unlink()
    assert "fsmonitor" in seen["ls-files", "--others"]
    assert {"fsmonitor", "inner-clean"} <= seen["status", "--porcelain"]
    assert "clean" in seen["hash-object", "--path=train.py", "train.py"]
    assert "diff-command" in seen[("diff",)]
    assert "process" in seen["hash-object", "--path=data.txt", "data.txt"]
    assert "included-clean" in seen["hash-object", "--path=notes.md", "notes.md"]
    assert "hook-post-index-change" in seen["update-index", "--refresh", "-q"]
    assert "textconv" in seen["-c", "diff.external=", "diff", "--no-ext-diff"]


@pytest.mark.parametrize("older", [False, True])
def test_a_missing_object_is_not_fetched(hostile, monkeypatch, older):
    """A partial clone makes git fetch at any moment, by a program that the repository names."""
    repository, trace = hostile
    if older:  # one that does not know the switch yet
        known = project.git._ENVIRONMENT
        fewer = {name: known[name] for name in known if name != "GIT_NO_LAZY_FETCH"}
        monkeypatch.setattr("project.git._ENVIRONMENT", fewer)
    git = Git.discover(repository)
    plain_git(repository, "config", "core.repositoryFormatVersion", "1")
    plain_git(repository, "config", "extensions.partialClone", "origin")
    tree = plain_git(repository, "rev-parse", "HEAD^{tree}").decode().strip()
    (repository / ".git" / "objects" / tree[:2] / tree[2:]).unlink()
    with pytest.raises(UserError, match="git fails in"):
        git.is_dirty()
    assert traces(trace) == set()
    plain_git(repository, "-c", "core.fsmonitor=", "-c", "core.hooksPath=", "status", check=False)
    assert "remote" in traces(trace)


def test_a_filter_that_is_configured_later_does_not_run_either(hostile):
    repository, trace = hostile
    git = Git.discover(repository)
    plain_git(repository, "config", "filter.late.clean", f"touch {trace}/late")
    (repository / ".gitattributes").write_text("*.py filter=late\n")
    os.utime(repository / "train.py", (2, 2))
    git.is_dirty()
    git.run("hash-object", "--path=train.py", "train.py")
    assert traces(trace) == set()


# -- nobody else calls git ------------------------------------------------------------------------

PACKAGES = ("project", "analyzers", "rewriters", "checks", "reports", "tui")
#: Who may start programs: the checks (the project's interpreter, `ssh`), the screen (an editor).
STARTING = ("checks/", "tui/")
#: What starts one.
STARTERS = {"subprocess", "pty", "pexpect", "sh", "plumbum", "pygit2", "dulwich"}
OS_STARTERS = {"system", "popen", "posix_spawn", "posix_spawnp", "startfile"} | {
    f"{how}{kind}"
    for how in ("exec", "spawn")
    for kind in ("v", "ve", "vp", "vpe", "l", "lp", "le")
}


def sources():
    top = Path(project.__file__).parents[1]
    for package in PACKAGES:
        for path in sorted((top / package).rglob("*.py")):
            relative = path.relative_to(top).as_posix()
            if not relative.startswith("tui/demo_project/"):
                yield relative, path.read_text(encoding="utf-8")


def violations(relative: str, text: str) -> list[str]:
    """Places of a source text that call git, or could."""
    if relative == "project/git.py":
        return []
    starts_programs = relative.startswith(STARTING)
    found = []
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
            names += [f"{node.module}.{alias.name}" for alias in node.names]
        if any(name == "git" or name.startswith(("git.", "gitdb")) for name in names):
            found.append(f"{relative}:{node.lineno} imports GitPython")
        if not starts_programs and any(name.split(".")[0] in STARTERS for name in names):
            found.append(f"{relative}:{node.lineno} can start programs")
        if (
            not starts_programs
            and isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id in ("os", "asyncio")
            and node.attr in OS_STARTERS | {"create_subprocess_exec", "create_subprocess_shell"}
        ):
            found.append(f"{relative}:{node.lineno} can start programs")
        # As the first word of a command: in a list or tuple, or as a call's first argument.
        first: list[ast.expr] = []
        if isinstance(node, ast.List | ast.Tuple):
            first = node.elts[:1]
        elif isinstance(node, ast.Call):
            first = node.args[:1]
        for word in first:
            if (
                starts_programs
                and isinstance(word, ast.Constant)
                and isinstance(word.value, str)
                and (word.value == "git" or word.value.startswith("git "))
            ):
                found.append(f"{relative}:{word.lineno} names git as a command")
    return found


def test_only_the_wrapper_calls_git():
    texts = list(sources())
    assert len(texts) > 30
    assert [place for relative, text in texts for place in violations(relative, text)] == []


@pytest.mark.parametrize(
    ("relative", "text"),
    [
        ("rewriters/x.py", "import subprocess"),
        ("analyzers/x.py", "from subprocess import run"),
        ("tui/x.py", "import subprocess\nsubprocess.call(('git', 'diff'))"),
        ("reports/x.py", "import os\nos.system('git status')"),
        ("reports/x.py", "import asyncio\nasyncio.create_subprocess_exec('git')"),
        ("analyzers/x.py", "import git"),
        ("analyzers/x.py", "def f():\n    from git import Repo"),
        ("project/x.py", "from git.cmd import Git"),
        ("checks/x.py", "run(['git', 'status'])"),
        ("checks/x.py", "run('git status')"),
    ],
)
def test_that_check_sees_other_ways(relative, text):
    assert violations(relative, text)


@pytest.mark.parametrize(
    "text", ["import subprocess\nrun(['ssh', 'host'])", "from project.git import Git", "x = 'git'"]
)
def test_that_check_lets_the_rest_be(text):
    assert violations("checks/x.py", text) == []
