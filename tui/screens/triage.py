"""The triage session: applying, checking, editing and exporting what was decided."""

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work

from project.errors import UserError
from project.paths import home_relative, inside, visible
from project.translation import _, plural
from project.vocabulary import Evidence
from tui import editor, jobs, messages, texts
from tui.screens.checks import CheckRun, ChecksWindow
from tui.screens.deciding import DecidingScreen
from tui.screens.dialog import Notice, Question
from tui.screens.export import ExportAsked

if TYPE_CHECKING:
    from checks.plan import Plan
    from checks.run import Progress
    from reports.session import Session


class TriageScreen(DecidingScreen):
    """The whole session."""

    def __init__(self, session: "Session", first_run: bool = False) -> None:
        super().__init__(session, first_run)
        self._run: CheckRun | None = None
        self._summary: messages.ApplySummarised | None = None

    async def on_unmount(self) -> None:
        """Do not leave a check running."""
        if self._run is not None:
            self._run.cancelled = True

    # -- applying --------------------------------------------------------------------------

    def _do_apply(self) -> None:
        def answered(yes: bool | None) -> None:
            summary, self._summary = self._summary, None
            if yes and summary is not None:
                self._applying = True
                self.driver.do(lambda session: jobs.apply(session, summary.proposals))
            self._refresh_bars()

        self.app.push_screen(Question(_("Apply"), None, _("enter apply")), answered)
        self.driver.do(jobs.summarise)

    @on(messages.ApplySummarised)
    def apply_summarised(self, event: messages.ApplySummarised) -> None:
        """Show what an apply would change."""
        self._summary = event
        if isinstance(self.app.screen, Question):
            self.app.screen.fill(
                texts.apply_text(event.proposals, event.extra, event.files, self.board.findings)
            )

    @on(messages.PatchApplied)
    def patch_applied(self, event: messages.PatchApplied) -> None:
        """Say what has changed, and look at the project again."""
        self._applying = False
        if event.applied is None:
            self.tell(_("Nothing had to be changed."))
            return
        text = texts.applied_text(event.files, len(event.applied.findings))
        self.app.push_screen(Notice(_("Applied"), text))
        self._look_again()

    def _do_undo_apply(self) -> None:
        self._applying = True
        self.driver.do(jobs.undo_apply)

    @on(messages.ApplyUndone)
    def apply_undone(self, event: messages.ApplyUndone) -> None:
        """Say what was taken back, and look at the project again."""
        self._applying = False
        paths = ", ".join(visible(path) for path in event.applied.entry.paths[:3])
        more = "" if len(event.applied.entry.paths) <= 3 else ", …"
        self.tell(_("Taken back: {paths} as before the apply.").format(paths=paths + more))
        self._look_again()

    def _look_again(self) -> None:
        self._scanning = True
        self.driver.do(jobs.read_history)
        self.driver.do(jobs.look_at_project)
        self.driver.scan()
        self._refresh_bars()

    def _do_rescan(self) -> None:
        self._look_again()

    @on(messages.HistoryRead)
    def history_read(self, event: messages.HistoryRead) -> None:
        """Remember whether there is an apply to take back."""
        self._applies = event.applies
        self._refresh_bars()

    @on(messages.RequestRefused)
    def apply_refused(self) -> None:
        """Close the question that gets no answer."""
        self._applying = False
        if isinstance(self.app.screen, Question) and not self.app.screen.filled:
            self.app.screen.dismiss(False)
        if self._run is not None and self._run.plan is None:
            self._run = None
            if isinstance(self.app.screen, ChecksWindow):
                self.app.screen.dismiss(None)

    # -- checking --------------------------------------------------------------------------

    def _do_check(self) -> None:
        from checks.checklist import ITEMS

        if self._run is None or self._run.phase != "running":
            self._run = CheckRun({item.id: item.title for item in ITEMS})
            self.driver.do(jobs.plan_checks)
        self.app.push_screen(ChecksWindow(self._run, self))

    def _show_run(self) -> None:
        self._activity = self._run.summary() if self._run is not None else ""
        if isinstance(self.app.screen, ChecksWindow):
            self.app.screen.show()
        self._refresh_bars()

    @on(messages.CheckPlanned)
    def check_planned(self, event: messages.CheckPlanned) -> None:
        """Ask, or run what was allowed before."""
        if self._run is None or self._run.phase != "planning":
            return
        self._run.plan, self._run.description = event.plan, event.description
        self._run.phase = "asking"
        if event.granted:
            self._start_checks(event.plan)
        self._show_run()

    @on(ChecksWindow.Allowed)
    def check_allowed(self) -> None:
        """Remember the answer, and run."""
        run = self._run
        if run is None or run.plan is None or run.phase != "asking":
            return
        plan = run.plan
        self.driver.do(lambda session: jobs.grant(session, plan))
        self._start_checks(plan)
        self._show_run()

    def _start_checks(self, plan: "Plan") -> None:
        assert self._run is not None
        self._run.phase = "running"
        self._check(self._run, plan)

    @work(thread=True, exclusive=True, group="checks", exit_on_error=False)
    def _check(self, run: CheckRun, plan: "Plan") -> None:
        """Run the checks beside everything else."""
        from checks import run as checks

        def heard(progress: "Progress") -> None:
            self.post_message(messages.CheckAdvanced(progress))

        try:
            evidence: tuple[Evidence, ...] = tuple(
                checks.run(
                    self.session.workspace,
                    plan,
                    cancelled=lambda: run.cancelled,
                    progress=heard,
                )
            )
            problem = ""
        except (UserError, OSError) as error:
            evidence, problem = (), str(error)
        self.post_message(messages.ChecksFinished(evidence, run.cancelled, problem))

    @on(ChecksWindow.CancelAsked)
    def check_cancelled(self) -> None:
        """Stop at the next chance."""
        if self._run is not None:
            self._run.cancelled = True
            self._show_run()

    @on(messages.CheckAdvanced)
    def check_advanced(self, event: messages.CheckAdvanced) -> None:
        """Show the line that came in."""
        if self._run is not None:
            self._run.advance(event.progress)
            self._show_run()

    @on(messages.ChecksFinished)
    def checks_finished(self, event: messages.ChecksFinished) -> None:
        """Keep what was seen."""
        if self._run is not None:
            self._run.finish(event.evidence, event.problem)
        if event.evidence:
            self.driver.do(lambda session: jobs.store(session, event.evidence))
        if not isinstance(self.app.screen, ChecksWindow):
            seen = plural("{n} item has", "{n} items have", len(event.evidence))
            self.tell(_("Checks ended: {seen} new evidence.").format(seen=seen))
        self._show_run()

    @on(messages.EvidenceStored)
    def evidence_stored(self) -> None:
        """Let the checklist show it."""
        self.driver.touch_checklist()

    # -- leaving the screen ----------------------------------------------------------------

    def _do_edit(self) -> None:
        from subprocess import call

        from textual.app import SuspendNotSupported

        finding = self.finding
        assert finding is not None
        try:
            path = inside(self.session.workspace.root, finding.path)
            words = editor.command(path, finding.line if finding.cell is None else 1)
            with self.app.suspend():
                code = call(words)
        except SuspendNotSupported:
            self.tell(_("An editor cannot be opened from here."), warn=True)
            return
        except (UserError, OSError) as error:
            self.tell(str(error), warn=True)
            return
        self.app.refresh(layout=True)
        if code:
            self.tell(_("The editor ended with status {n}.").format(n=code), warn=True)
        self._look_again()

    def _do_export(self) -> None:
        def answered(path: Path | None) -> None:
            if path is not None:
                self.driver.do(lambda session: jobs.export(session, path))

        name = f"cuda2mps-{self.session.workspace.root.name or 'project'}.md"
        self.app.push_screen(ExportAsked(Path.cwd(), name), answered)

    @on(messages.SnapshotExported)
    def snapshot_exported(self, event: messages.SnapshotExported) -> None:
        """Say where it is."""
        self.tell(_("Saved as {path}").format(path=home_relative(event.path.resolve())))
