"""The lock that two running instances share."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from project.errors import UserError
from project.state import make, shown, unwritable
from project.translation import _


@contextmanager
def held(state: Path, timeout: float = 10.0) -> Iterator[None]:
    """Hold the project's lock; the thread that has it may take it again.

    Args:
        state: the project's state directory; made when it is not there.
        timeout: how many seconds to wait for another instance.

    Raises:
        UserError: another instance holds it, or the state cannot be written.
    """
    from filelock import FileLock, Timeout

    make(state)
    lock = FileLock(state / "lock", mode=0o600, is_singleton=True)
    try:
        lock.acquire(timeout=timeout)
    except Timeout:
        raise UserError(
            _("Another cuda2mps is changing {path}: wait until it is done and try again.").format(
                path=shown(state)
            )
        ) from None
    except OSError as error:
        raise unwritable(state, error) from None
    try:
        yield
    finally:
        lock.release()
