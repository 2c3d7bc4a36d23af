"""The house as a whole: what is shipped, what is imported, what the documents promise."""

import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import click
import pytest

from reports.rules import libraries_markdown, rules_markdown
from tui.cli import cli

ROOT = Path(__file__).parent.parent
PACKAGES = {"project", "analyzers", "rewriters", "checks", "reports", "tui"}
README = (ROOT / "README.md").read_text(encoding="utf-8")

#: What installers and TLS need of the environment; everything else is a stranger's machine.
KEPT = re.compile(r"PATH|LANG|TMPDIR|PIP_.*|SSL_.*|.*_PROXY|.*_proxy|OPENBLAS_.*")


def stranger(home: Path) -> dict[str, str]:
    """The environment of a new user: an empty HOME, no git identity, no terminal."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {name: value for name, value in os.environ.items() if KEPT.fullmatch(name)}
    return {**kept, "HOME": str(home), "TERM": "dumb"}


def start(
    *command: str | Path, home: Path, cwd: Path | None = None, **extra: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd or home,
        env={**stranger(home), **extra},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def cuda2mps(*arguments: str | Path, home: Path) -> subprocess.CompletedProcess[str]:
    """The command line as another process, from this checkout."""
    return start(sys.executable, "-m", "tui.cli", *arguments, home=home, PYTHONPATH=str(ROOT))


def contents(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not {".git", "__pycache__"} & set(path.parts)
    }


# -- packaging --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = start(
        sys.executable, "-m", "pip", "wheel", "--no-deps", "--wheel-dir", folder, ROOT,
        home=folder / "home",
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    (file,) = folder.glob("*.whl")
    return file


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bin folder of a new environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("installed")
    for command in (
        (sys.executable, "-m", "venv", folder / "venv"),
        (folder / "venv" / "bin" / "python", "-m", "pip", "install", wheel),
    ):
        done = start(*command, home=folder / "home")
        assert done.returncode == 0, done.stderr
    return folder / "venv" / "bin"


def test_the_wheel_holds_every_file_of_the_packages(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", *PACKAGES],
        cwd=ROOT, capture_output=True, check=True, env=stranger(wheel.parent / "home"),
    ).stdout.decode()  # fmt: skip
    expected = {name for name in tracked.split("\0") if name and (ROOT / name).exists()}
    with zipfile.ZipFile(wheel) as archive:
        shipped = set(archive.namelist())
    assert "tui/demo_project/csrc/ema_scan.cu" in expected
    assert "tui/demo_project/Dockerfile" in expected
    assert expected - shipped == set()
    info = "-".join(wheel.name.split("-")[:2]) + ".dist-info"
    assert {name.split("/")[0] for name in shipped} == PACKAGES | {info}


def test_no_dependency_has_one_of_our_top_level_names(installed: Path, tmp_path: Path) -> None:
    script = (
        "import importlib.metadata, json, sys;"
        "print(json.dumps([importlib.metadata.packages_distributions(),"
        "sorted(sys.stdlib_module_names)]))"
    )
    answer = start(installed / "python", "-I", "-c", script, home=tmp_path)
    owners, standard = json.loads(answer.stdout)
    assert {name for name, dists in owners.items() if "cuda2mps" in dists} == PACKAGES
    assert {name: owners[name] for name in PACKAGES} == {name: ["cuda2mps"] for name in PACKAGES}
    assert PACKAGES.isdisjoint(standard)
    assert {"textual", "click", "git", "tree_sitter_python"} <= set(owners)


def test_the_installed_command_shows_the_demo_to_a_new_user(
    installed: Path, tmp_path: Path
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    shown = start(installed / "cuda2mps", "demo", home=tmp_path / "home", TMPDIR=str(temporary))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "undecided" in shown.stdout.lower()
    assert "\x1b" not in shown.stdout
    assert list(temporary.iterdir()) == [], "the demo left its repository behind"
    assert list((tmp_path / "home").iterdir()) == []


def test_torch_is_no_dependency_of_the_tool(installed: Path, tmp_path: Path) -> None:
    answer = start(installed / "python", "-I", "-c", "import torch", home=tmp_path)
    assert "No module named 'torch'" in answer.stderr


# -- imports ----------------------------------------------------------------------------------

IMPORTED = re.compile(r"^import time:\s+\d+ \|\s+\d+ \|\s*(\S+)$", re.MULTILINE)


def modules_of(*arguments: str | Path, home: Path) -> set[str]:
    """Everything that a command imports, in all its processes."""
    done = start(
        sys.executable, "-X", "importtime", "-m", "tui.cli", *arguments,
        home=home, PYTHONPATH=str(ROOT),
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    names = set(IMPORTED.findall(done.stderr))
    assert "click" in names, "nothing was measured"
    return names


def imported_by(*arguments: str | Path, home: Path) -> set[str]:
    """The top-level names of everything that a command imports."""
    return {name.split(".")[0] for name in modules_of(*arguments, home=home)}


def test_version_imports_little_more_than_click(tmp_path: Path) -> None:
    modules = modules_of("--version", home=tmp_path)
    names = {module.split(".")[0] for module in modules}
    assert names.isdisjoint({"rich", "git", "jinja2", "textual", "tree_sitter", "torch"})
    ours = {module for module in modules if module.split(".")[0] in PACKAGES}
    assert ours <= {"tui", "tui.cli", "project", "project.version"}


@pytest.mark.parametrize("form", ["text", "json", "sarif", "github"])
def test_scan_imports_neither_textual_nor_torch(form: str, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nmodel.cuda()\n", encoding="utf-8")
    names = imported_by("scan", tmp_path, "--format", form, home=tmp_path)
    assert "tree_sitter" in names
    assert names.isdisjoint({"textual", "torch"})


def test_without_a_terminal_nothing_imports_textual(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text("import torch\nmodel.cuda()\n", encoding="utf-8")
    for arguments in (
        (tmp_path,),
        ("diff", tmp_path),
        ("apply", tmp_path, "--check"),
        ("export", tmp_path, "-o", tmp_path / "snapshot.json"),
        ("rules",),
        ("explain", "D103"),
    ):
        assert imported_by(*arguments, home=tmp_path).isdisjoint({"textual", "torch"}), arguments


@pytest.mark.parametrize("package", sorted(PACKAGES - {"tui"}))
def test_headless_packages_import_neither_textual_nor_torch(package: str, tmp_path: Path) -> None:
    script = (
        f"import pkgutil, importlib, sys, {package};"
        f"names = [m.name for m in pkgutil.walk_packages({package}.__path__, '{package}.')"
        " if '.probe' not in m.name];"
        "[importlib.import_module(name) for name in names];"
        "print(len(names), sorted({'textual', 'torch'} & set(sys.modules)))"
    )
    answer = start(sys.executable, "-c", script, home=tmp_path, PYTHONPATH=str(ROOT))
    assert answer.returncode == 0, answer.stderr
    count, _, found = answer.stdout.strip().partition(" ")
    assert int(count) > 2
    assert found == "[]"


# -- documents --------------------------------------------------------------------------------


def shell_blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)


def commands_of(group: click.Group) -> dict[str, click.Command]:
    context = click.Context(group)
    found = {name: group.get_command(context, name) for name in group.list_commands(context)}
    return {name: command for name, command in found.items() if command is not None}


def test_readme_opens_with_a_sentence_a_picture_and_two_commands() -> None:
    title, sentence, picture, *_ = README.split("\n\n")
    assert title == "# cuda2mps"
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")
    linked = re.fullmatch(r"!\[[^\]]+\]\(([^)]+)\)", picture)
    assert linked is not None
    assert (ROOT / linked[1]).is_file()
    install, test, *_ = shell_blocks()
    assert install.count("\n") == test.count("\n") == 0
    assert install.endswith("cuda2mps demo")
    assert test.endswith("-m pytest")


def test_ci_runs_the_test_command_of_the_readme(tmp_path: Path) -> None:
    """.ci/run finds that one line, and differs from it in the environment's place alone."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    (finder,) = re.findall(r"^promised=(\$\(.*\))$", script, re.MULTILINE)
    found = start("bash", "-c", f'printf %s "{finder}"', home=tmp_path, cwd=ROOT)
    assert found.stdout == shell_blocks()[1]
    assert script.rstrip().endswith('eval "${promised//.venv/$venv}"')


def test_links_of_the_documents_lead_somewhere() -> None:
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)\)", text):
            assert (ROOT / target).exists(), f"{name} links to {target}"


def test_the_readme_names_commands_and_options_that_exist() -> None:
    commands = commands_of(cli)
    rows = re.findall(r"^\| `cuda2mps ([^`]*)` \|(.*)$", README, re.MULTILINE)
    assert len(rows) >= 10
    named = set()
    for usage, row in rows:
        word = usage.split(" ")[0]
        name = "open" if word == "[PATH]" else word
        named.add(name)
        known = {option for parameter in commands[name].params for option in parameter.opts}
        assert set(re.findall(r"(?<=[` ])--?[a-z][-a-z]*", usage + row)) <= known, name
    assert named == set(commands)
    prose = re.findall(r"cuda2mps ([a-z]+)\b(?!/)", " ".join(re.findall(r"`([^`\n]+)`", README)))
    assert set(prose) <= set(commands)


def test_the_tables_of_the_documentation_are_made_of_the_objects() -> None:
    assert (ROOT / "docs/rules.md").read_text(encoding="utf-8") == rules_markdown()
    assert (ROOT / "docs/libraries.md").read_text(encoding="utf-8") == libraries_markdown()


def test_the_configuration_of_the_readme_is_accepted(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)\n```", README, re.DOTALL)
    (tmp_path / "pyproject.toml").write_text(block, encoding="utf-8")
    done = cuda2mps("scan", tmp_path, home=tmp_path / "home")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_command_and_the_wheel_say_the_same_version(wheel: Path, tmp_path: Path) -> None:
    assert cuda2mps("--version", home=tmp_path).stdout.split()[-1] == wheel.name.split("-")[1]


# -- the demo's story -------------------------------------------------------------------------


@pytest.fixture
def demo(tmp_path: Path) -> Path:
    from tui.demo import unpack

    return unpack(tmp_path / "tremor-net")


def train(demo: Path, home: Path) -> subprocess.CompletedProcess[str]:
    return start(
        sys.executable, "train.py", "--max-steps", "3", "--out", home / "runs",
        home=home, cwd=demo, CUDA_VISIBLE_DEVICES="", PYTHONDONTWRITEBYTECODE="1",
    )  # fmt: skip


def test_the_demo_needs_cuda_and_after_the_patches_trains_without(
    demo: Path, tmp_path: Path
) -> None:
    pytest.importorskip("torch")
    home = tmp_path / "home"
    original = contents(demo)

    refused = train(demo, home)
    assert refused.returncode == 1
    assert re.search("not compiled with CUDA|NVIDIA driver|CUDA GPUs", refused.stderr)

    patch = start(
        sys.executable, "-m", "tui.cli", "diff", demo, "--review", home=home, PYTHONPATH=str(ROOT)
    )
    applied = cuda2mps("apply", demo, "--review", home=home)
    assert (applied.returncode, applied.stderr) == (0, "")
    assert contents(demo).keys() == original.keys()
    git = start("git", "diff", "--no-color", "--no-ext-diff", home=home, cwd=demo)
    assert changed_lines(git.stdout) == changed_lines(patch.stdout)
    assert "train.py" in git.stdout

    trained = train(demo, home)
    assert trained.returncode == 0, trained.stderr
    assert trained.stdout.count("loss") == 3
    summary = json.loads((home / "runs" / "summary.json").read_text(encoding="utf-8"))
    assert summary["steps"] == 3
    assert 0 < summary["last_loss"] < 3

    taken_back = cuda2mps("undo", demo, home=home)
    assert (taken_back.returncode, taken_back.stderr) == (0, "")
    assert contents(demo) == original
    assert start("git", "status", "--porcelain", home=home, cwd=demo).stdout == ""
    assert train(demo, home).returncode == 1


def changed_lines(patch: str) -> list[str]:
    """A patch without the object names, whose length is a setting of git."""
    return [line for line in patch.splitlines() if not line.startswith("index ")]


def test_the_demo_shows_every_layer_and_leaves_something_to_a_person(
    demo: Path, tmp_path: Path
) -> None:
    done = cuda2mps("scan", demo, "--format", "json", home=tmp_path / "home")
    assert done.returncode == 1
    found = json.loads(done.stdout)["findings"]
    places = {(finding["layer"], finding["path"]) for finding in found}
    assert places >= {
        ("device", "train.py"),
        ("device", "evaluate.py"),
        ("device", "notebooks/mistakes.ipynb"),
        ("kernel", "csrc/ema_scan.cu"),
        ("kernel", "csrc/row_peak.cu"),
        ("kernel", "setup.py"),
        ("environment", "requirements.txt"),
        ("environment", "environment.yml"),
        ("environment", "Dockerfile"),
        ("environment", "scripts/train.slurm"),
    }
    assert {finding["fix"] for finding in found} >= {"safe", "manual", "none"}


def test_the_demo_is_not_unpacked_over_something_else(tmp_path: Path) -> None:
    from project.errors import UserError
    from tui.demo import unpack

    (tmp_path / "mine").mkdir()
    with pytest.raises(UserError, match="exists already"):
        unpack(tmp_path / "mine")
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UserError, match="cannot be written"):
        unpack(tmp_path / "file" / "below")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "mine"]
