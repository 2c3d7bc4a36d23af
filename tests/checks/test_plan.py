import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from checks import trust
from checks.dependencies import listing
from checks.interpreter import find
from checks.plan import describe, plan
from project.errors import UserError
from project.workspace import Workspace


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def bare_path(tmp_path, monkeypatch):
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def test_the_best_interpreter_is_found_and_says_where(project, workspace, bare_path, monkeypatch):
    with pytest.raises(UserError, match="name one with --python"):
        find(workspace)

    def found():
        one = find(Workspace.open(project))
        return one.path, one.origin

    on_path = program(bare_path / "python3")
    assert found() == (on_path, "python3 on the PATH.")
    conda = program(bare_path.parent / "conda" / "bin" / "python")
    monkeypatch.setenv("CONDA_PREFIX", str(conda.parents[1]))
    assert found() == (conda, "The active conda environment ($CONDA_PREFIX).")
    own = program(project / ".venv" / "bin" / "python")
    assert found() == (own, "The virtual environment .venv in the project.")
    active = program(bare_path.parent / "active" / "bin" / "python")
    monkeypatch.setenv("VIRTUAL_ENV", str(active.parents[1]))
    assert found() == (active, "The active virtual environment ($VIRTUAL_ENV).")
    (project / "cuda2mps.toml").write_text('python = "envs/mac/bin/python"')
    configured = program(project / "envs" / "mac" / "bin" / "python")
    assert found() == (configured, "Named in the configuration.")
    assert find(Workspace.open(project), str(on_path)).origin == "Named with --python."


def test_a_command_or_an_environment_can_be_named(project, workspace, bare_path):
    command = program(bare_path / "python3.9")
    assert find(workspace, "python3.9").path == command
    environment = program(project / "env" / "bin" / "python")
    assert find(workspace, str(environment.parents[1])).path == environment


def test_a_missing_interpreter_is_one_sentence(workspace):
    with pytest.raises(UserError, match="--python names /no/python, which is no program"):
        find(workspace, "/no/python")


def test_planning_and_finding_run_nothing(workspace, tmp_path):
    touched = tmp_path / "touched"
    evil = tmp_path / "python"
    evil.write_text(f"#!/bin/sh\ntouch {touched}\n")
    evil.chmod(0o755)
    describe(plan(workspace, python=str(evil)))
    assert not touched.exists()


def test_the_question_shows_interpreter_command_and_host(workspace):
    planned = plan(workspace, python=sys.executable)
    text = describe(planned)
    assert sys.executable in text
    assert os.path.realpath(sys.executable) in text
    assert planned.host in text
    assert "environment.py" in text
    assert "--questions system" in text


def test_unknown_names_are_answered_with_the_nearest(workspace):
    with pytest.raises(UserError, match=r"did you mean environment\.mps-tensor"):
        plan(workspace, only=["environment.mps-tensr"])
    with pytest.raises(UserError, match="No check fills sample yet"):
        plan(workspace, only=["sample"])
    with pytest.raises(UserError, match="There is no target moon"):
        plan(workspace, "moon")
    with pytest.raises(UserError, match="Checks on ssh:mac are not possible yet"):
        plan(workspace, "ssh:mac")


def test_trust_is_for_this_plan_alone(workspace, tmp_path):
    planned = plan(workspace, python=sys.executable)
    assert not trust.granted(workspace, planned)
    assert not workspace.state.exists()
    trust.grant(workspace, planned)
    assert trust.granted(workspace, planned)
    other = replace(planned.interpreter, path=program(tmp_path / "other"))
    for changed in (
        replace(planned, host="another"),
        replace(planned, target="ssh:mac"),
        replace(planned, command=(*planned.command, "more")),
        replace(planned, interpreter=other),
    ):
        assert not trust.granted(workspace, changed)


def test_an_interpreter_that_resolves_elsewhere_is_asked_about_again(workspace, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(program(tmp_path / "one"))
    planned = plan(workspace, python=str(link))
    trust.grant(workspace, planned)
    link.unlink()
    link.symlink_to(program(tmp_path / "two"))
    assert not trust.granted(workspace, planned)


def test_a_state_that_came_with_the_project_is_not_believed(workspace, tmp_path, monkeypatch):
    planned = plan(workspace, python=sys.executable)
    trust.grant(workspace, planned)
    another = tmp_path / "another"
    another.mkdir()
    monkeypatch.setenv("HOME", str(another))
    assert not trust.granted(workspace, planned)
    trust.grant(workspace, planned)
    assert trust.granted(workspace, planned)


def test_the_key_is_the_users_alone(workspace, tmp_path):
    trust.grant(workspace, plan(workspace, python=sys.executable))
    key = tmp_path / "home" / ".local" / "state" / "cuda2mps" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert key.read_bytes() not in (workspace.state / "trust.jsonl").read_bytes()
    assert [path.name for path in key.parent.iterdir()] == ["key"]


def test_a_damaged_key_or_record_grants_nothing_and_heals(workspace, tmp_path):
    planned = plan(workspace, python=sys.executable)
    trust.grant(workspace, planned)
    key = tmp_path / "home" / ".local" / "state" / "cuda2mps" / "key"
    key.write_bytes(b"")
    assert not trust.granted(workspace, planned)
    trust.grant(workspace, planned)
    assert trust.granted(workspace, planned)
    (workspace.state / "trust.jsonl").write_bytes(b'{"grant": 5}\n[]\n{"gra')
    assert not trust.granted(workspace, planned)


def test_dependencies_are_listed_from_every_file_for_a_mac(project, workspace):
    (project / "requirements.txt").write_text(
        'Torch>=2\nnumpy==1.26 # x\ntriton; sys_platform == "linux"\n-r other.txt\n'
    )
    (project / "constraints.txt").write_text("scipy<2\n")
    (project / "pyproject.toml").write_text(
        "[project]\nname = 'x'\ndependencies = ['tqdm>4', 'Typing_Extensions']\n"
    )
    (project / "environment.yml").write_text(
        "dependencies:\n  - python=3.11\n  - conda-forge::pytorch=2.1\n  - pip:\n    - einops\n"
    )
    (project / "setup.py").write_text("raise SystemExit('run')")
    (project / "poetry.lock").write_text("x")
    listed = listing(workspace)
    assert listed.packages == ("einops", "numpy", "torch", "tqdm", "typing-extensions")
    assert listed.files == ("environment.yml", "pyproject.toml", "requirements.txt")
    assert listed.scripts == ("setup.py",)
    assert [path for path, _digest in listed.locks] == ["poetry.lock"]


@pytest.mark.parametrize(
    "text",
    ["[project", "project = 3", "[project]\ndependencies = 3", "[project]\ndependencies=['~']"],
)
def test_a_file_that_cannot_be_read_names_nothing(text, project, workspace):
    (project / "pyproject.toml").write_text(text)
    assert listing(workspace).packages == ()


def test_a_marker_that_makes_no_sense_keeps_its_package(project, workspace):
    (project / "requirements.txt").write_text('einops; os_name ~= "posix"\n')
    assert listing(workspace).packages == ("einops",)


def test_new_dependencies_ask_again(project, workspace):
    before = plan(workspace, python=sys.executable)
    trust.grant(workspace, before)
    (project / "requirements.txt").write_text("einops\n")
    assert not trust.granted(workspace, plan(workspace, python=sys.executable))
