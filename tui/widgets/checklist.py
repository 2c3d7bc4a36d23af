"""The acceptance checklist, by group, with the verdict on top; and its one-line form."""

import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from project.paths import visible
from project.translation import _
from project.vocabulary import ItemState, Status, Verdict
from tui.words import OUTCOMES, STATUS_COLOURS, STATUSES


def outcome_words(verdict: Verdict) -> str:
    """The verdict in a few words, with its leaning."""
    words = _(OUTCOMES[verdict.outcome])
    if verdict.leaning is not None:
        words += _(" · leans to: {outcome}").format(outcome=_(OUTCOMES[verdict.leaning]))
    return words


class ChecklistPane(Vertical):
    """Every item with sign and word; enter shows the evidence."""

    DEFAULT_CSS = """
    ChecklistPane {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-subtitle-color: $quiet;
        &:focus-within { border: round $border; border-title-style: bold; }
        OptionList { height: 1fr; border: none; padding: 0; background: transparent;
                     scrollbar-size-vertical: 1; overflow-x: hidden; }
        OptionList:focus { border: none; background: transparent; background-tint: transparent; }
        OptionList > .option-list--option-disabled { color: $foreground; }
        OptionList > .option-list--option { padding: 0 1; }
    }
    """

    @dataclass
    class ItemOpened(Message):
        """A person wants to see an item's evidence; None asks for the verdict."""

        item: str | None

    def __init__(self) -> None:
        super().__init__(id="checklist-pane")
        self.border_title = Content(_("Acceptance"))
        self.options = OptionList(markup=False)
        self._ids: list[str | None] = []
        self._shown: tuple[Sequence[ItemState], Verdict, Sequence[tuple[str, str]]] | None = None

    def compose(self) -> ComposeResult:
        """The list alone."""
        yield self.options

    def fill(
        self, states: Sequence[ItemState], verdict: Verdict, titles: Sequence[tuple[str, str]]
    ) -> None:
        """Show the checklist; the cursor stays on its item."""
        self._shown = (states, verdict, titles)
        width = max(20, self.options.scrollable_content_region.width - 2)
        self.border_title = Content(
            _("Acceptance · {outcome}").format(outcome=_(OUTCOMES[verdict.outcome]))
        )
        options = [
            Option(
                Content.assemble(
                    (_("Verdict: "), "bold"), (outcome_words(verdict), "bold $accent")
                ),
                id="verdict",
            )
        ]
        if verdict.next_check:
            options.append(
                Option(
                    Content.assemble((_("next: "), "$quiet"), visible(_(verdict.next_check))),
                    id="next",
                    disabled=True,
                )
            )
        for group, title in titles:
            members = [state for state in states if state.item.group == group]
            if members:
                options.append(Option(_heading(_(title), members), disabled=True))
                options.extend(Option(_line(state, width), id=state.item.id) for state in members)
        self._replace(options)

    def on_resize(self) -> None:
        """Wrap the lines for another width."""
        if self._shown is not None:
            self.fill(*self._shown)

    def _replace(self, options: list[Option]) -> None:
        ids = [option.id for option in options]
        if ids == self._ids:
            for index, option in enumerate(options):
                self.options.replace_option_prompt_at_index(index, option.prompt)
            return
        here = self.options.highlighted
        name = self._ids[here] if here is not None and here < len(self._ids) else None
        self._ids = ids
        self.options.clear_options()
        self.options.add_options(options)
        self.options.highlighted = ids.index(name) if name is not None and name in ids else 0

    @on(OptionList.OptionSelected)
    def option_selected(self, event: OptionList.OptionSelected) -> None:
        """Ask for what is behind the line."""
        event.stop()
        chosen = event.option.id
        self.post_message(self.ItemOpened(None if chosen == "verdict" else chosen))


def _heading(title: str, members: Sequence[ItemState]) -> Content:
    asked = [one for one in members if one.status is not Status.NOT_APPLICABLE]
    passed = sum(one.status is Status.PASSED for one in asked)
    return Content.assemble(
        (title, "bold"), (_("  {n} of {all} passed").format(n=passed, all=len(asked)), "$quiet")
    )


def _line(state: ItemState, width: int) -> Content:
    """Sign, title and word, the word in one piece and what is wrapped set in."""
    sign, word = STATUSES[state.status]
    colour = STATUS_COLOURS[state.status]
    word = _(word).replace(" ", "\u00a0")
    wrapped = textwrap.wrap(
        f"{sign} {visible(_(state.item.title))} {word}", width, subsequent_indent="  "
    )
    text = "\n".join(wrapped)
    middle = text[len(sign) : len(text) - len(word)]
    return Content.assemble((sign, colour), middle, (word, colour))


class ChecklistStrip(Static):
    """The checklist in one line, for narrow screens."""

    DEFAULT_CSS = """
    ChecklistStrip { height: 1; padding: 0 1; background: $panel; color: $foreground;
                     text-wrap: nowrap; text-overflow: ellipsis; }
    """

    def fill(self, states: Sequence[ItemState], verdict: Verdict) -> None:
        """Show verdict and counts."""
        counts = Counter(state.status for state in states)
        pieces: list[tuple[str, str]] = [(_(OUTCOMES[verdict.outcome]), "bold $accent")]
        for status, (sign, word) in STATUSES.items():
            if counts[status]:
                pieces.append((f"  {sign}{counts[status]} {_(word)}", STATUS_COLOURS[status]))
        self.update(Content.assemble((_("Acceptance: "), "$quiet"), *pieces))
