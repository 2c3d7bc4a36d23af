"""Runs what was planned, and turns what happened into evidence.

Whether it may run is for the caller to have asked. A crash, a hang or a child that talks nonsense
is a result like any other.
"""

import json
import platform
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from checks import child, dependencies, environment
from checks.environment import IMPORT, ITEM_QUESTIONS, STATIC_ITEMS, Answer, Machine
from checks.plan import Plan
from project.decisions import now
from project.paths import visible
from project.translation import _, plural
from project.vocabulary import Evidence, On, Result
from project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Progress:
    """An item that is being tried (``running``) or was (``done``, with its evidence)."""

    item: str
    state: str
    evidence: Evidence | None
    line: str


def _never() -> bool:
    return False


def _unheard(progress: Progress) -> None:
    pass


def run(
    workspace: Workspace,
    plan: Plan,
    *,
    timeout: float = 60.0,
    cancelled: Callable[[], bool] = _never,
    progress: Callable[[Progress], None] = _unheard,
) -> list[Evidence]:
    """Run a plan and return evidence for each of its items, which is not stored yet.

    After a crash the questions behind it are asked once more in a new process. ``timeout`` is
    for all of them together. After a cancel there is evidence only for what was answered.

    Raises:
        UserError: git fails while the project's files are listed.
    """
    made = [_read(workspace, item, plan) for item in plan.items if item in STATIC_ITEMS]
    if plan.command:
        made += _probed(workspace, plan, timeout, cancelled, progress)
    order = {item: place for place, item in enumerate(plan.items)}
    made.sort(key=lambda one: order[one.item])
    for one in made:
        progress(Progress(one.item, "done", one, one.summary))
    return made


def _probed(
    workspace: Workspace,
    plan: Plan,
    timeout: float,
    cancelled: Callable[[], bool],
    progress: Callable[[Progress], None],
) -> list[Evidence]:
    at, items = now(), [item for item in plan.items if item in ITEM_QUESTIONS]
    asking = _Asking(plan.command, items, progress)
    end = time.monotonic() + timeout
    stopped = False
    while asking.left and not stopped:
        ended = child.run(
            asking.command(),
            folder=workspace.root,
            seconds=max(0.0, end - time.monotonic()),
            line=asking.hear,
            cancelled=cancelled,
        )
        asking.ended(ended, timeout)
        stopped = ended.late or ended.cancelled or ended.flooded or not asking.spoke
    answers = asking.everything()
    if cancelled():
        items = [item for item in items if asking.answered(item)]
    made = environment.evidence(items, answers, _here())
    return [
        replace(
            one,
            target=plan.target,
            command=plan.command,
            at=at,
            facts={**one.facts, **asking.output}
            if place == 0 or one.result is Result.FAILED
            else one.facts,
        )
        for place, one in enumerate(made)
    ]


class _Asking:
    """The questions of one plan: which were answered, and which are left for a new process."""

    def __init__(
        self,
        command: Sequence[str],
        items: Sequence[str],
        progress: Callable[[Progress], None],
    ) -> None:
        cut = list(command).index("--questions") + 1
        self._start = tuple(command[:cut])
        self.left = list(command[cut:])
        self._all = tuple(self.left)
        self._items = items
        self._progress = progress
        self._answers: dict[str, Answer] = {}
        self._current: str | None = None
        self._since = 0.0
        self._over = False
        self.spoke = False
        self.output: dict[str, Any] = {}

    def command(self) -> tuple[str, ...]:
        """The command that asks what is left."""
        self._current, self.spoke, self._over = None, False, False
        return (*self._start, *self.left)

    def hear(self, line: bytes) -> None:
        """Take one line of the channel; what is no answer to a question of ours is dropped."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return
        if not isinstance(said, dict):
            return
        if said.get("end") is True:
            self._over = True
        elif said.get("begin") in self.left:
            self._begin(str(said["begin"]))
        elif said.get("question") in self.left and said["question"] == self._current:
            self._take(str(said["question"]), said)

    def _begin(self, question: str) -> None:
        self.spoke = True
        self._current, self._since = question, time.monotonic()
        for item in self._items:
            asked = ITEM_QUESTIONS[item]
            if question in asked or (question.startswith(IMPORT) and IMPORT in asked):
                self._progress(Progress(item, "running", None, question))

    def _take(self, question: str, said: dict[str, Any]) -> None:
        value, error = said.get("answer"), said.get("error")
        seconds = time.monotonic() - self._since
        if isinstance(value, dict):
            self._answers[question] = Answer(value, seconds=seconds)
        else:
            text = error if isinstance(error, str) and error.strip() else _("No answer was given.")
            self._answers[question] = Answer(error=text, seconds=seconds)
        self.left.remove(question)
        self._current = None

    def ended(self, ended: child.Ended, timeout: float) -> None:
        """Take in how the process ended, and who is to blame for what was not answered."""
        if ended.stdout:
            self.output["stdout"] = self.output.get("stdout", "") + ended.stdout
        if ended.stderr:
            self.output["stderr"] = self.output.get("stderr", "") + ended.stderr
        if self._over:  # what it passed over, it would pass over again
            self.spoke = False
        if ended.cancelled or not self.left:
            return
        question = self._current or self.left[0]
        self._answers[question] = Answer(
            lost=_how(ended, timeout, bool(self._current)),
            exit=ended.exit,
            seconds=time.monotonic() - self._since if self._current else 0.0,
        )
        self.left.remove(question)

    def everything(self) -> dict[str, Answer]:
        """An answer for every question, in the order asked; some may say that it was not."""
        unasked = Answer(asked=False)
        return {question: self._answers.get(question, unasked) for question in self._all}

    def answered(self, item: str) -> bool:
        """Whether everything that an item needs was answered."""
        needed = [
            question
            for question in self._all
            if question in ITEM_QUESTIONS[item]
            or (question.startswith(IMPORT) and IMPORT in ITEM_QUESTIONS[item])
        ]
        return all(question in self._answers for question in needed)


def _how(ended: child.Ended, timeout: float, during: bool) -> str:
    """One sentence on why an answer is missing."""
    if ended.exit is None:
        return _("The interpreter could not be started: {reason}.").format(reason=ended.stderr)
    if ended.late:
        return _("No answer within {seconds:g} seconds; the process was ended.").format(
            seconds=timeout
        )
    if ended.flooded:
        return _("It answered without end; the process was ended.")
    lines = ended.stderr.strip().splitlines()
    last = visible(lines[-1][:300]) if lines else ""
    if ended.exit < 0:
        text = _("The process died of {signal}.").format(signal=_signal(-ended.exit))
    elif during:
        text = _("The process ended with status {status} before it answered.").format(
            status=ended.exit
        )
    else:
        text = _("The interpreter ended with status {status} without an answer.").format(
            status=ended.exit
        )
    return f"{text} {last}".strip()


def _signal(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def _here() -> Machine:
    """The machine under us, as our own Python sees it, for when theirs cannot say."""
    return Machine(
        platform.system(),
        platform.release(),
        platform.machine(),
        platform.mac_ver()[0],
        platform.system() == "Darwin" and platform.machine() == "arm64",
    )


def _read(workspace: Workspace, item: str, plan: Plan) -> Evidence:
    """The evidence for an item that the project's files answer."""
    listing = dependencies.listing(workspace)
    if item == "environment.lock-file":
        facts: dict[str, Any] = {"files": dict(listing.locks)}
        result = Result.PASSED if listing.locks else Result.WARNING
        summary = (
            ", ".join(f"{path} {digest[:12]}" for path, digest in listing.locks) + "."
            if listing.locks
            else _("No lock file: the versions of today cannot be had again.")
        )
    else:
        facts = {
            "packages": list(listing.packages),
            "files": list(listing.files),
            "install_scripts": list(listing.scripts),
        }
        result = Result.PASSED if listing.packages else Result.WARNING
        named = plural("{n} package", "{n} packages", len(listing.packages))
        scripts = plural("{n} install script", "{n} install scripts", len(listing.scripts))
        summary = (
            _("{packages} and {scripts}, from {files}.").format(
                packages=named, scripts=scripts, files=", ".join(listing.files)
            )
            if listing.packages
            else _("No requirements, pyproject or environment file names a package.")
        )
    return Evidence(
        item, On.STATIC, result, visible(summary), target=plan.target, at=now(), facts=facts
    )
