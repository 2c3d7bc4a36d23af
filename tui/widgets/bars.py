"""The line on top, which says where this is, and the one below, which says what keys do."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.app import RenderResult
from textual.content import Content
from textual.message import Message
from textual.style import Style
from textual.widget import Widget

from project.paths import visible
from project.translation import _
from tui.actions import ACTIONS, Action, Situation


@dataclass(frozen=True)
class Facts:
    """What the top line tells."""

    project: str = ""
    branch: str | None = None
    dirty: bool | None = None
    target: str = "local"
    torch: str = ""
    decided: int = 0
    total: int = 0
    activity: str = ""


class HeaderBar(Widget):
    """Project, branch, target, PyTorch and progress; the less important goes first when narrow."""

    DEFAULT_CSS = """
    HeaderBar { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    def __init__(self) -> None:
        super().__init__()
        self.facts = Facts()

    def show(self, facts: Facts) -> None:
        """Show other facts."""
        if facts != self.facts:
            self.facts = facts
            self.refresh()

    def render(self) -> RenderResult:
        """Left what it is, right how far it is."""
        facts = self.facts
        right = _("{n}/{all} decided").format(n=facts.decided, all=facts.total)
        if facts.activity:
            right = f"{facts.activity}  {right}"
        left: list[tuple[str, str]] = [
            ("cuda2mps", "bold $primary"),
            (f"  {visible(facts.project)}", "bold"),
        ]
        if facts.branch:
            left.append((f" ⎇ {visible(facts.branch)}", "$quiet"))
        if facts.dirty is not None:
            left.append((_(" ±changed") if facts.dirty else _(" ✓clean"), "$quiet"))
        left.append((_("   target {target}").format(target=facts.target), "$quiet"))
        if facts.torch:
            left.append((_("   torch {release}").format(release=visible(facts.torch)), "$quiet"))
        width = self.content_size.width
        while len(left) > 2 and sum(cell_len(text) for text, _s in left) + cell_len(right) >= width:
            left.pop()
        gap = width - sum(cell_len(text) for text, _style in left) - cell_len(right)
        return Content.assemble(*left, " " * max(1, gap), right)


class HintsBar(Widget):
    """The keys that work now; a click does what the key does."""

    DEFAULT_CSS = """
    HintsBar { height: 1; padding: 0 1; background: $panel; color: $foreground; }
    """

    @dataclass
    class Clicked(Message):
        """A person wants what a hint says."""

        action: str

    def __init__(self) -> None:
        super().__init__()
        self.situation = Situation()

    def show(self, situation: Situation) -> None:
        """Show what works in another situation."""
        if situation != self.situation:
            self.situation = situation
            self.refresh()

    def hints(self, width: int) -> Sequence[Action]:
        """The actions that work now, as many as fit."""
        ranked = sorted((one for one in ACTIONS if one.hint), key=lambda one: one.hint)
        working = [one for one in ranked if not one.why_not(self.situation)]
        last = [one for one in working if one.id in ("help", "quit")]
        chosen, room = [], width
        for one in [*last, *(one for one in working if one not in last)]:
            size = cell_len(f"{one.key} {_(one.label)}") + 2
            if size <= room + 2:
                chosen.append(one)
                room -= size
        return sorted(chosen, key=lambda one: one.hint)

    def render(self) -> RenderResult:
        """Key and label after another."""
        pieces: list[Content | str] = []
        for one in self.hints(self.content_size.width):
            target = Style.from_meta({"action": one.id})
            hint = Content.assemble((one.key, "bold $primary"), f" {_(one.label)}  ")
            pieces.append(hint.stylize(target))
        return Content.assemble(*pieces)

    def on_click(self, event: events.Click) -> None:
        """Do what the hint under the mouse says."""
        action = event.style.meta.get("action")
        if action:
            self.post_message(self.Clicked(action))

    def on_resize(self, event: events.Resize) -> None:
        """Fit again."""
        self.refresh()
