"""What every window over the screen has: a frame, buttons, and escape to close it."""

from collections.abc import Iterable
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.visual import VisualType
from textual.widget import Widget
from textual.widgets import Button, Static

from project.translation import _

T = TypeVar("T")


class Dialog(ModalScreen[T]):
    """A window; subclasses give its inside and answer with :meth:`dismiss`."""

    DEFAULT_CSS = """
    Dialog {
        align: center middle;
        background: $background 60%;
        #frame { width: 84; max-width: 100%; height: auto; max-height: 100%; padding: 0 1;
                 border: round $border; background: $surface; border-title-color: $foreground;
                 border-title-style: bold; border-subtitle-color: $quiet; }
        .body { height: auto; scrollbar-size-vertical: 1; }
        .body > Static { height: auto; }
        .buttons { height: 1; align-horizontal: right; margin: 1 0 0 0; }
        .buttons Button { height: 1; min-width: 10; border: none; margin: 0 0 0 2; padding: 0 1;
                          background: $panel; color: $foreground; text-style: none; }
        .buttons Button:focus { background: $block-cursor-background;
                                color: $block-cursor-foreground; text-style: bold; }
        .problem { color: $error; height: auto; }
        .problem.-empty { display: none; }
        OptionList { height: auto; max-height: 12; border: none; padding: 0;
                     background: transparent; margin: 1 0 0 0; scrollbar-size-vertical: 1; }
        OptionList:focus { border: none; background-tint: transparent; }
        Input { border: none; height: 1; background: $panel; padding: 0 1; margin: 1 0 0 0; }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "cancel", show=False)]

    #: The frame's title; a message id.
    heading = ""

    def compose(self) -> ComposeResult:
        """The frame around :meth:`inside`."""
        with Vertical(id="frame") as frame:
            frame.border_title = Content(_(self.heading))
            yield from self.inside()

    def inside(self) -> Iterable[Widget]:
        """What is in the window."""
        raise NotImplementedError

    def on_resize(self, event: events.Resize) -> None:
        """Leave room for the frame and the buttons."""
        for part in self.query(".body"):
            part.styles.max_height = max(3, event.size.height - 5)

    def action_cancel(self) -> None:
        """Close without doing anything."""
        self.dismiss(None)


def body(*contents: VisualType) -> VerticalScroll:
    """A scrolling part with texts below each other."""
    return VerticalScroll(*(Static(one) for one in contents), classes="body")


def buttons(*pairs: tuple[str, str]) -> Horizontal:
    """Buttons: an id and a label each."""
    return Horizontal(*(Button(Content(label), id=id) for id, label in pairs), classes="buttons")


class Question(Dialog[bool]):
    """Something that a person confirms, by enter or the button, or leaves."""

    BINDINGS = [
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
    ]

    def __init__(self, heading: str, text: Content | None, yes: str) -> None:
        super().__init__()
        self.heading = heading
        self._text = text
        self._yes = yes

    @property
    def filled(self) -> bool:
        """Whether there is something to say yes to."""
        return self._text is not None

    def fill(self, text: Content) -> None:
        """Ask, now that it is known what."""
        self._text = text
        self.query_one(".body > Static", Static).update(text)

    def inside(self) -> Iterable[Widget]:
        """The text, and the two answers."""
        yield body(self._text or Content("…"))
        yield buttons(("yes", self._yes), ("no", _("esc cancel")))

    def on_mount(self) -> None:
        """Let enter say yes."""
        self.query_one("#yes").focus()

    def action_scroll(self, step: int) -> None:
        """Read on."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    @on(Button.Pressed)
    def answered(self, event: Button.Pressed) -> None:
        """Take the answer; a yes to nothing waits for the question."""
        if event.button.id == "no" or self.filled:
            self.dismiss(event.button.id == "yes")


class Notice(Dialog[None]):
    """Something to read."""

    BINDINGS = [
        Binding("enter,q", "cancel", show=False),
        Binding("up", "scroll(-1)", show=False),
        Binding("down", "scroll(1)", show=False),
        Binding("pageup", "scroll(-10)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
    ]

    def __init__(self, heading: str, text: VisualType) -> None:
        super().__init__()
        self.heading = heading
        self._text = text

    def inside(self) -> Iterable[Widget]:
        """The text."""
        yield body(self._text)
        yield buttons(("close", _("esc close")))

    def on_mount(self) -> None:
        """Let enter close."""
        self.query_one("#close").focus()

    def action_scroll(self, step: int) -> None:
        """Read on."""
        self.query_one(VerticalScroll).scroll_relative(y=step, animate=False)

    @on(Button.Pressed)
    def closed(self) -> None:
        """Close."""
        self.dismiss(None)
