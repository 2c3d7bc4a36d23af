"""The project that the program works on."""

import os
from dataclasses import dataclass
from pathlib import Path

from project.config import Config, load
from project.errors import UserError
from project.git import Git
from project.state import shown
from project.translation import _


@dataclass(frozen=True)
class Workspace:
    """A project, the part of it that was asked for, and where its state lies.

    Inside a git work tree ``root`` is the work tree's top and ``scope`` the directory that was
    asked for, relative to it ("" for all). Elsewhere ``root`` is that directory itself. The state
    directory is made by the first thing that writes.
    """

    root: Path
    scope: str
    git: Git | None
    config: Config
    state: Path

    @classmethod
    def open(cls, path: Path) -> "Workspace":
        """Open the project at ``path``, changing nothing.

        Raises:
            UserError: there is no such directory, it cannot be read, it has no files (a git
                directory), git refuses it, or its settings are wrong.
        """
        folder = _folder(path)
        git = Git.discover(folder)
        if git is None:
            _not_git_itself(folder)
            return cls(folder, "", None, load(folder), folder / ".cuda2mps")
        scope = folder.relative_to(git.top).as_posix()
        return cls(
            root=git.top,
            scope="" if scope == "." else scope,
            git=git,
            config=load(git.top),
            state=git.directory / "cuda2mps",
        )


def _folder(path: Path) -> Path:
    try:
        folder = path.resolve(strict=True)
    except FileNotFoundError:
        raise UserError(_("There is no directory {path}.").format(path=shown(path))) from None
    except (OSError, RuntimeError, ValueError):
        raise UserError(_("{path} cannot be reached.").format(path=shown(path))) from None
    if not folder.is_dir():
        raise UserError(
            _("{path} is not a directory: name the directory of the project.").format(
                path=shown(path)
            )
        )
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UserError(
            _("{path} cannot be read: you lack the permission.").format(path=shown(path))
        )
    return folder


def _not_git_itself(folder: Path) -> None:
    """Refuse a git directory or a place in one: it holds no files of a project."""
    for place in (folder, *folder.parents):
        if (
            (place / "HEAD").is_file()
            and (place / "objects").is_dir()
            and (place / "refs").is_dir()
        ):
            raise UserError(
                _("{path} belongs to git itself: open a work tree of that repository.").format(
                    path=shown(folder)
                )
            )
