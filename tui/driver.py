"""The one thread that works with the session.

A session's methods block and are not made to run beside each other, so they all run here, one
after another: first what a person asked for, in the order of the keys, then what the screen wants
to draw, then the next file of a scan. So a scan never makes a key wait for more than one file.

It knows no widgets; it tells what happened through ``post``.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from project.errors import UserError
from project.translation import _
from project.vocabulary import State
from tui import messages

if TYPE_CHECKING:
    from analyzers.examine import FileReport
    from reports.session import Session

#: What a job returns is posted.
Job = Callable[["Session"], Any]
#: Findings are told in batches, this many seconds apart at most.
BATCH = 0.1
#: While a scan runs, the checklist is filled again only this often.
CHECKLIST_EVERY = 1.0


class Driver:
    """Runs jobs on the session in the order in which they were given."""

    def __init__(self, session: "Session", post: Callable[[Any], object]) -> None:
        self._session = session
        self._post = post
        self._wake = threading.Condition()
        self._jobs: deque[tuple[Job, tuple[str, ...]]] = deque()
        self._view: Job | None = None
        self._closing = self._working = False
        self._rescan = False
        self._scan: Iterator[FileReport] | None = None
        self._late: list[tuple[tuple[str, ...], tuple[str, ...], State, str]] = []
        self._batch: list[FileReport] = []
        self._batch_began = 0.0
        self._checklist_stale = False
        self._checklist_at = 0.0
        self._thread = threading.Thread(target=self._run, name="session")

    def start(self) -> None:
        """Begin to work."""
        self._thread.start()

    def close(self) -> None:
        """Stop scanning, finish every job that was given, and end."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()

    def busy(self) -> bool:
        """Whether anything is being done or waits to be."""
        with self._wake:
            return self._working or self._has_work()

    def do(self, job: Job, ids: tuple[str, ...] = ()) -> None:
        """Run ``job`` when the ones before it are done; a problem is posted with ``ids``."""
        with self._wake:
            self._jobs.append((job, ids))
            self._wake.notify()

    def view(self, job: Job) -> None:
        """Run ``job`` when nobody waits for something else; a newer view replaces it."""
        with self._wake:
            self._view = job
            self._wake.notify()

    def scan(self) -> None:
        """Scan from the beginning."""
        with self._wake:
            self._rescan = True
            self._wake.notify()

    def decide(self, ids: tuple[str, ...], state: State, reason: str = "") -> None:
        """Record one decision on these findings as one step of undo."""
        self.do(lambda session: self._decide(session, ids, state, reason), ids)

    # -- on the thread ---------------------------------------------------------------------

    def _run(self) -> None:
        while True:
            with self._wake:
                while not self._has_work():
                    if self._closing:
                        return
                    self._working = False
                    self._wake.wait()
                self._working = True
                job = self._next()
            if job is not None:
                self._attempt(*job)

    def _has_work(self) -> bool:
        if self._jobs:
            return True
        if self._closing:
            return bool(self._late)
        return bool(self._view or self._rescan or self._scan is not None or self._checklist_stale)

    def _next(self) -> tuple[Job, tuple[str, ...]] | None:
        """What to do next; called with the lock held."""
        if self._jobs:
            return self._jobs.popleft()
        if self._closing:
            return self._finish_scan_quietly, ()
        if self._view:
            view, self._view = self._view, None
            return view, ()
        if self._rescan:
            self._rescan = False
            return self._begin_scan, ()
        pause = CHECKLIST_EVERY if self._scan is not None else 0.0
        if self._checklist_stale and time.monotonic() - self._checklist_at >= pause:
            return self._fill_checklist, ()
        return (self._step, ()) if self._scan is not None else None

    def _attempt(self, job: Job, ids: tuple[str, ...]) -> None:
        try:
            message = job(self._session)
        except UserError as error:
            message = self._refusal(str(error), ids)
        except Exception as error:  # a bug must not take the session's decisions with it
            problem = _("This did not work: {kind}: {error}").format(
                kind=type(error).__name__, error=error
            )
            message = self._refusal(problem, ids)
        if message is not None:
            self._post(message)

    def _refusal(self, problem: str, ids: tuple[str, ...]) -> messages.RequestRefused:
        return messages.RequestRefused(problem, ids, self._session.decisions)

    def touch_checklist(self) -> None:
        """Have checklist and verdict filled again soon."""
        with self._wake:
            self._checklist_stale = True
            self._wake.notify()

    def _fill_checklist(self, session: "Session") -> messages.ChecklistFilled:
        self._checklist_stale = False
        self._checklist_at = time.monotonic()
        return messages.ChecklistFilled(session.checklist(), session.verdict())

    def _decide(
        self, session: "Session", ids: tuple[str, ...], state: State, reason: str
    ) -> messages.DecisionsRecorded | None:
        taken = session.decide(ids, state, reason)
        self._checklist_stale = True
        missing = tuple(sorted(set(ids).difference(taken)))
        if missing and self._scan is not None:
            # The scan has not come back to their files yet.
            self._late.append((ids, missing, state, reason))
            return None
        return messages.DecisionsRecorded(ids, session.decisions)

    # -- scanning --------------------------------------------------------------------------

    def _begin_scan(self, session: "Session") -> messages.ScanStarted:
        self._batch = []
        self._batch_began = time.monotonic()
        self._scan = session.scan_files()
        self._checklist_stale = True
        return messages.ScanStarted()

    def _step(self, session: "Session") -> messages.FilesScanned | messages.ScanFinished | None:
        assert self._scan is not None
        try:
            report = next(self._scan, None)
        except Exception:
            self._scan = None
            self._post(self._finished(session))
            raise
        if report is None:
            self._scan = None
            if self._batch:
                self._post(self._scanned(session))
            self._record_late(session)
            return self._finished(session)
        self._batch.append(report)
        if time.monotonic() - self._batch_began >= BATCH:
            return self._scanned(session)
        return None

    def _scanned(self, session: "Session") -> messages.FilesScanned:
        batch, self._batch = self._batch, []
        self._batch_began = time.monotonic()
        self._checklist_stale = True
        findings = tuple(one for report in batch for one in report.findings)
        proposals = {
            one.id: session.proposals[one.id] for one in findings if one.id in session.proposals
        }
        return messages.FilesScanned(findings, proposals, session.decisions, session.files_read)

    def _finished(self, session: "Session") -> messages.ScanFinished:
        self._checklist_stale = True
        return messages.ScanFinished(
            session.decisions,
            tuple(session.skipped),
            tuple(session.orphans()) if session.scanned else (),
            session.files_read,
        )

    def _record_late(self, session: "Session") -> None:
        late, self._late = self._late, []
        for ids, missing, state, reason in late:
            taken = session.decide(missing, state, reason)
            if len(taken) < len(missing):
                self._post(
                    self._refusal(
                        _("{n} decided places have changed: decide on them again.").format(
                            n=len(missing) - len(taken)
                        ),
                        ids,
                    )
                )
            else:
                self._post(messages.DecisionsRecorded(ids, session.decisions))

    def _finish_scan_quietly(self, session: "Session") -> None:
        """Bring a scan to its end because decisions wait for files that it has yet to read."""
        for _report in self._scan or ():
            pass
        self._scan = None
        self._record_late(session)
