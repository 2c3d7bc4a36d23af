"""Append-only files of JSON lines.

A line counts once its newline is there. A crash while one is written leaves a torn line, which
readers pass over and the next append closes.
"""

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from project import state


@dataclass(frozen=True, slots=True)
class Lines:
    """What a file of records holds: the records in order, and the numbers of damaged lines."""

    records: tuple[dict[str, Any], ...] = ()
    damaged: tuple[int, ...] = ()


def canonical(value: object) -> str:
    """The one way to write a JSON value, so that equal values have equal hashes."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def read(path: Path) -> Lines:
    """Read a file of records; a file that is not there has none.

    Raises:
        UserError: the file is there and cannot be read.
    """
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return Lines()
    except OSError as error:
        raise state.unreadable(path, error) from None
    records, damaged = [], []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line:
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append(record)
        else:
            damaged.append(number)
    return Lines(tuple(records), tuple(damaged))


def append(path: Path, records: Iterable[object]) -> None:
    """Append records so that they survive a power cut, or none of them.

    Raises:
        UserError: the file cannot be written.
    """
    data = b"".join(canonical(record).encode("ascii") + b"\n" for record in records)
    state.make(path.parent)
    try:
        descriptor = os.open(
            path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
        try:
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                data = b"\n" + data
            write_all(descriptor, data)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if not size:
            state.sync_folder(path.parent)
    except OSError as error:
        raise state.unwritable(path, error) from None


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of ``data``, however often the system takes only a part."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]
