"""Runs one process of somebody else's code, and comes back whatever that does.

The process leads a group of its own. When it ends, outlasts its time or is cancelled, the whole
group is killed, so that nothing it started is left behind. What it prints is kept bounded, the
beginning and the end; what it answers arrives line by line on a pipe of its own.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

_CHUNK = 65536
_GRACE = 0.5
_TICK = 0.05
_LINE = 1_000_000
_ANSWERS = 8_000_000


class Bounded:
    """The beginning and the end of a stream, whatever its length."""

    def __init__(self, half: int = 8192) -> None:
        self._half = half
        self._head = b""
        self._tail = b""
        self._total = 0

    def add(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._total += len(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail = (self._tail + data[room:])[-self._half :] if data[room:] else self._tail

    def text(self) -> str:
        """What was kept, and between it how much was not."""
        left_out = self._total - len(self._head) - len(self._tail)
        middle = b"\n[... %d bytes ...]\n" % left_out if left_out else b""
        return (self._head + middle + self._tail).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended. ``exit`` is negative for a signal; ``late`` and ``cancelled`` were ours.

    ``exit`` is None when it could not be started, with the reason in ``stderr``.
    """

    exit: int | None
    late: bool
    cancelled: bool
    stdout: str
    stderr: str
    flooded: bool = False


def run(
    command: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    line: Callable[[bytes], None],
    cancelled: Callable[[], bool],
) -> Ended:
    """Run a command with ``--channel N`` added, and call ``line`` with each line it answers.

    It gets the user's own environment and no standard input. It is ended when it has used up
    ``seconds``, when ``cancelled`` says so, or when it answers without end.
    """
    reading, writing = os.pipe()
    try:
        process = subprocess.Popen(
            [*command, "--channel", str(writing)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(writing,),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(reading)
        return Ended(None, False, False, "", str(error))
    finally:
        os.close(writing)
    assert process.stdout is not None
    assert process.stderr is not None
    channel = _Channel(line)
    stdout, stderr = Bounded(), Bounded()
    late = stopped = False
    deadline = time.monotonic() + seconds
    with (
        selectors.DefaultSelector() as selector,
        process.stdout,
        process.stderr,
        open(reading, "rb", buffering=0),  # noqa: PTH123 - a descriptor, not a path
    ):
        for descriptor, take in (
            (reading, channel.add),
            (process.stdout.fileno(), stdout.add),
            (process.stderr.fileno(), stderr.add),
        ):
            os.set_blocking(descriptor, False)
            selector.register(descriptor, selectors.EVENT_READ, take)
        try:
            while process.poll() is None:
                _pump(selector, _TICK)
                late = time.monotonic() >= deadline
                stopped = cancelled()
                if late or stopped or channel.flooded:
                    break
        finally:
            _kill(process)
        _drain(selector)
    return Ended(process.returncode, late, stopped, stdout.text(), stderr.text(), channel.flooded)


class _Channel:
    """Cuts what arrives into lines; one that is too long is dropped."""

    def __init__(self, line: Callable[[bytes], None]) -> None:
        self._line = line
        self._rest = b""
        self._total = 0

    @property
    def flooded(self) -> bool:
        return self._total > _ANSWERS

    def add(self, data: bytes) -> None:
        self._total += len(data)
        if self.flooded:
            return
        *lines, rest = (self._rest + data).split(b"\n")
        self._rest = rest if len(rest) <= _LINE else b""
        for line in lines:
            self._line(line)


def _pump(selector: selectors.BaseSelector, wait: float) -> bool:
    """Take what is there to read; false when nothing was."""
    if not selector.get_map():
        time.sleep(wait)
        return False
    ready = selector.select(wait)
    for key, _events in ready:
        try:
            data = os.read(key.fd, _CHUNK)
        except BlockingIOError:
            continue
        if data:
            key.data(data)
        else:
            selector.unregister(key.fd)
    return bool(ready)


def _drain(selector: selectors.BaseSelector) -> None:
    """Take what the pipes still hold; one that left the group may keep them open for ever."""
    end = time.monotonic() + _GRACE
    while selector.get_map() and time.monotonic() < end:
        if not _pump(selector, 0):
            return


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End the whole group, and wait for its leader."""
    # On macOS a group of which only zombies are left is not ours to signal.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
