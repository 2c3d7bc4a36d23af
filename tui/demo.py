"""The bundled demo: a small research project that depends on CUDA in every layer."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from project.errors import UserError
from project.git import Git
from project.translation import _


def unpack(folder: Path) -> Path:
    """Copy the demo project into a new ``folder`` and make a git repository of it.

    Returns the repository.

    Raises:
        UserError: the folder exists or cannot be written, or git is not installed.
    """
    try:
        folder.mkdir(parents=True)
        _copy(folder)
    except FileExistsError:
        raise UserError(
            _("{folder} exists already: name a new folder for the demo.").format(folder=folder)
        ) from None
    except OSError as error:
        raise UserError(
            _("The demo cannot be written to {folder} ({reason}): name another folder.").format(
                folder=folder, reason=error.strerror
            )
        ) from None
    try:
        return Git.create(folder).top
    except UserError:
        shutil.rmtree(folder)
        raise


def _copy(target: Path) -> None:
    with as_file(files("tui") / "demo_project") as source:
        for file in source.rglob("*"):
            # Installers compile every Python file of a package, these as well.
            if file.is_file() and "__pycache__" not in file.parts:
                copy = target / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
