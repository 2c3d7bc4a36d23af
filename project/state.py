"""The directory where the program keeps what it knows about a project.

Reading it never makes anything: a project that was only looked at has no state.
"""

import contextlib
import os
from pathlib import Path

from project.errors import UserError
from project.paths import home_relative, visible
from project.translation import _


def make(folder: Path) -> None:
    """Make a state directory, readable by its owner alone, with what leads to it.

    Raises:
        UserError: it cannot be made there, or a symbolic link stands in its place.
    """
    if folder.is_symlink():
        sentence = _("{path} is a symbolic link: remove it, the state must lie in the project.")
        raise UserError(sentence.format(path=shown(folder)))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise unwritable(folder, error) from None


def unwritable(path: Path, error: OSError) -> UserError:
    """The error to raise when the state cannot be written."""
    return UserError(
        _("{path} cannot be written ({reason}): make it writable and try again.").format(
            path=shown(path), reason=error.strerror or error
        )
    )


def unreadable(path: Path, error: OSError) -> UserError:
    """The error to raise when the state is there and cannot be read."""
    return UserError(
        _("{path} cannot be read ({reason}): make it readable and try again.").format(
            path=shown(path), reason=error.strerror or error
        )
    )


def shown(path: Path) -> str:
    """A path as it stands in a message."""
    return visible(home_relative(path))


def sync_folder(folder: Path) -> None:
    """Make the names in a directory survive a power cut, where the system can do that."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        # Some file systems cannot sync a directory; they keep their own order.
        with contextlib.suppress(OSError):
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
