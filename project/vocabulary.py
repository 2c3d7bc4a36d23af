"""The words of the program: what passes from one folder to the next.

Everything here is plain, immutable data. Texts in it are English message ids or texts that were
translated when they were made; see :mod:`project.translation`.
"""

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

#: The newest PyTorch release that the rules know of.
NEWEST = "2.14"


class Word(str, Enum):
    """An enumeration whose members are the words that JSON uses."""

    def __str__(self) -> str:
        return str(self.value)


class Layer(Word):
    """Where a dependency on CUDA lies."""

    DEVICE = "device"
    KERNEL = "kernel"
    ENVIRONMENT = "environment"


class Severity(Word):
    """What a dependency does on a machine without CUDA."""

    BLOCKS = "blocks"
    DEGRADES = "degrades"
    COSMETIC = "cosmetic"


class Fix(Word):
    """How a finding may be fixed.

    ``safe``: the CUDA path is provably unchanged. ``review``: right in most code, a person looks.
    ``manual``: advice only. ``none``: keep CUDA.
    """

    SAFE = "safe"
    REVIEW = "review"
    MANUAL = "manual"
    NONE = "none"


class State(Word):
    """What a person said about a finding."""

    OPEN = "open"
    ACCEPTED = "accepted"
    DECLINED = "declined"
    KEPT = "kept"
    APPLIED = "applied"


class On(Word):
    """Where evidence was made."""

    MPS = "mps"
    CUDA = "cuda"
    CPU = "cpu"
    REHEARSAL = "rehearsal"
    STATIC = "static"


class Result(Word):
    """What one look at a target gave."""

    PASSED = "passed"
    WARNING = "warning"
    FAILED = "failed"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not-applicable"


class Status(Word):
    """The state of a checklist item."""

    PASSED = "passed"
    REHEARSED = "rehearsed"
    WARNING = "warning"
    FAILED = "failed"
    NOT_RUN = "not-run"
    BLOCKED = "blocked"
    NOT_APPLICABLE = "not-applicable"


class Outcome(Word):
    """The verdict: who takes the work."""

    MAC = "mac"
    DUAL = "dual"
    CUDA = "cuda"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that depends on CUDA.

    ``line``, ``column``, ``end_line`` and ``end_column`` count from 1, in characters, the end
    column being the one after the last character; in a notebook they count inside code cell
    number ``cell`` (from 0). ``start`` and ``end`` are byte offsets in the file itself, or for
    a notebook in the joined text of its code cells. The finding holds from PyTorch release
    ``since`` on and before ``until``, where these are set. ``kept`` is the reason that a comment
    in the code gives for leaving it.
    """

    id: str
    rule: str
    name: str
    layer: Layer
    severity: Severity
    fix: Fix
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    start: int
    end: int
    text: str
    message: str
    cell: int | None = None
    since: str | None = None
    until: str | None = None
    kept: str | None = None


@dataclass(frozen=True, slots=True)
class Notice:
    """Something to say of a line of the project that is no finding."""

    path: str
    line: int
    text: str
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file, or a part of one, that was not looked at, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Replace the bytes ``start:end`` of a file by ``replacement``."""

    start: int
    end: int
    replacement: bytes


@dataclass(frozen=True, slots=True)
class Proposal:
    """The edits that fix one finding, all in one file.

    ``before`` is the SHA-256 (hex) of the file that was read; the edits fit that file alone.
    Two proposals may hold an equal edit (the same helper, the same import); it is made once.
    ``needs`` names findings whose proposals must be applied with this one.
    """

    finding: str
    rule: str
    path: str
    before: str
    edits: tuple[Edit, ...]
    fix: Fix
    why: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person said about one finding, and when (UTC, ISO 8601).

    ``rule``, ``path``, ``line`` and ``text`` say what it looked like then, so that a decision
    whose code has changed can still be shown.
    """

    finding: str
    state: State
    at: str
    reason: str = ""
    rule: str = ""
    path: str = ""
    line: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What was seen when one checklist item was tried once.

    ``id`` is the SHA-256 of the rest. ``facts`` holds what was measured, as JSON values;
    ``files`` maps a kept file's name to its SHA-256. Times are UTC, ISO 8601; ``seconds`` is
    the length.
    """

    item: str
    on: On
    result: Result
    summary: str
    target: str = "local"
    command: tuple[str, ...] = ()
    at: str = ""
    seconds: float = 0.0
    exit: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    id: str = ""


@dataclass(frozen=True, slots=True)
class Item:
    """One question of the acceptance checklist.

    ``needs`` says where the evidence must come from for the item to be ``passed``: an item that
    asks about MPS needs MPS, one that reads the project alone is satisfied statically.
    """

    id: str
    group: str
    title: str
    needs: tuple[On, ...]
    how: str


@dataclass(frozen=True, slots=True)
class ItemState:
    """A checklist item as it stands: its status, why, and the evidence behind it."""

    item: Item
    status: Status
    note: str
    on: On | None = None
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Verdict:
    """One of the outcomes, with every reason that led to it and what would change it.

    ``leaning`` is where an undecided verdict leans; ``next_check`` the cheapest thing to try.
    ``uses`` pairs each use that the configuration names with its own outcome.
    """

    outcome: Outcome
    reasons: tuple[str, ...]
    would_change: tuple[str, ...]
    leaning: Outcome | None = None
    next_check: str = ""
    uses: tuple[tuple[str, Outcome], ...] = ()
