"""Replacing one file so that neither a crash nor a second writer costs a byte.

The new content is written beside the file and the two change places in one step, where the
system can do that (``renameat2`` with ``RENAME_EXCHANGE`` on Linux, ``renameatx_np`` with
``RENAME_SWAP`` on macOS). What came out is then compared with what was expected; if somebody wrote
to the file at the last moment, the two change back. Every step starts from an open directory, so
that no symbolic link can turn it elsewhere.
"""

import contextlib
import ctypes
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from project.blobs import digest
from project.records import write_all

_NO_LINK = os.O_NOFOLLOW | os.O_CLOEXEC
#: What a file system without the exchange answers.
_UNSUPPORTED = frozenset({errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})


class Changed(Exception):
    """The file does not hold what was expected; it was left as it is."""


@dataclass(frozen=True)
class Place:
    """A file by its open directory and its name there; ``mark`` tells its temporary files apart.

    ``part`` is the new content while it is written. ``whole`` is where it stands for the
    exchange, and so holds the new content before it and the old content after it.
    """

    folder: int
    name: str
    mark: str

    @property
    def part(self) -> str:
        """The name of the temporary file that is being written."""
        return f".cuda2mps-{self.mark}.part"

    @property
    def whole(self) -> str:
        """The name of the temporary file that takes part in the exchange."""
        return f".cuda2mps-{self.mark}.swap"


@contextmanager
def place(root: Path, path: str, mark: str) -> Iterator[Place]:
    """Open the directory of a file, following no symbolic link below ``root``.

    Raises:
        OSError: a directory on the way is not there, or is a link.
    """
    *folders, name = path.split("/")
    descriptor = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for folder in folders:
            below = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | _NO_LINK, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield Place(descriptor, name, mark)
    finally:
        os.close(descriptor)


def content(folder: int, name: str) -> bytes | None:
    """What a regular file in an open directory holds; None when there is none."""
    try:
        descriptor = os.open(name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINK, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ELOOP, errno.EMLINK, errno.ENXIO):
            return None
        raise
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        with open(descriptor, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(descriptor)


def replace(at: Place, old: bytes, new: bytes) -> None:
    """Replace a file's content, keeping its mode and, where allowed, its owner.

    Raises:
        Changed: the file did not hold ``old``, even at the very moment of the exchange.
        OSError: the system refuses; the file is as it was.
    """
    if content(at.folder, at.name) != old:
        raise Changed
    _write(at, new)
    if content(at.folder, at.name) != old:
        _drop(at, at.part)
        raise Changed
    if not _exchangeable(at):
        os.replace(at.part, at.name, src_dir_fd=at.folder, dst_dir_fd=at.folder)
        os.fsync(at.folder)
        return
    os.rename(at.part, at.whole, src_dir_fd=at.folder, dst_dir_fd=at.folder)
    _exchange(at)
    if content(at.folder, at.whole) != old:
        _exchange(at)
        settle(at, digest(old), digest(new))
        raise Changed
    os.fsync(at.folder)
    _drop(at, at.whole)


def settle(at: Place, old: str, new: str) -> str | None:
    """Clear away what a replacement that was cut short left beside a file.

    Args:
        at: the file, with the mark of that replacement.
        old: the SHA-256 of what it held.
        new: the SHA-256 of what it was to hold.

    If somebody's edit was exchanged out and not yet put back, it is put back. Returns the name of
    a temporary file that holds somebody's edit and had to stay; nearly always None.
    """
    _drop(at, at.part)
    aside = content(at.folder, at.whole)
    if aside is None:
        return None
    if digest(aside) not in (old, new):
        standing = content(at.folder, at.name)
        if standing is None or digest(standing) != new:
            return at.whole
        _exchange(at)
    _drop(at, at.whole)
    return None


def _write(at: Place, new: bytes) -> None:
    facts = os.stat(at.name, dir_fd=at.folder, follow_symlinks=False)
    descriptor = os.open(
        at.part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK, 0o600, dir_fd=at.folder
    )
    try:
        write_all(descriptor, new)
        mine = os.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != (facts.st_uid, facts.st_gid):
            with contextlib.suppress(PermissionError):
                os.fchown(descriptor, facts.st_uid, facts.st_gid)
        os.fchmod(descriptor, stat.S_IMODE(facts.st_mode))
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _drop(at: Place, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at.folder)


def _exchangeable(at: Place) -> bool:
    """Whether the file system can exchange two names: tried on the temporary file itself."""
    exchange = exchange_call()
    if exchange is None:
        return False
    return exchange(at.folder, at.part, at.part) not in _UNSUPPORTED


def _exchange(at: Place) -> None:
    exchange = exchange_call()
    assert exchange is not None
    failure = exchange(at.folder, at.whole, at.name)
    if failure:
        raise OSError(failure, os.strerror(failure), at.name)


@cache
def exchange_call() -> Callable[[int, str, str], int] | None:
    """The system's call that exchanges two names in a directory; None when it has none.

    It returns 0 or the error number.
    """
    name, flag = ("renameatx_np", 2) if sys.platform == "darwin" else ("renameat2", 2)
    call = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if call is None:
        return None
    call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
    call.restype = ctypes.c_int

    def exchange(folder: int, one: str, other: str) -> int:
        if call(folder, os.fsencode(one), folder, os.fsencode(other), flag):
            return ctypes.get_errno()
        return 0

    return exchange
