"""The triage session in a terminal."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from textual.app import App, SystemCommand
from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.screen import Screen

from project.translation import _
from tui.actions import ACTIONS, Action
from tui.screens.triage import TriageScreen
from tui.theme import DARK, LIGHT, own_colours

if TYPE_CHECKING:
    from reports.session import Session


class ActionCommands(Provider):
    """Every action in the command palette, with the reason where it is not possible now."""

    def _text(self, action: Action) -> tuple[str, str]:
        screen = self.screen
        why_not = action.why_not(screen.situation()) if isinstance(screen, TriageScreen) else ""
        text = f"{_(action.label)} ({action.key})"
        return text, why_not or _(action.help)

    def _run(self, action: Action) -> None:
        if isinstance(self.screen, TriageScreen):
            self.screen.action_act(action.id)

    async def discover(self) -> Hits:
        """All of them, before anything is typed."""
        for action in ACTIONS:
            if action.id != "palette":
                text, about = self._text(action)
                yield DiscoveryHit(text, lambda one=action: self._run(one), help=about)

    async def search(self, query: str) -> Hits:
        """Those whose label or help matches."""
        matcher = self.matcher(query)
        for action in ACTIONS:
            text, about = self._text(action)
            score = max(matcher.match(text), matcher.match(_(action.help)) * 0.5)
            if score > 0 and action.id != "palette":
                yield Hit(
                    score, matcher.highlight(text), lambda one=action: self._run(one), help=about
                )


class TriageApp(App[None]):
    """Shows one session; everything else is in its screens."""

    TITLE = "cuda2mps"
    COMMANDS = App.COMMANDS | {ActionCommands}
    ENABLE_COMMAND_PALETTE = True
    BINDINGS = []

    def __init__(self, session: "Session", first_run: bool = False) -> None:
        super().__init__()
        self._session = session
        self._first_run = first_run
        self.register_theme(DARK)
        self.register_theme(LIGHT)
        self.theme = DARK.name

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """The colours of our own, for every theme."""
        return own_colours(self.current_theme.dark)

    def get_default_screen(self) -> Screen[None]:
        """The session."""
        return TriageScreen(self._session, self._first_run)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Only what is no action of ours: choosing a theme."""
        yield SystemCommand(_("Theme"), _("Choose another theme."), self.action_change_theme)


def open_session(session: "Session", first_run: bool = False) -> None:
    """Run the triage session until it is left; every decision is on disk afterwards."""
    TriageApp(session, first_run).run()
