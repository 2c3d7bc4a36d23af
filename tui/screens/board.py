"""Findings, their code and the checklist on one screen: what is shown and how one moves in it."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.screen import Screen

from project.paths import visible
from project.translation import _, plural
from project.vocabulary import Finding, ItemState, Layer, Skipped, State, Verdict
from tui import jobs, messages, texts
from tui.actions import ACTIONS, BY_ID, Situation
from tui.board import Board
from tui.driver import Driver
from tui.listing import Listing
from tui.screens.dialog import Notice
from tui.screens.help import Help
from tui.widgets.bars import Facts, HeaderBar, HintsBar
from tui.widgets.checklist import ChecklistPane, ChecklistStrip
from tui.widgets.code import CodePane
from tui.widgets.tree import FindingsPane, FindingsTree
from tui.words import LAYERS

if TYPE_CHECKING:
    from reports.session import Session

#: The code follows the cursor after this many seconds of rest.
REST = 0.1


class BoardScreen(Screen[None]):
    """What is known, shown: it owns the widgets, and the driver's thread owns the session."""

    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (100, "-medium"), (140, "-wide")]
    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(",".join(action.keys), f"act('{action.id}')", action.label, show=False)
            for action in ACTIONS
        ),
        Binding("escape", "leave", show=False),
    ]
    PANES = ("findings", "code", "checklist")

    DEFAULT_CSS = """
    BoardScreen {
        layout: vertical;
        #panes { height: 1fr; }
        #findings-pane, #code-pane, #checklist-pane { width: 1fr; height: 1fr; }
        ChecklistStrip { display: block; }
        &.-wide ChecklistStrip { display: none; }
        &.-wide #findings-pane { width: 46; }
        &.-wide #checklist-pane { width: 42; }
        &.-medium #findings-pane { width: 40; }
        &.-medium #checklist-pane { display: none; }
        &.-medium.-on-checklist #checklist-pane { display: block; }
        &.-medium.-on-checklist #code-pane { display: none; }
        &.-narrow #findings-pane, &.-narrow #code-pane, &.-narrow #checklist-pane { display: none; }
        &.-narrow.-on-findings #findings-pane { display: block; }
        &.-narrow.-on-code #code-pane { display: block; }
        &.-narrow.-on-checklist #checklist-pane { display: block; }
    }
    """

    def __init__(self, session: "Session", first_run: bool = False) -> None:
        super().__init__()
        self.session = session
        self.first_run = first_run
        self.board = Board()
        self.driver = Driver(session, self.post_message)
        self._incoming: Board | None = None
        self._ticket = 0
        self._scanning = True
        self._applying = False
        self._applies = 0
        self._activity = ""
        self._as_diff = True
        self._files_read = 0
        self._skipped: tuple[Skipped, ...] = ()
        self._states: tuple[ItemState, ...] = ()
        self._verdict: Verdict | None = None
        self._facts = Facts(project=session.workspace.root.name)
        self.findings_pane = FindingsPane(self.board)
        self.code_pane = CodePane()
        self.checklist_pane = ChecklistPane()

    # -- what is where ---------------------------------------------------------------------

    def compose(self) -> ComposeResult:
        """Line on top, panes, strip, keys."""
        yield HeaderBar()
        with Horizontal(id="panes"):
            yield self.findings_pane
            yield self.code_pane
            yield self.checklist_pane
        yield ChecklistStrip()
        yield HintsBar()

    @property
    def tree_view(self) -> FindingsTree:
        """The findings."""
        return self.findings_pane.tree_view

    @property
    def finding(self) -> Finding | None:
        """The finding under the cursor."""
        row = self.tree_view.row
        return row.finding if row else None

    def on_mount(self) -> None:
        """Begin to read the project."""
        self._go_to_pane("findings")
        self.driver.start()
        self.driver.scan()
        self.driver.do(jobs.look_at_project)
        self.driver.do(jobs.read_history)
        self._follow = self.set_interval(REST, self._show_code, pause=True)
        for sentence in self.session.recovered:
            self.tell(sentence, warn=True)
        if self.first_run:
            self.tell(_("y accepts, n declines, k keeps on CUDA, p applies; ? lists every key."))
        self._refresh_bars()

    async def on_unmount(self) -> None:
        """Let the driver write down what was decided."""
        import asyncio

        await asyncio.to_thread(self.driver.close)

    def tell(self, text: str, warn: bool = False) -> None:
        """Say something in passing."""
        self.notify(visible(text), severity="warning" if warn else "information", markup=False)

    def situation(self) -> Situation:
        """What the cursor is on and what is going on."""
        row = self.tree_view.row
        under = self.board.under(row.key) if row else []
        finding = row.finding if row else None
        decided, total = self.board.tally()
        if row is None or finding is not None:
            undecided = total - decided
        else:
            undecided = sum(self.board.state(one.id) is State.OPEN for one in under)
        return Situation(
            node=row.kind if row else "",
            state=self.board.state(finding.id) if finding else None,
            has_proposal=finding is not None and finding.id in self.board.proposals,
            acceptable=len(self.board.acceptable(under)),
            undecided=undecided,
            findings=total,
            accepted=self.board.count(State.ACCEPTED),
            applied=self._applies,
            scanning=self._scanning,
            checking=bool(self._activity),
            applying=self._applying,
        )

    def _refresh_bars(self) -> None:
        decided, total = self.board.tally()
        activity = _("scanning… {n} files").format(n=self._files_read) if self._scanning else ""
        activity = self._activity or activity
        self._facts = replace(self._facts, decided=decided, total=total, activity=activity)
        self.query_one(HeaderBar).show(self._facts)
        self.query_one(HintsBar).show(self.situation())
        skipped = plural("{n} skipped", "{n} skipped", len(self._skipped))
        self.findings_pane.border_subtitle = Content(skipped) if self._skipped else None

    # -- actions ---------------------------------------------------------------------------

    def action_act(self, id: str) -> None:
        """Do what a key, a hint or a command asks for, or say why not."""
        self._ticket += 1
        why_not = BY_ID[id].why_not(self.situation())
        if why_not:
            self.tell(why_not, warn=True)
        else:
            getattr(self, f"_do_{id}")()

    @on(HintsBar.Clicked)
    def hint_clicked(self, event: HintsBar.Clicked) -> None:
        """Do what the key does."""
        self.action_act(event.action)

    def action_leave(self) -> None:
        """Close the filter, or go back to the findings."""
        if self.findings_pane.has_class("-filtering"):
            self.findings_pane.close_filter()
        else:
            self._go_to_pane("findings")

    def _go_to_pane(self, name: str) -> None:
        for pane in self.PANES:
            self.set_class(pane == name, f"-on-{pane}")
        focus = {"findings": self.tree_view, "code": self.code_pane.view}
        focus_on = focus.get(name, self.checklist_pane.options)
        focus_on.focus(scroll_visible=False)

    def _pane(self) -> str:
        return next((pane for pane in self.PANES if self.has_class(f"-on-{pane}")), "findings")

    def _do_findings(self) -> None:
        self._go_to_pane("findings")

    def _do_code(self) -> None:
        self._go_to_pane("code")

    def _do_checklist(self) -> None:
        self._go_to_pane("checklist")

    def _do_next_pane(self) -> None:
        self._go_to_pane(self.PANES[(self.PANES.index(self._pane()) + 1) % 3])

    def _do_previous_pane(self) -> None:
        self._go_to_pane(self.PANES[(self.PANES.index(self._pane()) - 1) % 3])

    def _do_filter(self) -> None:
        self._go_to_pane("findings")
        self.findings_pane.open_filter()

    def _do_toggle_diff(self) -> None:
        self._as_diff = not self._as_diff
        self._show_code()

    def _do_rule(self) -> None:
        assert self.finding is not None
        self.app.push_screen(Notice(_("Rule"), texts.rule_text(self.finding.rule)))

    def _do_skipped(self) -> None:
        self.app.push_screen(Notice(_("Not looked at"), texts.skipped_text(self._skipped)))

    def _do_theme(self) -> None:
        dark = self.app.current_theme.dark
        self.app.theme = "cuda2mps-light" if dark else "cuda2mps-dark"

    def _do_help(self) -> None:
        self.app.push_screen(Help(self.situation()))

    def _do_palette(self) -> None:
        self.app.action_command_palette()

    def _do_quit(self) -> None:
        self.app.exit()

    # -- following the cursor --------------------------------------------------------------

    @on(FindingsTree.CursorMoved)
    def cursor_moved(self) -> None:
        """Say at once what is under the cursor; its code follows when the cursor rests."""
        self._show_place()
        self._refresh_bars()
        self._follow.reset()
        self._follow.resume()

    @on(FindingsTree.FindingEntered)
    def finding_entered(self) -> None:
        """Go to the code."""
        self._go_to_pane("code")

    @on(FindingsPane.FilterChanged)
    def filter_changed(self, event: FindingsPane.FilterChanged) -> None:
        """Show what has the words."""
        self.board.look_for(event.words)
        self.tree_view.rebuild()
        self._refresh_bars()

    def _show_place(self) -> None:
        finding = self.finding
        if finding is None:
            self._show_group()
            return
        proposal = self.board.proposals.get(finding.id)
        above, below = texts.title(
            finding, self.board.state(finding.id), self._as_diff and proposal is not None
        )
        decision = self.session.decisions.get(finding.id)
        about = texts.about(finding, proposal, decision, self.board.findings)
        self.code_pane.show_place(above, below, about)

    def _show_group(self) -> None:
        row = self.tree_view.row
        if row is None:
            empty = "" if self._scanning or self.board.findings else _("Nothing was found here.")
            self.code_pane.show_place(Content(_("Code")), None, Content(empty))
            return
        under = self.board.under(row.key)
        name = visible(row.key[1]) if row.kind == "file" else _(LAYERS[Layer(row.key[0])])
        open_ones = sum(self.board.state(one.id) is State.OPEN for one in under)
        about = texts.group(name, under, open_ones, len(self.board.acceptable(under)))
        self.code_pane.show_place(Content(name), None, about)

    def _show_code(self) -> None:
        self._follow.pause()
        finding, as_diff = self.finding, self._as_diff
        self._show_place()
        if finding is None:
            self.code_pane.show_listing(Listing())
            return
        proposal = self.board.proposals.get(finding.id)
        self.driver.view(lambda session: jobs.show(session, finding, proposal, as_diff))

    @on(messages.ListingMade)
    def listing_made(self, event: messages.ListingMade) -> None:
        """Show the code, if the cursor is still there."""
        if self.finding is None or self.finding.id != event.finding.id:
            return
        self.code_pane.show_listing(event.listing)
        if event.problem:
            self.code_pane.say(event.problem)

    # -- what the scan tells ---------------------------------------------------------------

    @on(messages.ScanStarted)
    def scan_started(self) -> None:
        """Collect what comes; the first time it shows at once, later when it is complete."""
        self._scanning = True
        self._files_read = 0
        self._incoming = Board(collapsed=self.board.collapsed, words=self.board.words)
        if not self.board.findings:
            self.board = self._incoming
            self.tree_view.rebuild(self.board)
        self._refresh_bars()

    @on(messages.FilesScanned)
    def files_scanned(self, event: messages.FilesScanned) -> None:
        """Show more findings."""
        assert self._incoming is not None
        self._files_read = event.files_read
        self._incoming.add(event.findings, event.proposals, event.decisions)
        if self._incoming is self.board:
            self._settle(one.id for one in event.findings)
            self.tree_view.rebuild()
        self._refresh_bars()

    @on(messages.ScanFinished)
    def scan_finished(self, event: messages.ScanFinished) -> None:
        """Keep the place in what was found, and say which decisions have lost their code."""
        here = self.finding
        self._scanning = False
        self._skipped = event.skipped
        self._files_read = event.files_read
        if self._incoming is not None and self._incoming is not self.board:
            shown = {id: self.board.state(id) for id in self.pending() if id in self.board.findings}
            self.board = self._incoming
            # Decisions may have been written down after their file was read.
            self.board.settle(event.decisions)
            for id, state in shown.items():
                self.board.mark((id,), state)
        self._incoming = None
        self.tree_view.rebuild(self.board)
        if here is not None:
            now = self.board.nearest(here)
            if now is not None:
                self.tree_view.go_to(self.board.key_of(now.id))
        if event.orphans:
            self.tell(texts.orphans_text(event.orphans), warn=True)
        self._refresh_bars()
        self._show_code()

    def pending(self) -> set[str]:
        """Findings with a decision that is shown and not yet written down."""
        return set()

    def _settle(self, ids: Iterable[str]) -> None:
        """Show what is written down about these findings, unless more is on its way."""
        waiting = self.pending()
        self.board.settle(self.session.decisions, [id for id in ids if id not in waiting])

    @on(messages.ProjectLookedAt)
    def project_looked_at(self, event: messages.ProjectLookedAt) -> None:
        """Show branch and cleanness."""
        self._facts = replace(self._facts, branch=event.branch, dirty=event.dirty)
        self._refresh_bars()

    # -- the checklist ---------------------------------------------------------------------

    @on(messages.ChecklistFilled)
    def checklist_filled(self, event: messages.ChecklistFilled) -> None:
        """Show checklist and verdict."""
        from checks.checklist import GROUPS

        self._states, self._verdict = event.states, event.verdict
        self.checklist_pane.fill(event.states, event.verdict, GROUPS)
        self.query_one(ChecklistStrip).fill(event.states, event.verdict)
        seen = [one for state in event.states for one in state.evidence if "torch" in one.versions]
        if seen:
            newest = max(seen, key=lambda one: one.at)
            self._facts = replace(self._facts, torch=newest.versions["torch"])
        self._refresh_bars()

    @on(ChecklistPane.ItemOpened)
    def item_opened(self, event: ChecklistPane.ItemOpened) -> None:
        """Show the evidence behind an item, or the verdict's reasons."""
        if event.item is None and self._verdict is not None:
            self.app.push_screen(Notice(_("Verdict"), texts.verdict_text(self._verdict)))
        for state in self._states:
            if state.item.id == event.item:
                self.app.push_screen(Notice(_("Checklist item"), texts.item_text(state)))
