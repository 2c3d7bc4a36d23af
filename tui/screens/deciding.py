"""Deciding on findings: one, many, and taking a decision back."""

from collections import Counter
from typing import TYPE_CHECKING

from textual import on
from textual.content import Content

from project.paths import visible
from project.translation import _, plural
from project.vocabulary import Finding, State
from tui import jobs, messages
from tui.screens.board import BoardScreen
from tui.screens.decide import ManyDecided, ReasonAsked, Scope
from tui.screens.dialog import Question
from tui.words import LAYERS

if TYPE_CHECKING:
    from reports.session import Session


class DecidingScreen(BoardScreen):
    """A decision shows at once and is written down in the order of the keys."""

    def __init__(self, session: "Session", first_run: bool = False) -> None:
        super().__init__(session, first_run)
        self._waiting: Counter[str] = Counter()

    def _decide(self, ids: tuple[str, ...], state: State, reason: str = "") -> None:
        """Show a decision at once and have it written down; then go to the next open finding."""
        chosen = tuple(id for id in ids if self._takes(id, state))
        if chosen:
            self.board.mark(chosen, state)
            self._waiting.update(chosen)
            self.driver.decide(chosen, state, reason)
        if not self._go_to_open(forward=True) and chosen:
            self.tell(_("Everything is decided. p applies what is accepted, c runs the checks."))
        self.tree_view.refresh()
        self._refresh_bars()

    def _takes(self, id: str, state: State) -> bool:
        now = self.board.state(id)
        if now is State.APPLIED or (now is state and state is not State.KEPT):
            return False
        return state is not State.ACCEPTED or id in self.board.proposals

    def _go_to_open(self, forward: bool) -> bool:
        """Move to the nearest open finding after or before the cursor; whether there is one."""
        row = self.tree_view.row
        found = self.board.open_from(row.key if row else (), forward)
        if found is not None:
            self.tree_view.go_to(self.board.key_of(found.id))
        return found is not None

    def _do_next_open(self) -> None:
        self._go_to_open(forward=True)

    def _do_previous_open(self) -> None:
        self._go_to_open(forward=False)

    def _do_accept(self) -> None:
        if self.finding is not None:
            self._decide((self.finding.id,), State.ACCEPTED)
        else:
            self._decide_here(State.ACCEPTED)

    def _do_decline(self) -> None:
        if self.finding is not None:
            self._decide((self.finding.id,), State.DECLINED)
        else:
            self._decide_here(State.DECLINED)

    def _do_keep(self) -> None:
        row = self.tree_view.row
        assert row is not None
        if row.finding is not None:
            self._ask_reason((row.finding.id,))
        else:
            open_ones = [o for o in self.board.under(row.key) if self._is_open(o)]
            self._ask_reason(tuple(one.id for one in open_ones))

    def _is_open(self, finding: Finding) -> bool:
        return self.board.state(finding.id) is State.OPEN

    def _decide_here(self, state: State) -> None:
        """Decide on every open finding of the file or layer under the cursor, when confirmed."""
        row = self.tree_view.row
        assert row is not None
        under = [one for one in self.board.under(row.key) if self._is_open(one)]
        if state is State.ACCEPTED:
            under = self.board.acceptable(under)
            text = plural("Accept {n} rewrite in", "Accept {n} rewrites in", len(under))
        else:
            text = plural("Decline {n} finding in", "Decline {n} findings in", len(under))
        name = visible(row.key[1]) if row.kind == "file" else _(LAYERS[under[0].layer])
        ids = tuple(one.id for one in under)

        def answered(yes: bool | None) -> None:
            if yes:
                self._decide(ids, state)

        question = Question(_("Decide on many"), Content(f"{text} {name}?"), _("enter yes"))
        self.app.push_screen(question, answered)

    def _ask_reason(self, ids: tuple[str, ...]) -> None:
        """Ask at once, so that what is typed next lands in the question, not on a finding."""
        count = plural("{n} finding stays on CUDA.", "{n} findings stay on CUDA.", len(ids))

        def answered(reason: str | None) -> None:
            if reason:
                self._decide(ids, State.KEPT, reason)

        self.app.push_screen(ReasonAsked(count), answered)
        self.driver.do(jobs.read_reasons)

    @on(messages.ReasonsRead)
    def reasons_read(self, event: messages.ReasonsRead) -> None:
        """Offer earlier reasons."""
        if isinstance(self.app.screen, ReasonAsked):
            self.app.screen.offer(event.reasons)

    def _do_many(self) -> None:
        scopes = []
        for name, findings in self._scopes():
            open_ones = [one for one in findings if self._is_open(one)]
            if open_ones:
                ids = tuple(one.id for one in open_ones)
                acceptable = tuple(one.id for one in self.board.acceptable(open_ones))
                scopes.append(Scope(name, ids, acceptable))

        def answered(answer: tuple[Scope, State] | None) -> None:
            if answer is None:
                return
            scope, state = answer
            if state is State.KEPT:
                self._ask_reason(scope.all)
            else:
                self._decide(scope.acceptable if state is State.ACCEPTED else scope.all, state)

        self.app.push_screen(ManyDecided(scopes), answered)

    def _scopes(self) -> list[tuple[str, list[Finding]]]:
        """Groups around the cursor, from the smallest to everything."""
        everything = self.board.order()
        scopes: list[tuple[str, list[Finding]]] = []
        row = self.tree_view.row
        if row is not None and len(row.key) > 1:
            scopes.append((_("file {path}").format(path=row.key[1]), self.board.under(row.key[:2])))
        if row is not None and row.finding is not None:
            code, name = row.finding.rule, row.finding.name
            same = [one for one in everything if one.rule == code]
            scopes.append((_("rule {code} {name}").format(code=code, name=name), same))
        if row is not None:
            layer = self.board.under(row.key[:1])
            scopes.append((_("layer {name}").format(name=_(LAYERS[layer[0].layer])), layer))
        safe = [one for one in everything if one.fix.value == "safe"]
        scopes.append((_("everything that is safe"), safe))
        scopes.append((_("everything that is shown"), everything))
        return scopes

    def _do_undo(self) -> None:
        ticket = self._ticket
        self.driver.do(lambda session: jobs.undo(session, ticket))

    def _do_redo(self) -> None:
        ticket = self._ticket
        self.driver.do(lambda session: jobs.undo(session, ticket, redo=True))

    # -- what was written down -------------------------------------------------------------

    def pending(self) -> set[str]:
        """Findings with a decision that is shown and not yet written down."""
        return {id for id, count in self._waiting.items() if count > 0}

    def _arrived(self, ids: tuple[str, ...]) -> None:
        self._waiting.subtract(ids)
        for id in ids:
            if self._waiting[id] <= 0:
                del self._waiting[id]
        self._settle(ids)
        self.tree_view.refresh()
        self._show_place()
        self._refresh_bars()

    @on(messages.DecisionsRecorded)
    def decisions_recorded(self, event: messages.DecisionsRecorded) -> None:
        """Show what was taken."""
        self._arrived(event.ids)

    @on(messages.RequestRefused)
    def request_refused(self, event: messages.RequestRefused) -> None:
        """Say why, and show the decisions as they were."""
        self.tell(event.problem, warn=True)
        self._arrived(event.ids)

    @on(messages.DecisionsMoved)
    def decisions_moved(self, event: messages.DecisionsMoved) -> None:
        """Show undo or redo, and go to where it was unless another key was pressed since."""
        if event.ids is None:
            if event.redo:
                self.tell(_("There is no decision to make again."), warn=True)
            else:
                self.tell(_("There is no decision to take back since the last apply."), warn=True)
            return
        self._settle(event.ids)
        here = [id for id in event.ids if id in self.board.findings]
        if here and event.ticket == self._ticket:
            self.tree_view.go_to(self.board.key_of(here[0]))
        if len(event.ids) != 1 or not here:
            text = plural("{n} decision taken back.", "{n} decisions taken back.", len(event.ids))
            again = plural("{n} decision made again.", "{n} decisions made again.", len(event.ids))
            self.tell(again if event.redo else text)
        self.tree_view.refresh()
        self._show_place()
        self._refresh_bars()
        self.driver.touch_checklist()
