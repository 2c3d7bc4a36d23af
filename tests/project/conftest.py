import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """An empty home: no configuration and no identity of whoever runs the tests."""
    for name in list(os.environ):
        if name.startswith("GIT_"):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    return folder


def plain_git(folder: Path, *arguments: str, check: bool = True) -> bytes:
    """git as a person would run it: with everything that the repository configures."""
    done = subprocess.run(
        ["git", *arguments],
        cwd=folder,
        capture_output=True,
        env={
            **os.environ,
            **{
                f"GIT_{who}_{what}": f"{what}@example.invalid"
                for who in ("AUTHOR", "COMMITTER")
                for what in ("NAME", "EMAIL")
            },
        },
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def repository(tmp_path):
    """A repository with three tracked files and one commit."""
    folder = tmp_path / "repository"
    (folder / "src").mkdir(parents=True)
    (folder / "train.py").write_bytes(b"model.cuda()\n")
    (folder / "src" / "data.py").write_bytes(b"x = 1\r\n")
    (folder / ".gitignore").write_bytes(b"ignored/\n*.log\n")
    plain_git(folder, "init", "--quiet", "--initial-branch=main")
    plain_git(folder, "add", "--all")
    plain_git(folder, "commit", "--quiet", "--message=Start")
    return folder
