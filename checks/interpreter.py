"""Which Python a check would use. Finding it runs nothing."""

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from project.errors import UserError
from project.paths import visible
from project.translation import _
from project.workspace import Workspace


@dataclass(frozen=True)
class Interpreter:
    """A Python, and a sentence saying where it was found."""

    path: Path
    origin: str


def find(workspace: Workspace, chosen: str | None = None) -> Interpreter:
    """The interpreter for checks of this project.

    The one that was chosen, else the configured one, else the active virtual environment, the
    project's own, the active conda environment, and last what the shell would start. A path that
    was chosen counts from the working directory, a configured one from the project.

    Raises:
        UserError: the one named does not exist or cannot be run, or there is none at all.
    """
    if chosen is not None:
        return _named(chosen, Path.cwd(), "--python", _("Named with --python."))
    if workspace.config.python is not None:
        return _named(
            workspace.config.python, workspace.root, "python", _("Named in the configuration.")
        )
    for path, origin in _around(workspace):
        if _runs(path):
            return Interpreter(path, origin)
    raise UserError(
        _("No Python was found for {project}: name one with --python.").format(
            project=visible(str(workspace.root))
        )
    )


def _named(text: str, folder: Path, setting: str, origin: str) -> Interpreter:
    """The interpreter that a person named, as a path or as a command."""
    if os.sep in text:
        path = folder / Path(text).expanduser()
    else:
        path = Path(shutil.which(text) or folder / text)
    if path.is_dir():
        path = path / "bin" / "python"
    path = Path(os.path.abspath(path))  # noqa: PTH100 - resolve() would leave the environment
    if not _runs(path):
        raise UserError(
            _("{setting} names {path}, which is no program: name a Python interpreter.").format(
                setting=setting, path=visible(str(path))
            )
        )
    return Interpreter(path, origin)


def _around(workspace: Workspace) -> Iterator[tuple[Path, str]]:
    """The places to look at, best first."""
    active = os.environ.get("VIRTUAL_ENV")
    if active:
        yield _python(Path(active)), _("The active virtual environment ($VIRTUAL_ENV).")
    folders = dict.fromkeys((workspace.root / workspace.scope, workspace.root))
    for folder in folders:
        for name in (".venv", "venv"):
            yield (
                _python(folder / name),
                _("The virtual environment {name} in the project.").format(name=name),
            )
    conda = os.environ.get("CONDA_PREFIX")
    if conda:
        yield _python(Path(conda)), _("The active conda environment ($CONDA_PREFIX).")
    for name in ("python3", "python"):
        found = shutil.which(name)
        if found:
            yield Path(found), _("{name} on the PATH.").format(name=name)


def _python(environment: Path) -> Path:
    return environment / "bin" / "python"


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
