"""A scrolling area that draws only the lines in view, however many there are."""

from rich.segment import Segment
from rich.style import Style as RichStyle
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip


class Lines(ScrollView, can_focus=True):
    """The base of the findings tree and the code: subclasses draw one line."""

    def draw(self, index: int, width: int) -> Strip:
        """The line ``index``, at least ``width`` cells wide where its background matters."""
        raise NotImplementedError

    def set_extent(self, count: int, width: int = 0) -> None:
        """Say how many lines there are, and the widest line's cells if it may scroll sideways."""
        self.virtual_size = Size(width, count)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line that scrolling puts at ``y``."""
        scroll_x, scroll_y = self.scroll_offset
        width = self.scrollable_content_region.width
        index = y + scroll_y
        base = self.rich_style
        if index >= self.virtual_size.height:
            return Strip.blank(self.size.width, base)
        strip = self.draw(index, max(width + scroll_x, self.virtual_size.width))
        return strip.crop_extend(scroll_x, scroll_x + width, base).apply_style(base)

    def reveal(self, index: int, margin: int = 0) -> None:
        """Scroll no further than it takes to see a line, with some around it."""
        height = self.scrollable_content_region.height
        if height <= 0:
            return
        top = self.scroll_offset.y
        margin = min(margin, max(0, (height - 1) // 2))
        if index - margin < top:
            self.scroll_to(y=index - margin, animate=False)
        elif index + margin >= top + height:
            self.scroll_to(y=index + margin - height + 1, animate=False)

    def part(self, name: str) -> RichStyle:
        """The colours that the style sheet gives to a part of this widget."""
        return self.get_component_rich_style(name, partial=True)


def text_strip(pieces: list[tuple[str, RichStyle]]) -> Strip:
    """A line of coloured pieces."""
    return Strip([Segment(text, style) for text, style in pieces if text])
