"""What a person decided, as an append-only log."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from project import records
from project.vocabulary import Decision, State

#: How many reasons are offered again.
_REASONS = 20


def now() -> str:
    """The present moment, as every record writes it: UTC, ISO 8601, seconds."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class _Step:
    """One batch of decisions.

    A ``settled`` one is no opinion but says what an apply, or undoing one, did to the files. It
    can only be taken back through the journal, so undo goes no further than it.
    """

    decisions: list[Decision]
    settled: bool


@dataclass
class _History:
    done: list[_Step] = field(default_factory=list)
    undone: list[_Step] = field(default_factory=list)


class DecisionLog:
    """The decisions on a project's findings.

    One line of the log is one batch, and so one step of undo; undo and redo are lines too, so
    that they survive a restart and two instances that append see the same history. Reading
    writes nothing.
    """

    def __init__(self, state: Path) -> None:
        self._file = state / "decisions.jsonl"

    def current(self) -> dict[str, Decision]:
        """The decision on each finding, by the finding's id; open findings are not in it."""
        return _current(self._history().done)

    def record(self, decisions: Sequence[Decision]) -> None:
        """Add a batch of decisions, which undo takes back together.

        Raises:
            UserError: the state cannot be written.
        """
        if decisions:
            records.append(
                self._file, [{"do": "decide", "decisions": [asdict(one) for one in decisions]}]
            )

    def undo(self) -> list[str] | None:
        """Take the last batch back.

        Returns the ids of its findings; None when there is nothing to take back, or when the
        last thing that happened is an apply, which the journal takes back.
        """
        return self._move("undo")

    def redo(self) -> list[str] | None:
        """Make the batch again that was taken back last; None when there is none."""
        return self._move("redo")

    def reasons(self) -> list[str]:
        """Reasons that were given before and not taken back, without repeats, newest first."""
        found = [
            decision.reason
            for step in reversed(self._history().done)
            for decision in reversed(step.decisions)
            if decision.reason
        ]
        return list(dict.fromkeys(found))[:_REASONS]

    def _move(self, word: str) -> list[str] | None:
        step = _movable(self._history(), word)
        if step is None:
            return None
        records.append(self._file, [{"do": word}])
        return [decision.finding for decision in step.decisions]

    def _history(self) -> _History:
        history = _History()
        for record in records.read(self._file).records:
            word = record.get("do")
            if word == "decide":
                _decide(history, record.get("decisions"))
            elif word == "undo" and _movable(history, "undo"):
                history.undone.append(history.done.pop())
            elif word == "redo" and _movable(history, "redo"):
                history.done.append(history.undone.pop())
        return history


def _decide(history: _History, batch: object) -> None:
    if not isinstance(batch, list):
        return
    decisions = [one for one in map(_decision, batch) if one is not None]
    if not decisions:
        return
    before = _current(history.done)
    settled = any(
        one.state is State.APPLIED
        or (one.finding in before and before[one.finding].state is State.APPLIED)
        for one in decisions
    )
    history.done.append(_Step(decisions, settled))
    history.undone.clear()


def _movable(history: _History, word: str) -> _Step | None:
    steps = history.done if word == "undo" else history.undone
    return steps[-1] if steps and not steps[-1].settled else None


def _current(steps: Sequence[_Step]) -> dict[str, Decision]:
    current: dict[str, Decision] = {}
    for step in steps:
        for decision in step.decisions:
            if decision.state is State.OPEN:
                current.pop(decision.finding, None)
            else:
                current[decision.finding] = decision
    return current


_FIELDS = tuple(one.name for one in fields(Decision))


def _decision(record: Any) -> Decision | None:
    """A decision from its JSON form; None when it is not one."""
    try:
        known = {name: record[name] for name in _FIELDS if name in record}
        decision = Decision(**{**known, "state": State(record["state"])})
    except (KeyError, TypeError, ValueError):
        return None
    texts = (decision.finding, decision.at, decision.reason, decision.rule, decision.path)
    if all(isinstance(text, str) for text in (*texts, decision.text)) and isinstance(
        decision.line, int
    ):
        return decision
    return None
