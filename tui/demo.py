"""The bundled demo: a small research project that depends on CUDA in every layer."""

import shutil
from importlib.resources import as_file, files
from pathlib import Path

from project.errors import UserError
from project.git import Git
from project.translation import _

#: What the unpacked project's folder is called; it is the project's name on the screen.
NAME = "tremor-net"


def unpack(folder: Path) -> Path:
    """Copy the demo project into ``folder`` and make a git repository of it.

    Returns the repository, ``folder / NAME``.

    Raises:
        UserError: it is there already, the folder cannot be written, or git is not installed.
    """
    target = folder / NAME
    try:
        target.mkdir(parents=True)
        _copy(target)
    except FileExistsError:
        raise UserError(
            _("{path} is there already: name another folder.").format(path=target)
        ) from None
    except OSError as error:
        raise UserError(
            _("The demo cannot be written to {path} ({reason}): name another folder.").format(
                path=target, reason=error.strerror
            )
        ) from None
    try:
        Git.create(target)
    except UserError:
        shutil.rmtree(target)
        raise
    return target


def _copy(target: Path) -> None:
    with as_file(files("tui") / "demo_project") as source:
        for file in source.rglob("*"):
            # Installers compile every Python file of a package, these as well.
            if file.is_file() and "__pycache__" not in file.parts:
                copy = target / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_bytes(file.read_bytes())
