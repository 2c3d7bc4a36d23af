"""What has happened away from the screen, told to it.

Workers post these and touch no widget; the handlers own what is shown.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from project.vocabulary import (
    Decision,
    Evidence,
    Finding,
    ItemState,
    Proposal,
    Skipped,
    Verdict,
)
from tui.listing import Listing

if TYPE_CHECKING:
    from checks.plan import Plan
    from checks.run import Progress
    from reports.session import Applied


@dataclass
class ScanStarted(Message):
    """The project is being read, from its first file on."""


@dataclass
class FilesScanned(Message):
    """More files were read."""

    findings: tuple[Finding, ...]
    proposals: Mapping[str, Proposal]
    decisions: Mapping[str, Decision]
    files_read: int


@dataclass
class ScanFinished(Message):
    """Every file was read. ``orphans`` are decisions whose code has changed."""

    decisions: Mapping[str, Decision]
    skipped: tuple[Skipped, ...]
    orphans: tuple[Decision, ...]
    files_read: int


@dataclass
class DecisionsRecorded(Message):
    """A decision is on disk. ``ids`` were asked for, whether it took them all or not."""

    ids: tuple[str, ...]
    decisions: Mapping[str, Decision]


@dataclass
class DecisionsMoved(Message):
    """Undo or redo changed the decisions on ``ids``; None when there was nothing to move."""

    ids: tuple[str, ...] | None
    decisions: Mapping[str, Decision]
    redo: bool
    ticket: int


@dataclass
class ChecklistFilled(Message):
    """Checklist and verdict, as they now stand."""

    states: tuple[ItemState, ...]
    verdict: Verdict


@dataclass
class ListingMade(Message):
    """What to show for a finding; ``problem`` says why it cannot be shown."""

    finding: Finding
    as_diff: bool
    listing: Listing
    problem: str = ""


@dataclass(frozen=True)
class FileChange:
    """What an apply does to one file."""

    path: str
    hunks: int
    added: int
    removed: int


@dataclass
class ApplySummarised(Message):
    """What applying would change; ``extra`` findings come along because others need them."""

    proposals: tuple[Proposal, ...]
    extra: tuple[str, ...]
    files: tuple[FileChange, ...]


@dataclass
class PatchApplied(Message):
    """The files were changed, or nothing had to be."""

    applied: "Applied | None"
    files: tuple[FileChange, ...]


@dataclass
class ApplyUndone(Message):
    """The files have their bytes from before the last apply again."""

    applied: "Applied"


@dataclass
class HistoryRead(Message):
    """How many applies could still be taken back."""

    applies: int


@dataclass
class ProjectLookedAt(Message):
    """Branch and cleanness of the project's work tree; no branch outside git or detached."""

    branch: str | None
    dirty: bool | None


@dataclass
class CheckPlanned(Message):
    """What the checks would run, and whether that was allowed before."""

    plan: "Plan"
    description: str
    granted: bool


@dataclass
class CheckAdvanced(Message):
    """A running check has something to tell."""

    progress: "Progress"


@dataclass
class ChecksFinished(Message):
    """The checks ended; ``problem`` says why they could not run to their end."""

    evidence: tuple[Evidence, ...]
    cancelled: bool
    problem: str = ""


@dataclass
class EvidenceStored(Message):
    """What the checks saw is on disk."""

    evidence: tuple[Evidence, ...]


@dataclass
class SnapshotExported(Message):
    """The checklist was saved."""

    path: Path


@dataclass
class ReasonsRead(Message):
    """Reasons that were given before, newest first."""

    reasons: tuple[str, ...]


@dataclass
class RequestRefused(Message):
    """Something that was asked for was not done, and why. ``ids`` were to be decided on."""

    problem: str
    ids: tuple[str, ...] = ()
    decisions: Mapping[str, Decision] | None = None
