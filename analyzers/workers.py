"""Looking at many files at once, in processes: the parser holds Python's lock."""

import contextlib
import gc
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import TypeVar

T = TypeVar("T")

#: With fewer files than this, starting processes takes longer than it saves.
FEW = 48
#: Files that are handed to a process at once.
_BATCH = 24
#: More processes than this wait for the disk and for each other.
_MOST = 8
#: Seconds between two looks whether the parent is still there.
_WATCH = 1.0
#: Objects that are made before Python looks for cycles among them.
_GARBAGE = 50_000


def each(
    work: Callable[[str], T],
    paths: Sequence[str],
    died: Callable[[str], T],
    jobs: int | None = None,
) -> Iterator[T]:
    """What ``work`` gives for every path, in order, from as many processes as it takes.

    Args:
        work: can be pickled, and holds no state that matters.
        paths: what it is given, one by one.
        died: what to give for a path on which a process died; the others are not lost.
        jobs: how many processes; by default as many as the machine has processors.
    """
    count = min(jobs or default_jobs(), len(paths) // _BATCH + 1)
    if count <= 1 or (jobs is None and len(paths) < FEW):
        yield from map(work, paths)
        return
    batches = [paths[start : start + _BATCH] for start in range(0, len(paths), _BATCH)]
    done = 0
    pool = _pool(count)
    try:
        for future in [pool.submit(_all_of, work, batch) for batch in batches]:
            yield from future.result()
            done += 1
    except BrokenProcessPool:
        rest = [path for batch in batches[done:] for path in batch]
        yield from _one_by_one(work, rest, died)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def default_jobs() -> int:
    """As many processes as this one may use processors, within reason."""
    try:
        usable = len(os.sched_getaffinity(0))
    except AttributeError:
        usable = os.cpu_count() or 1
    return min(usable, _MOST)


def _all_of(work: Callable[[str], T], paths: Sequence[str]) -> list[T]:
    return [work(path) for path in paths]


def _one_by_one(
    work: Callable[[str], T], paths: Sequence[str], died: Callable[[str], T]
) -> Iterator[T]:
    """After a process died: a process at a time, so that the file that kills it is known."""
    pool = _pool(1)
    try:
        for path in paths:
            future: Future[T] = pool.submit(work, path)
            try:
                yield future.result()
            except BrokenProcessPool:
                pool.shutdown(wait=False)
                pool = _pool(1)
                yield died(path)
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(count: int) -> ProcessPoolExecutor:
    # Forking is the fastest start, and is safe only where no other thread may hold a lock.
    forks = sys.platform == "linux" and threading.active_count() == 1
    method = "fork" if forks else "forkserver" if sys.platform == "linux" else "spawn"
    context = multiprocessing.get_context(method)
    return ProcessPoolExecutor(count, context, _start)


def _start() -> None:
    """A process of the pool: the parent hears the interrupt, and nobody outlives the parent."""
    # What one file makes is gone before the next; looking for cycles often is time for nothing.
    gc.freeze()
    gc.set_threshold(_GARBAGE)
    with contextlib.suppress(ValueError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(os.getppid(),), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH)
    os._exit(1)
