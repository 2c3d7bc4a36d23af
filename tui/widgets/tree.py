"""The findings by layer and file."""

from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from project.paths import visible
from project.translation import _
from project.vocabulary import Layer, State
from tui.board import Board, Key, Row
from tui.widgets.lines import Lines, text_strip
from tui.words import FIXES, LAYERS, STATES


class FindingsTree(Lines):
    """The tree: rows of a board, and a cursor that stays on its place while rows come in."""

    COMPONENT_CLASSES = {
        "tree--layer",
        "tree--file",
        "tree--quiet",
        "tree--open",
        "tree--accepted",
        "tree--declined",
        "tree--kept",
        "tree--applied",
        "tree--cursor",
    }

    DEFAULT_CSS = """
    FindingsTree {
        height: 1fr;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        .tree--layer { text-style: bold; }
        .tree--quiet, .tree--declined { color: $quiet; }
        .tree--open { color: $foreground; }
        .tree--accepted { color: $success; }
        .tree--kept { color: $accent; }
        .tree--applied { color: $primary; }
        .tree--cursor { background: $block-cursor-blurred-background; }
        &:focus .tree--cursor { background: $block-cursor-background; text-style: bold; }
    }
    """

    BINDINGS = [
        Binding("up", "move(-1)", show=False),
        Binding("down", "move(1)", show=False),
        Binding("pageup", "page(-1)", show=False),
        Binding("pagedown", "page(1)", show=False),
        Binding("home", "end(False)", show=False),
        Binding("end", "end(True)", show=False),
        Binding("left", "fold", show=False),
        Binding("right", "unfold", show=False),
        Binding("space", "flip", show=False),
        Binding("enter", "enter", show=False),
    ]

    @dataclass
    class CursorMoved(Message):
        """The cursor is on another place."""

        row: Row | None

    @dataclass
    class FindingEntered(Message):
        """A person wants to see a finding's code."""

    def __init__(self, board: Board) -> None:
        super().__init__()
        self.board = board
        self._rows: list[Row] = []
        self._index: dict[Key, int] = {}
        self._key: Key | None = None
        self._moved = False

    # -- rows and cursor -------------------------------------------------------------------

    @property
    def row(self) -> Row | None:
        """The row under the cursor."""
        index = self._index.get(self._key) if self._key else None
        return None if index is None else self._rows[index]

    def rebuild(self, board: Board | None = None) -> None:
        """Show the board as it is now; the cursor stays on its place, or near it."""
        before = self._index.get(self._key, 0) if self._key else 0
        if board is not None:
            self.board = board
        self._rows = self.board.rows()
        self._index = {row.key: index for index, row in enumerate(self._rows)}
        self.set_extent(len(self._rows))
        if self._key not in self._index or not self._moved:
            self._key = None if self._key not in self._index else self._key
            self._go(self._substitute(before if self._moved else 0), moved=False)
        self.reveal(self._here(), margin=2)

    def _substitute(self, before: int) -> int:
        """Where the cursor goes when its row is gone: close by, on a finding if there is one."""
        start = min(before, max(len(self._rows) - 1, 0))
        later = range(start, len(self._rows))
        return next((i for i in later if self._rows[i].finding is not None), start)

    def go_to(self, key: Key) -> None:
        """Put the cursor on a place, unfolding what it lies in."""
        if self.board.unfold(key):
            self.rebuild()
        if key in self._index:
            self._go(self._index[key])

    def _go(self, index: int, moved: bool = True) -> None:
        self._moved = self._moved or moved
        if not self._rows:
            self._key = None
            self.post_message(self.CursorMoved(None))
            return
        index = max(0, min(index, len(self._rows) - 1))
        row = self._rows[index]
        if row.key == self._key:
            return
        if self._key in self._index:
            self.refresh_line(self._index[self._key])
        self._key = row.key
        self.reveal(index, margin=2)
        self.refresh_line(index)
        self.post_message(self.CursorMoved(row))

    def _here(self) -> int:
        return self._index.get(self._key, 0) if self._key else 0

    # -- drawing ---------------------------------------------------------------------------

    def draw(self, index: int, width: int) -> Strip:
        """One row: sign, name, and counts or the way to fix it."""
        row = self._rows[index]
        here = row.key == self._key
        if row.finding is None:
            strip = self._draw_group(row, width)
        else:
            strip = self._draw_finding(row, width)
        return strip.apply_style(self.part("tree--cursor")) if here else strip

    def _draw_group(self, row: Row, width: int) -> Strip:
        decided, total = self.board.tally(row.key)
        sign = "▸" if row.key in self.board.collapsed else "▾"
        if row.kind == "layer":
            name, style = _(LAYERS[Layer(row.key[0])]), self.part("tree--layer")
        else:
            name, style = visible(row.key[1]), self.part("tree--file")
        left = f"{'  ' * (len(row.key) - 1)}{sign} "
        right = f" {decided}/{total} "
        room = width - cell_len(left) - cell_len(right)
        return text_strip(
            [
                (left, self.part("tree--quiet")),
                (fitted(name, room, keep_end=row.kind == "file"), style),
                (right, self.part("tree--quiet")),
            ]
        )

    def _draw_finding(self, row: Row, width: int) -> Strip:
        finding = row.finding
        assert finding is not None
        state = self.board.state(finding.id)
        style = self.part(f"tree--{state}")
        number = f"{finding.line:>4} "
        if finding.cell is not None:
            number = f"{f'[{finding.cell}]:{finding.line}':>4} "
        left = f"    {STATES[state][0]} "
        if state is State.OPEN:
            right = f" {_(FIXES[finding.fix][0])} "
        else:
            right = f" {_(STATES[state][1])} "
        text = visible(" ".join(finding.text.split()))
        room = width - cell_len(left + number + right)
        return text_strip(
            [
                (left, style),
                (number, self.part("tree--quiet")),
                (fitted(text, room), style if state is not State.OPEN else Style()),
                (right, self.part("tree--quiet") if state is State.OPEN else style),
            ]
        )

    # -- keys and mouse --------------------------------------------------------------------

    def action_move(self, step: int) -> None:
        """Move by rows."""
        self._go(self._here() + step)

    def action_page(self, step: int) -> None:
        """Move by pages."""
        self._go(self._here() + step * max(1, self.size.height - 1))

    def action_end(self, last: bool) -> None:
        """Move to the first or last row."""
        self._go(len(self._rows) - 1 if last else 0)

    def action_fold(self) -> None:
        """Fold the group under the cursor, or go to the group that the cursor is in."""
        row = self.row
        if row is None:
            return
        if row.finding is None and row.key not in self.board.collapsed:
            self.board.collapsed.add(row.key)
            self.rebuild()
        elif len(row.key) > 1:
            self._go(self._index[row.key[:-1]])

    def action_unfold(self) -> None:
        """Unfold the group under the cursor, or go to what is in it."""
        row = self.row
        if row is None or row.finding is not None:
            return
        if row.key in self.board.collapsed:
            self.board.collapsed.discard(row.key)
            self.rebuild()
        else:
            self._go(self._index[row.key] + 1)

    def action_flip(self) -> None:
        """Fold or unfold the group under the cursor."""
        row = self.row
        if row is not None and row.finding is None:
            self.board.collapsed ^= {row.key}
            self.rebuild()

    def action_enter(self) -> None:
        """Look at the finding's code, or fold and unfold."""
        if self.row is not None and self.row.finding is not None:
            self.post_message(self.FindingEntered())
        else:
            self.action_flip()

    @on(events.Click)
    def clicked(self, event: events.Click) -> None:
        """Put the cursor there; on the sign of a group, or a second time, fold it."""
        index = event.y + self.scroll_offset.y
        if index >= len(self._rows):
            return
        row = self._rows[index]
        on_sign = row.finding is None and event.x < 2 * len(row.key)
        self._go(index)
        if on_sign or event.chain > 1:
            self.action_enter()


def fitted(text: str, room: int, keep_end: bool = False) -> str:
    """``text`` in exactly ``room`` cells; what is cut shows as an ellipsis."""
    if room <= 0:
        return ""
    if cell_len(text) <= room:
        return set_cell_size(text, room)
    if room == 1:
        return "…"
    if keep_end:
        while cell_len(text) > room - 1:
            text = text[1:]
        return set_cell_size("…" + text, room)
    return set_cell_size(text, room - 1) + "…"


class FindingsPane(Vertical):
    """The tree with its filter."""

    DEFAULT_CSS = """
    FindingsPane {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-subtitle-color: $quiet;
        &:focus-within { border: round $border; border-title-style: bold; }
        Input { display: none; border: none; height: 1; padding: 0 1; background: $panel; }
        &.-filtering Input { display: block; }
    }
    """

    @dataclass
    class FilterChanged(Message):
        """Other words are looked for."""

        words: tuple[str, ...]

    def __init__(self, board: Board) -> None:
        super().__init__(id="findings-pane")
        self.tree_view = FindingsTree(board)
        self.border_title = Content(_("Findings"))

    def compose(self) -> ComposeResult:
        """The filter above the tree."""
        yield Input(placeholder=_("filter: path, rule, text, open, safe …"), id="filter")
        yield self.tree_view

    def open_filter(self) -> None:
        """Let words be typed."""
        self.add_class("-filtering")
        self.query_one(Input).focus()

    def close_filter(self) -> None:
        """Show everything again."""
        self.remove_class("-filtering")
        self.query_one(Input).value = ""
        self.tree_view.focus()

    @on(Input.Changed, "#filter")
    def filter_changed(self, event: Input.Changed) -> None:
        """Look for what is typed."""
        event.stop()
        self.post_message(self.FilterChanged(tuple(event.value.lower().split())))

    @on(Input.Submitted, "#filter")
    def filter_submitted(self, event: Input.Submitted) -> None:
        """Go on among what was found."""
        event.stop()
        if not event.value.strip():
            self.close_filter()
        self.tree_view.focus()
