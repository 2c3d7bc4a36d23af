"""Windows that a decision may need: the reason for keeping CUDA, and deciding on many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from textual import on
from textual.binding import Binding
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from project.paths import visible
from project.translation import N_, _
from project.vocabulary import State
from tui.screens.dialog import Dialog


class ReasonAsked(Dialog[str]):
    """Asks why a place stays on CUDA; earlier reasons can be taken again."""

    heading = N_("Keep on CUDA")
    BINDINGS = [Binding("down", "to_list", show=False)]

    def __init__(self, what: str) -> None:
        super().__init__()
        self._what = what
        self._reasons: list[str] = []

    def inside(self) -> Iterable[Widget]:
        """What it is about, the line to type in, and earlier reasons."""
        yield Static(Content(self._what))
        yield Input(placeholder=_("why does it stay on CUDA?"))
        yield Static(classes="problem -empty")
        yield OptionList(markup=False)
        text = _("enter keeps it · ↓ earlier reasons · esc cancels")
        yield Static(Content.styled(text, "$quiet"))

    def offer(self, reasons: Sequence[str]) -> None:
        """Show reasons that were given before."""
        self._reasons = list(reasons)
        if self.is_mounted:
            self._list_reasons()

    def _list_reasons(self) -> None:
        options = self.query_one(OptionList)
        options.clear_options()
        options.add_options([Option(Content(visible(reason))) for reason in self._reasons])
        options.display = bool(self._reasons)

    def on_mount(self) -> None:
        """Begin in the line; reasons may have come before the window did."""
        self._list_reasons()
        self.query_one(Input).focus()

    def action_to_list(self) -> None:
        """Go to the earlier reasons."""
        if self._reasons:
            options = self.query_one(OptionList)
            options.highlighted = 0
            options.focus()

    @on(Input.Submitted)
    def typed(self, event: Input.Submitted) -> None:
        """Take the reason that was typed."""
        reason = event.value.strip()
        if reason:
            self.dismiss(reason)
        else:
            problem = self.query_one(".problem", Static)
            problem.update(Content(_("Say why in a few words: it goes into the checklist.")))
            problem.remove_class("-empty")

    @on(OptionList.OptionSelected)
    def taken(self, event: OptionList.OptionSelected) -> None:
        """Take an earlier reason."""
        self.dismiss(self._reasons[event.option_index])


@dataclass(frozen=True)
class Scope:
    """Several open findings: what they are called, all of them, and those with a rewrite."""

    name: str
    all: tuple[str, ...]
    acceptable: tuple[str, ...]


class ManyDecided(Dialog[tuple[Scope, State]]):
    """Chooses a group of open findings and what to decide on them."""

    heading = N_("Decide on many")
    BINDINGS = [
        Binding("y", "take('accepted')", show=False),
        Binding("n", "take('declined')", show=False),
        Binding("k", "take('kept')", show=False),
    ]

    def __init__(self, scopes: Sequence[Scope]) -> None:
        super().__init__()
        self._scopes = list(scopes)

    def inside(self) -> Iterable[Widget]:
        """The groups with their counts."""
        options = [
            Option(
                Content.assemble(
                    visible(scope.name),
                    (
                        _("  {n} open, {m} with a rewrite").format(
                            n=len(scope.all), m=len(scope.acceptable)
                        ),
                        "$quiet",
                    ),
                )
            )
            for scope in self._scopes
        ]
        yield OptionList(*options, markup=False)
        yield Static(classes="problem -empty")
        text = _("y accepts the rewrites · n declines all · k keeps all on CUDA · esc cancels")
        yield Static(Content.styled(text, "$quiet"))

    def on_mount(self) -> None:
        """Begin with the smallest group."""
        self.query_one(OptionList).focus()

    def action_take(self, state: str) -> None:
        """Decide on the group under the cursor."""
        scope = self._scopes[self.query_one(OptionList).highlighted or 0]
        if state == State.ACCEPTED and not scope.acceptable:
            problem = self.query_one(".problem", Static)
            problem.update(Content(_("None of these has a rewrite.")))
            problem.remove_class("-empty")
            return
        self.dismiss((scope, State(state)))

    @on(OptionList.OptionSelected)
    def chosen(self) -> None:
        """Say that enter alone decides nothing."""
        problem = self.query_one(".problem", Static)
        problem.update(Content(_("Press y, n or k to decide on these.")))
        problem.remove_class("-empty")
