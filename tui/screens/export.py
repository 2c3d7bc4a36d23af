"""Asks where the checklist snapshot goes."""

from collections.abc import Iterable
from pathlib import Path

from textual import on
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from project.paths import home_relative, visible
from project.translation import N_, _
from tui.screens.dialog import Dialog


class ExportAsked(Dialog[Path]):
    """Asks for a file name; one that exists is replaced only on a second enter."""

    heading = N_("Export the checklist")

    def __init__(self, folder: Path, name: str) -> None:
        super().__init__()
        self._folder = folder
        self._default = name
        self._warned: Path | None = None

    def inside(self) -> Iterable[Widget]:
        """The name, and where it leads."""
        yield Static(Content(_("Save as (.md, .json, .html or .svg):")))
        yield Input(self._default, select_on_focus=False)
        yield Static(id="where")
        yield Static(classes="problem -empty")
        yield Static(Content.styled(_("enter saves · esc cancels"), "$quiet"))

    def _typed(self) -> str:
        return self.query_one(Input).value.strip() or self._default

    def _path(self) -> Path:
        return self._folder / Path(self._typed()).expanduser()

    @on(Input.Changed)
    def changed(self) -> None:
        """Show where it would go."""
        text = _("in {folder}").format(folder=visible(home_relative(self._path().parent)))
        self.query_one("#where", Static).update(Content.styled(text, "$quiet"))
        self.query_one(".problem").add_class("-empty")
        self._warned = None

    @on(Input.Submitted)
    def submitted(self) -> None:
        """Take the name, or warn first."""
        path = self._path()
        if path.exists() and self._warned != path:
            self._warned = path
            problem = self.query_one(".problem", Static)
            problem.update(Content(_("That file exists: enter again replaces it.")))
            problem.remove_class("-empty")
            return
        self.dismiss(path)
