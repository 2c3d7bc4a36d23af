"""Source or diff of the finding under the cursor, and why it should change."""

from collections.abc import Iterator
from itertools import pairwise

from rich.cells import cell_len
from rich.style import Style
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.strip import Strip
from textual.widgets import Static

from project.paths import visible
from tui.listing import Line, Listing
from tui.widgets.lines import Lines, text_strip

_KINDS = ("keyword", "string", "number", "comment", "function", "builtin", "constant")


class CodeView(Lines):
    """A listing with line numbers and syntax colours."""

    COMPONENT_CLASSES = {
        "code--number",
        "code--sign",
        "code--added",
        "code--added-word",
        "code--removed",
        "code--removed-word",
        "code--mark",
        "code--note",
        *(f"code--{kind}" for kind in _KINDS),
    }

    DEFAULT_CSS = """
    CodeView {
        height: 1fr;
        scrollbar-size-vertical: 1;
        overflow-x: hidden;
        .code--number, .code--note { color: $quiet; }
        .code--sign { text-style: bold; }
        .code--added { background: $added; }
        .code--added-word { background: $added-word; }
        .code--removed { background: $removed; }
        .code--removed-word { background: $removed-word; }
        .code--mark { background: $marked; text-style: underline; }
        .code--keyword { color: $code-keyword; }
        .code--string { color: $code-string; }
        .code--comment { color: $code-comment; text-style: italic; }
        .code--function { color: $code-function; }
        .code--builtin { color: $code-builtin; }
        .code--constant, .code--number-literal { color: $code-constant; }
    }
    """

    BINDINGS = [
        Binding("up", "scroll_up", show=False),
        Binding("down", "scroll_down", show=False),
        Binding("pageup", "page_up", show=False),
        Binding("pagedown", "page_down", show=False),
        Binding("home", "scroll_home", show=False),
        Binding("end", "scroll_end", show=False),
    ]

    def __init__(self) -> None:
        super().__init__()
        self._listing = Listing()
        self._digits = 3
        self._rows: list[tuple[int, int, int]] = []

    def show(self, listing: Listing) -> None:
        """Show other lines, the interesting ones in view."""
        self._listing = listing
        numbers = [line.number or 0 for line in listing.lines]
        self._digits = max(3, len(str(max(numbers, default=0))))
        self._wrap()
        self.call_after_refresh(self._reveal_focus)

    def on_resize(self) -> None:
        """Wrap for another width."""
        self._wrap()

    def _wrap(self) -> None:
        """Cut long lines into rows, since what a change does must be readable to its end."""
        # One cell is left to the scroll bar, which comes only when the rows are known.
        room = max(10, self.outer_size.width - self._digits - 4)
        self._rows = [
            (index, start, end)
            for index, line in enumerate(self._listing.lines)
            for start, end in cut(line.text, room)
        ]
        self.set_extent(len(self._rows))

    def _reveal_focus(self) -> None:
        focus = self._listing.focus
        row = next((i for i, (index, _s, _e) in enumerate(self._rows) if index == focus), 0)
        height = self.scrollable_content_region.height
        self.scroll_to(y=max(0, row - height // 3), animate=False)

    def draw(self, index: int, width: int) -> Strip:
        """One row of code."""
        place, start, end = self._rows[index]
        line = self._listing.lines[place]
        if line.kind == "gap":
            return text_strip([(" " * self._digits + " ⋮", self.part("code--number"))])
        if line.kind == "note":
            text = " " * (self._digits + 3) + line.text[start:end]
            return text_strip([(text, self.part("code--note"))])
        sign = {"added": "+", "removed": "-"}.get(line.kind, " ")
        number = "" if line.number is None else str(line.number)
        if start:
            number = "↪"
        background = self.part(f"code--{line.kind}") if line.kind != "plain" else Style()
        pieces = [
            (f"{number:>{self._digits}} ", self.part("code--number")),
            (f"{sign} ", self.part("code--sign")),
            *self._pieces(line, start, end),
        ]
        strip = text_strip([(text, background + style) for text, style in pieces])
        return strip.extend_cell_length(width, background)

    def _pieces(self, line: Line, first: int, last: int) -> list[tuple[str, Style]]:
        """A part of the text, cut where its colour changes."""
        spans = [span for span in line.spans if span[0] < last and span[1] > first]
        cuts = {first, last, *(place for span in spans for place in span[:2]), *(line.mark or ())}
        places = sorted(place for place in cuts if first <= place <= last)
        pieces = []
        for start, end in pairwise(places):
            kind = next((k for a, b, k in spans if a <= start < b), "")
            style = self._colour(kind)
            if line.mark and line.mark[0] <= start < line.mark[1]:
                word = "code--mark" if line.kind == "plain" else f"code--{line.kind}-word"
                style += self.part(word)
            pieces.append((line.text[start:end], style))
        return pieces

    def _colour(self, kind: str) -> Style:
        if not kind:
            return Style()
        return self.part("code--constant" if kind == "number" else f"code--{kind}")


def cut(text: str, room: int) -> Iterator[tuple[int, int]]:
    """Where to cut a text so that each part fits into ``room`` cells; at least one part."""
    if text.isascii():
        for start in range(0, max(1, len(text)), room):
            yield start, min(start + room, len(text))
        return
    start = cells = 0
    for index, character in enumerate(text):
        width = cell_len(character)
        if cells + width > room:
            yield start, index
            start, cells = index, 0
        cells += width
    yield start, len(text)


class CodePane(Vertical):
    """The code with what is to be said about it."""

    DEFAULT_CSS = """
    CodePane {
        border: round $border-blurred;
        border-title-color: $foreground;
        border-subtitle-color: $quiet;
        &:focus-within { border: round $border; border-title-style: bold; }
        #about { height: auto; max-height: 45%; border-top: solid $border-blurred; padding: 0 1;
                 scrollbar-size-vertical: 1; }
        #about Static { height: auto; }
        #about.-empty { display: none; }
    }
    """

    def __init__(self) -> None:
        super().__init__(id="code-pane")
        self.view = CodeView()
        self._about = Static(id="about-text")

    def compose(self) -> ComposeResult:
        """Code above, reasons below."""
        yield self.view
        with VerticalScroll(id="about", can_focus=False):
            yield self._about

    def show_place(self, title: Content, subtitle: Content | None, about: Content) -> None:
        """Say what is shown: place and rule above, reasons below."""
        self.border_title = title
        self.border_subtitle = subtitle
        self._about.update(about)
        self.query_one("#about").set_class(not about.plain, "-empty")

    def show_listing(self, listing: Listing) -> None:
        """Show the code."""
        self.view.show(listing)

    def say(self, problem: str) -> None:
        """Say why there is no code."""
        self._about.update(Content.styled(visible(problem), "$error"))
        self.query_one("#about").remove_class("-empty")
