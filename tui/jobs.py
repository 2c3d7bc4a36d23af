"""What the screen asks of a session, each as one function for the driver's thread.

They block, touch no widget, and answer with a message.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from project.errors import Refused, UserError
from project.translation import _
from project.vocabulary import Evidence, Finding, Proposal, Skipped
from tui import listing, messages

if TYPE_CHECKING:
    from checks.plan import Plan
    from reports.session import Session


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
    from analyzers import registry
    from analyzers.documents.base import Source
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
    rule = registry.rule(finding.rule)
    if rule is None:
        raise UserError(_("{path} has changed: scan again.").format(path=finding.path))
    source = rule.reads.source_from(finding.path, data)
    bounds = (*source.cells, len(source.text))
    if finding.cell + 1 >= len(bounds):
        raise UserError(_("{path} has changed: scan again.").format(path=finding.path))
    text = source.decode(bounds[finding.cell], bounds[finding.cell + 1])
    return listing.source(text, "cell.py", lines, columns)


def undo(session: "Session", ticket: int, redo: bool = False) -> messages.DecisionsMoved:
    """Take the last decision back, or make it again; never an apply, which changed files."""
    ids = session.redo_decision() if redo else session.undo_decision()
    return messages.DecisionsMoved(
        None if ids is None else tuple(ids), session.decisions, redo, ticket
    )


def summarise(session: "Session") -> messages.ApplySummarised:
    """What applying the accepted rewrites would change.

    Raises:
        Refused: a file has changed since the scan, or two rewrites exclude each other.
    """
    accepted = [one.finding for one in session.chosen(accepted_only=True)]
    wanted = with_needed(session.proposals, accepted)
    proposals = tuple(session.proposals[id] for id in wanted)
    extra = tuple(id for id in wanted if id not in set(accepted))
    return messages.ApplySummarised(proposals, extra, file_changes(session, proposals))


def with_needed(proposals: Mapping[str, Proposal], ids: Iterable[str]) -> list[str]:
    """These findings and those whose rewrites must be applied with theirs."""
    out: dict[str, None] = {}
    queue = list(ids)
    while queue:
        id = queue.pop(0)
        if id not in out and id in proposals:
            out[id] = None
            queue.extend(proposals[id].needs)
    return list(out)


def file_changes(
    session: "Session", proposals: Iterable[Proposal]
) -> tuple[messages.FileChange, ...]:
    """How many hunks and lines of each file these rewrites change."""
    proposals = tuple(proposals)
    paths = [change.path for change in session.changes(proposals)]
    patch = session.patch(proposals)
    parts = [listing.counts(part) for part in listing.patches(patch)]
    return tuple(messages.FileChange(path, *part) for path, part in zip(paths, parts, strict=True))


def apply(session: "Session", proposals: tuple[Proposal, ...]) -> messages.PatchApplied:
    """Apply exactly these rewrites.

    Raises:
        Refused: a file is not the one that was reviewed. Nothing was changed.
    """
    files = file_changes(session, proposals)
    return messages.PatchApplied(session.apply(proposals), files)


def undo_apply(session: "Session") -> messages.ApplyUndone:
    """Take the last apply to the files back."""
    standing = _in_files(session)
    if not standing:
        raise Refused(_("There is nothing to undo: no apply stands."))
    return messages.ApplyUndone(session.undo_apply(standing[-1]))


def read_history(session: "Session") -> messages.HistoryRead:
    """Count the applies that are still in the files."""
    return messages.HistoryRead(len(_in_files(session)))


def _in_files(session: "Session") -> list[str]:
    """The applies that stand in the files, oldest first; those to a branch are not there."""
    return [
        entry.id
        for entry in session.applies()
        if not entry.undone and not entry.to.startswith("branch:")
    ]


def look_at_project(session: "Session") -> messages.ProjectLookedAt:
    """Ask git for branch and cleanness."""
    git = session.workspace.git
    if git is None:
        return messages.ProjectLookedAt(None, None)
    return messages.ProjectLookedAt(git.branch(), git.is_dirty())


def read_reasons(session: "Session") -> messages.ReasonsRead:
    """Reasons given before, newest first."""
    return messages.ReasonsRead(tuple(session.recent_reasons()[:6]))


def plan_checks(session: "Session") -> messages.CheckPlanned:
    """What the live checks would run.

    Raises:
        UserError: no interpreter was found.
    """
    from checks import plan, trust

    made = plan.plan(session.workspace, python=session.workspace.config.python)
    granted = trust.granted(session.workspace, made)
    return messages.CheckPlanned(made, plan.describe(made), granted)


def grant(session: "Session", plan: "Plan") -> None:
    """Remember that a person allowed this to run."""
    from checks import trust

    trust.grant(session.workspace, plan)


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
