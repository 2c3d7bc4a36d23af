"""One session on one project: findings, proposals, decisions, evidence, checklist, verdict.

The screen, the command line and the reports all work on this object; it knows no terminal.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from analyzers.examine import FileReport
from analyzers.registry import rules
from analyzers.scan import ScanOptions, scan
from checks import checklist, verdict
from project import files, git
from project.decisions import DecisionLog, now
from project.errors import Refused, UserError
from project.evidence import EvidenceStore
from project.journal import Change, Entry, Journal
from project.lock import held
from project.translation import _
from project.vocabulary import (
    Decision,
    Evidence,
    Finding,
    Fix,
    ItemState,
    Notice,
    Proposal,
    Skipped,
    State,
    Verdict,
)
from project.workspace import Workspace
from reports.commits import commits
from reports.explained import explained
from rewriters.combine import Conflict, combine
from rewriters.propose import Proposing, Style


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply or an undo of one changed."""

    entry: Entry
    findings: tuple[str, ...]


class Session:
    """Everything known about a project, and the only way to change it.

    Making one reads the state and finishes what a crash left (``recovered`` says what); it scans
    nothing. Methods that touch the project's files or the state block; the screen calls them in
    a worker.
    """

    def __init__(self, workspace: Workspace, options: ScanOptions, style: Style) -> None:
        self.workspace = workspace
        self.options = options
        self.style = style
        self.findings: list[Finding] = []
        self.skipped: list[Skipped] = []
        self.notices: list[Notice] = []
        self.files_read = 0
        self.scanned = False
        self.proposals: dict[str, Proposal] = {}
        #: Applied since the last scan, so that their findings are still in the list.
        self._fresh: set[str] = set()
        self._log = DecisionLog(workspace.state)
        self._store = EvidenceStore(workspace.state)
        self._journal = Journal(workspace.root, workspace.state, workspace.git)
        self.recovered: list[str] = self._journal.recover()
        self._decisions: dict[str, Decision] = self._log.current()
        self._evidence: list[Evidence] = self._store.all()

    @classmethod
    def open(
        cls, path: Path, options: ScanOptions | None = None, style: str | None = None
    ) -> "Session":
        """Open the project at ``path``.

        Raises:
            UserError: there is no such directory, or its configuration is wrong.
        """
        workspace = Workspace.open(path)
        options = options or ScanOptions.from_config(workspace.config)
        return cls(workspace, options, Style(style or workspace.config.style, options.torch))

    # -- finding and proposing -------------------------------------------------------------

    def scan_files(self) -> Iterator[FileReport]:
        """Scan, yielding each file's report once its findings and proposals are in the session.

        Starts from nothing; a second call re-scans.
        """
        self.findings, self.skipped, self.notices, self.proposals = [], [], [], {}
        self._fresh = set()
        self.files_read, self.scanned = 0, False
        complete = self.options.rules() == rules()
        for report in scan(self.workspace, self.options, then=Proposing(self.style, complete)):
            self.proposals.update((one.finding, one) for one in report.proposals)
            self.findings.extend(report.findings)
            self.skipped.extend(report.skipped)
            self.notices.extend(report.notices)
            self.files_read += report.read
            yield report
        self.findings.sort(key=lambda finding: (finding.path, finding.start, finding.rule))
        self.scanned = True

    def scan(self) -> None:
        """Scan to the end."""
        for _report in self.scan_files():
            pass

    def finding(self, id: str) -> Finding:
        """The finding with this id; raises UserError when there is none."""
        for finding in self.findings:
            if finding.id == id:
                return finding
        raise UserError(_("There is no finding {id} in this project; scan again.").format(id=id))

    # -- decisions -------------------------------------------------------------------------

    @property
    def decisions(self) -> Mapping[str, Decision]:
        """What was decided, here or by a comment in the code, by finding id; no open ones.

        Code that a scan found again after its rewrite was applied has come back, and is open.
        """
        back = {
            one.id
            for one in self.findings
            if one.id not in self._fresh
            and (decision := self._decisions.get(one.id)) is not None
            and decision.state is State.APPLIED
        }
        commented = {
            one.id: Decision(
                one.id, State.KEPT, "", one.kept, one.rule, one.path, one.line, one.text[:200]
            )
            for one in self.findings
            if one.kept is not None
        }
        return commented | {id: one for id, one in self._decisions.items() if id not in back}

    def state(self, finding: Finding) -> State:
        """The decision on a finding, or what a comment in the code says; OPEN without either."""
        decision = self._decisions.get(finding.id)
        if decision is None or (decision.state is State.APPLIED and finding.id not in self._fresh):
            return State.OPEN if finding.kept is None else State.KEPT
        return decision.state

    def orphans(self) -> list[Decision]:
        """Decisions whose code has changed: their finding is no longer there, nor applied."""
        present = {finding.id for finding in self.findings}
        # A crash can come between an apply and its decisions: what the journal holds was applied.
        present.update(
            id for entry in self._journal.entries() if not entry.undone for id in entry.findings
        )
        return [
            decision
            for decision in self._decisions.values()
            if decision.finding not in present and decision.state is not State.APPLIED
        ]

    def decide(self, ids: Iterable[str], state: State, reason: str = "") -> list[str]:
        """Record one decision on several findings, as one step of undo; returns the ids it took.

        Accepting takes only findings that have a proposal. Applied ones are left alone: they
        change by undoing the apply.
        """
        wanted = set(ids)
        chosen = [
            finding
            for finding in self.findings
            if finding.id in wanted
            and self.state(finding) is not State.APPLIED
            and (state is not State.ACCEPTED or finding.id in self.proposals)
        ]
        at = now()
        self._record(
            [
                Decision(f.id, state, at, reason, f.rule, f.path, f.line, f.text[:200])
                for f in chosen
            ]
        )
        return [finding.id for finding in chosen]

    def undo_decision(self) -> list[str] | None:
        """Take the last decision back; returns the findings it was about, None if none is left."""
        with held(self.workspace.state):
            changed = self._log.undo()
        self._decisions = self._log.current()
        return changed

    def redo_decision(self) -> list[str] | None:
        """Make the decision again that was taken back last."""
        with held(self.workspace.state):
            changed = self._log.redo()
        self._decisions = self._log.current()
        return changed

    def recent_reasons(self) -> list[str]:
        """Reasons given before, newest first."""
        return self._log.reasons()

    def _record(self, decisions: Sequence[Decision]) -> None:
        if not decisions:
            return
        self._need_git()
        with held(self.workspace.state):
            self._log.record(decisions)
        self._decisions = self._log.current()

    # -- patches ---------------------------------------------------------------------------

    def chosen(self, *, review: bool = False, accepted_only: bool = False) -> list[Proposal]:
        """The proposals that `diff` and `apply` speak of.

        Open ones that are safe (``review``: those to be reviewed too) and accepted ones; or with
        ``accepted_only`` the accepted ones alone.
        """
        wanted = {Fix.SAFE, Fix.REVIEW} if review else {Fix.SAFE}
        out = []
        for finding in self.findings:
            proposal = self.proposals.get(finding.id)
            if proposal is None:
                continue
            state = self.state(finding)
            if state is State.ACCEPTED or (
                not accepted_only and state is State.OPEN and proposal.fix in wanted
            ):
                out.append(proposal)
        return out

    def patch(
        self, proposals: Sequence[Proposal], context: int = 3, *, explain: bool = False
    ) -> bytes:
        """One git patch of these proposals; empty when there are none.

        With ``explain`` each hunk stands below comments that name the rule and the reason.

        Raises:
            Refused: a file is no longer the one that was scanned, or two proposals exclude
                each other.
        """
        changes = self.changes(proposals)
        if not changes:
            return b""
        patch = git.diff_trees(
            {change.path: change.before for change in changes},
            {change.path: change.after for change in changes},
            {c.path: (self.workspace.root / c.path).stat().st_mode for c in changes},
            context,
        )
        if not explain:
            return patch
        return explained(patch, changes, proposals, {one.id: one for one in self.findings})

    def changes(self, proposals: Iterable[Proposal]) -> list[Change]:
        """What applying these proposals would write, a change a file."""
        by_path: dict[str, list[Proposal]] = {}
        for proposal in proposals:
            by_path.setdefault(proposal.path, []).append(proposal)
        changes = []
        for path, group in sorted(by_path.items()):
            data = files.read(self.workspace.root, path)
            if isinstance(data, Skipped):
                raise Refused(_("{path} cannot be read any more: scan again.").format(path=path))
            seen = hashlib.sha256(data).hexdigest()
            if any(proposal.before != seen for proposal in group):
                raise Refused(
                    _("{path} was changed since it was scanned: scan again.").format(path=path)
                )
            try:
                after = combine(data, group)
            except Conflict as conflict:
                raise Refused(str(conflict)) from None
            if after != data:
                changes.append(Change(path, data, after))
        return changes

    def check(self, proposals: Sequence[Proposal], to: str = "worktree") -> list[Change]:
        """What applying these proposals would write, after everything that could refuse it.

        Raises:
            Refused: as ``apply`` would.
        """
        changes = self.changes(proposals)
        self._need_git()
        if not changes:
            return changes
        if branch := _branch(to):
            self._journal.check_commit(branch, changes)
        else:
            self._journal.check(changes, index=to == "index")
        return changes

    def apply(
        self, proposals: Sequence[Proposal], label: str = "apply", to: str = "worktree"
    ) -> Applied | None:
        """Apply these proposals, all or nothing; None when nothing changes.

        Args:
            proposals: what to apply.
            label: what for, as a person would say it.
            to: ``worktree``; ``index``, which means both; or ``branch:NAME``, a new branch with
                a commit a rule, which leaves everything else as it is.

        But for a branch, the findings are `applied` afterwards; scan again to see what is left.
        """
        changes = self.changes(proposals)
        if not changes:
            return None
        self._need_git()
        if branch := _branch(to):
            made = commits(proposals, changes)
            return Applied(self._journal.commit(branch, made, changes, label), ())
        ids = tuple(proposal.finding for proposal in proposals)
        with held(self.workspace.state):
            entry = self._journal.apply(changes, label, ids, index=to == "index")
        self._fresh.update(ids)
        self.decide(ids, State.APPLIED)
        return Applied(entry, ids)

    def _need_git(self) -> None:
        """Refuse to put state beside the files of a repository whose git cannot be asked."""
        root = self.workspace.root
        if self.workspace.git is None and (root / ".git").exists():
            raise UserError(
                _("{path} is a git repository and git is not on the PATH: install git.").format(
                    path=root
                )
            )

    def undo_apply(self, id: str | None = None) -> Applied:
        """Take the last apply back, or the one named; its findings are accepted again.

        Raises:
            Refused: a file was changed since, or there is nothing to undo. Nothing is changed.
        """
        with held(self.workspace.state):
            entry = self._journal.undo(id)
        at = now()
        self._record(
            [
                replace(self._decisions[f], state=State.ACCEPTED, at=at)
                for f in entry.findings
                if f in self._decisions
            ]
        )
        return Applied(entry, entry.findings)

    def applies(self) -> list[Entry]:
        """Every apply so far, oldest first, those taken back included."""
        return self._journal.entries()

    # -- evidence, checklist, verdict ------------------------------------------------------

    @property
    def evidence(self) -> Sequence[Evidence]:
        """All evidence, oldest first."""
        return self._evidence

    def add_evidence(self, evidence: Iterable[Evidence]) -> list[Evidence]:
        """Store what a check saw."""
        with held(self.workspace.state):
            stored = [self._store.add(one) for one in evidence]
        self._evidence = self._store.all()
        return stored

    def checklist(self) -> tuple[ItemState, ...]:
        """The acceptance checklist as it stands."""
        narrowed = self.options.select or self.options.ignore or self.options.layers
        return checklist.fill(
            self.findings,
            self.decisions,
            self.skipped,
            self._evidence,
            self.scanned and not narrowed,
        )

    def verdict(self) -> Verdict:
        """The verdict as it stands."""
        return verdict.decide(
            self.checklist(), self.findings, self.decisions, self.workspace.config.uses
        )


def _branch(to: str) -> str:
    """The branch that ``branch:NAME`` names; nothing for another place."""
    return to.removeprefix("branch:") if to.startswith("branch:") else ""
