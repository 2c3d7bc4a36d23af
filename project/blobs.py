"""Files kept by the SHA-256 of their content."""

import hashlib
import os
import re
from pathlib import Path

from project import state
from project.errors import UserError
from project.records import write_all
from project.translation import _

_DIGEST = re.compile(r"[0-9a-f]{64}")


def digest(data: bytes) -> str:
    """The name of some bytes: their SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def is_digest(text: object) -> bool:
    """Whether this is the name of some bytes, and nothing that leads elsewhere."""
    return isinstance(text, str) and _DIGEST.fullmatch(text) is not None


def keep(folder: Path, data: bytes) -> str:
    """Keep some bytes and return their name.

    A crash may leave a torn file under the right name; it is seen by its hash and written anew.

    Raises:
        UserError: the folder cannot be written.
    """
    name = digest(data)
    path = folder / name
    state.make(folder)
    try:
        if path.is_file() and not path.is_symlink() and path.read_bytes() == data:
            return name
        descriptor = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        state.sync_folder(folder)
    except OSError as error:
        raise state.unwritable(path, error) from None
    return name


def load(folder: Path, name: str) -> bytes:
    """The bytes of that name.

    Raises:
        UserError: they are not there, or are not what they were.
    """
    path = folder / name
    try:
        data = path.read_bytes()
    except OSError as error:
        raise state.unreadable(path, error) from None
    if digest(data) != name:
        raise UserError(
            _("{path} is damaged: its content no longer has the hash it was kept under.").format(
                path=state.shown(path)
            )
        )
    return data
