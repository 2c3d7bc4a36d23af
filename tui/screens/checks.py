"""The live checks: what they would run, then each line as it comes in."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual import on
from textual.containers import VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.message_pump import MessagePump
from textual.widget import Widget
from textual.widgets import Button, Static

from project.paths import visible
from project.translation import N_, _
from project.vocabulary import Evidence, Status
from tui.screens.dialog import Dialog, buttons
from tui.words import STATUS_COLOURS, STATUSES

if TYPE_CHECKING:
    from checks.plan import Plan
    from checks.run import Progress


@dataclass
class CheckRun:
    """One run of the checks, as far as it came. It goes on when its window is closed."""

    titles: dict[str, str]
    plan: "Plan | None" = None
    description: str = ""
    phase: str = "planning"
    running: str = ""
    asked: set[str] = field(default_factory=set)
    problem: str = ""
    cancelled: bool = False
    seen: dict[str, Evidence] = field(default_factory=dict)

    def advance(self, progress: "Progress") -> None:
        """Take in what the run tells."""
        if progress.evidence is not None:
            self.seen[progress.item] = progress.evidence
        else:
            self.running = progress.item
            self.asked.add(progress.item)

    def finish(self, evidence: Iterable[Evidence], problem: str) -> None:
        """Take in how it ended."""
        self.seen.update((one.item, one) for one in evidence)
        self.phase, self.problem = "done", problem

    def summary(self) -> str:
        """How it stands, for the top line."""
        if self.phase != "running":
            return ""
        return _("checking: {item}").format(item=self._title(self.running))

    def _title(self, item: str) -> str:
        return _(self.titles.get(item, item))

    def text(self) -> Content:
        """What the window shows."""
        if self.plan is None or self.phase == "asking":
            return Content(self.description or "…")
        lines = []
        for item in self.plan.items:
            evidence = self.seen.get(item)
            title = visible(self._title(item))
            if evidence is not None:
                status = Status(evidence.result.value)
                (sign, word), colour = STATUSES[status], STATUS_COLOURS[status]
                lines.append(
                    Content.assemble(
                        (f"{sign} ", colour), title, (f"  {_(word)} · {evidence.on}", colour)
                    )
                )
                lines.append(Content.styled(f"    {visible(_(evidence.summary))}", "$quiet"))
            elif self.phase == "running" and item == self.running:
                lines.append(Content.assemble(("▸ ", "bold $primary"), title, _("  running…")))
            else:
                word = _("waits") if self.phase == "running" else _("not run")
                if self.phase == "running" and item in self.asked:
                    word = _("asked")
                lines.append(Content.assemble(("○ ", "$quiet"), title, (f"  {word}", "$quiet")))
        if self.problem:
            lines.append(Content.styled(visible(self.problem), "$error"))
        return Content("\n").join(lines)


class ChecksWindow(Dialog[None]):
    """Shows a :class:`CheckRun`; asks before it starts."""

    heading = N_("Live checks")
    DEFAULT_CSS = """
    ChecksWindow #frame { width: 100; }
    """

    @dataclass
    class Allowed(Message):
        """A person said: run it."""

    @dataclass
    class CancelAsked(Message):
        """A person said: stop it."""

    def __init__(self, run: CheckRun, owner: MessagePump) -> None:
        super().__init__()
        self.run = run
        self._owner = owner
        self._phase = ""

    def inside(self) -> Iterable[Widget]:
        """The lines and what can be done about them."""
        yield VerticalScroll(Static(id="lines"), classes="body")
        yield buttons(("run", _("enter run it")), ("stop", _("stop")), ("close", _("esc close")))

    def on_mount(self) -> None:
        """Show how it stands."""
        self.show()

    def show(self) -> None:
        """Show how it stands now."""
        self.query_one("#lines", Static).update(self.run.text())
        phase = self.run.phase
        self.query_one("#run").display = phase == "asking"
        self.query_one("#stop").display = phase == "running"
        wanted = "#run" if phase == "asking" else "#close"
        if self._phase != phase:
            self._phase = phase
            self.query_one(wanted).focus()
        if self.run.cancelled and phase == "running":
            self.query_one("#stop", Button).label = Content(_("stopping…"))

    @on(Button.Pressed)
    def pressed(self, event: Button.Pressed) -> None:
        """Run, stop or close."""
        if event.button.id == "run":
            self._owner.post_message(self.Allowed())
        elif event.button.id == "stop":
            self._owner.post_message(self.CancelAsked())
        else:
            self.dismiss(None)
