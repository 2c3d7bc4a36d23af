"""What the screen asks of a session, each as one function for the driver's thread.

They block, touch no widget, and answer with a message.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from project.errors import UserError
from project.translation import _
from project.vocabulary import Evidence, Finding, Proposal, Skipped, State
from tui import listing, messages

if TYPE_CHECKING:
    from reports.session import Session
    from tui.board import Board


def show(
    session: "Session", finding: Finding, proposal: Proposal | None, as_diff: bool
) -> messages.ListingMade:
    """The diff of a finding's rewrite, or the source around it."""
    try:
        if as_diff and proposal is not None:
            made = _diff(session, proposal)
        else:
            made = _source(session, finding)
    except (UserError, OSError, ValueError) as error:
        return messages.ListingMade(finding, as_diff, listing.Listing(), str(error))
    return messages.ListingMade(finding, as_diff, made)


def _diff(session: "Session", proposal: Proposal) -> listing.Listing:
    from analyzers.documents.base import Source

    changes = session.changes([proposal])
    if not changes:
        raise UserError(_("This rewrite changes nothing in the file as it is now."))
    change = changes[0]
    encoding = Source.of(change.path, change.before).encoding
    return listing.diff(
        session.patch([proposal]).decode(encoding, "replace"),
        change.before.decode(encoding, "replace"),
        change.after.decode(encoding, "replace"),
        change.path,
    )


def _source(session: "Session", finding: Finding) -> listing.Listing:
    from analyzers.documents.base import Source
    from analyzers.documents.kinds import document_for, source_for
    from project import files

    data = files.read(session.workspace.root, finding.path)
    if isinstance(data, Skipped):
        raise UserError(
            _("{path} cannot be shown: {reason}").format(path=finding.path, reason=data.reason)
        )
    lines = (finding.line, finding.end_line)
    columns = (finding.column, finding.end_column)
    if finding.cell is None:
        source = Source.of(finding.path, data)
        text = source.decode(0, len(data)).removeprefix("\ufeff")
        return listing.source(text, finding.path, lines, columns)
    source = source_for(document_for(finding.path)[0], finding.path, data)
    bounds = (*source.cells, len(source.text))
    if finding.cell + 1 >= len(bounds):
        raise UserError(_("{path} has changed: scan again.").format(path=finding.path))
    text = source.decode(bounds[finding.cell], bounds[finding.cell + 1])
    return listing.source(text, "cell.py", lines, columns)


def undo(session: "Session", ticket: int, redo: bool = False) -> messages.DecisionsMoved:
    """Take the last decision back, or make it again.

    Raises:
        UserError: the step is an apply, or an undo of one: those change files.
    """
    before = session.decisions
    step, back = session.undo_decision, session.redo_decision
    if redo:
        step, back = back, step
    ids = step()
    after = session.decisions
    for id in ids or ():
        was, now = before.get(id), after.get(id)
        applied = State.APPLIED in (was.state if was else None, now.state if now else None)
        if applied and (was and was.state) != (now and now.state):
            back()
            raise UserError(
                _("That step changed files: p applies, and P takes the last apply back.")
            )
    return messages.DecisionsMoved(
        None if ids is None else tuple(ids), session.decisions, redo, ticket
    )


def summarise(session: "Session", board_needed: "Board") -> messages.ApplySummarised:
    """What applying the accepted rewrites would change.

    Raises:
        Refused: a file has changed since the scan, or two rewrites exclude each other.
    """
    accepted = [one.finding for one in session.chosen(accepted_only=True)]
    wanted = board_needed.needed(accepted)
    proposals = tuple(session.proposals[id] for id in wanted if id in session.proposals)
    extra = tuple(id for id in wanted if id not in set(accepted))
    return messages.ApplySummarised(proposals, extra, file_changes(session, proposals))


def file_changes(
    session: "Session", proposals: Iterable[Proposal]
) -> tuple[messages.FileChange, ...]:
    """How many hunks and lines of each file these rewrites change."""
    proposals = tuple(proposals)
    paths = [change.path for change in session.changes(proposals)]
    patch = session.patch(proposals)
    parts = [listing.counts(part) for part in listing.patches(patch)]
    return tuple(
        messages.FileChange(path, *part) for path, part in zip(paths, parts, strict=True)
    )


def apply(session: "Session", proposals: tuple[Proposal, ...]) -> messages.PatchApplied:
    """Apply exactly these rewrites.

    Raises:
        Refused: a file is not the one that was reviewed. Nothing was changed.
    """
    return messages.PatchApplied(session.apply(proposals))


def undo_apply(session: "Session") -> messages.ApplyUndone:
    """Take the last apply back."""
    return messages.ApplyUndone(session.undo_apply())


def read_history(session: "Session") -> messages.HistoryRead:
    """Count the applies that are still in the files."""
    return messages.HistoryRead(sum(1 for entry in session.applies() if not entry.undone))


def look_at_project(session: "Session") -> messages.ProjectLookedAt:
    """Ask git for branch and cleanness."""
    git = session.workspace.git
    if git is None:
        return messages.ProjectLookedAt(None, None)
    return messages.ProjectLookedAt(git.branch(), git.is_dirty())


def read_reasons(session: "Session", ids: tuple[str, ...]) -> messages.ReasonsRead:
    """Reasons given before, to be offered for a decision on ``ids``."""
    return messages.ReasonsRead(tuple(session.recent_reasons()[:6]), ids)


def plan_checks(session: "Session") -> messages.CheckPlanned:
    """What the live checks would run.

    Raises:
        UserError: no interpreter was found.
    """
    from checks import plan, trust

    made = plan.plan(session.workspace, python=session.workspace.config.python)
    granted = trust.granted(session.workspace, made)
    return messages.CheckPlanned(made, plan.describe(made), granted)


def store(session: "Session", evidence: tuple[Evidence, ...]) -> messages.EvidenceStored:
    """Put what checks saw on disk."""
    return messages.EvidenceStored(tuple(session.add_evidence(evidence)))


def export(session: "Session", path: Path) -> messages.SnapshotExported:
    """Save the checklist snapshot.

    Raises:
        UserError: the file's suffix is unknown, or it cannot be written.
    """
    from reports.export import export as write

    try:
        return messages.SnapshotExported(write(session, path))
    except OSError as error:
        raise UserError(
            _("{path} cannot be written: {reason}").format(path=path, reason=error.strerror)
        ) from None
