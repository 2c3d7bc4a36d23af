"""Make the pictures of the real app, on the bundled demo: `python screenshots/make.py`.

Each picture is what the terminal shows after the keys of its view, at 160x48 and at 80x24. The
SVG names no font file of somebody else's server, so that a viewer fetches nothing.
"""

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

from textual.pilot import Pilot

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from reports.session import Session  # noqa: E402
from tui.app import TriageApp  # noqa: E402
from tui.demo import unpack  # noqa: E402

SIZES = ((160, 48), (80, 24))

View = Callable[[Pilot[None]], Awaitable[None]]


async def rest(pilot: Pilot[None]) -> None:
    """Wait until the session has nothing left to do or to show."""
    quiet = 0
    while quiet < 10:
        await pilot.pause(0.05)
        screen = pilot.app.screen_stack[0]
        busy = screen._scanning or screen.driver.busy() or screen.pending()
        quiet = 0 if busy else quiet + 1


async def to_line(pilot: Pilot[None], path: str, line: int) -> None:
    """Put the cursor on a finding."""
    screen = pilot.app.screen_stack[0]
    found = next(one for one in screen.board.order() if (one.path, one.line) == (path, line))
    screen.tree_view.go_to(screen.board.key_of(found.id))
    await rest(pilot)


async def triage(pilot: Pilot[None]) -> None:
    """Some decisions made, and the diff of the next place."""
    await to_line(pilot, "evaluate.py", 29)
    await pilot.press("y", "y", "n", "y")
    await rest(pilot)
    await to_line(pilot, "train.py", 78)


async def diff(pilot: Pilot[None]) -> None:
    """The pane of the code, which is a page of its own in a narrow terminal."""
    await to_line(pilot, "train.py", 78)
    await pilot.press("2")
    await rest(pilot)


async def kernel(pilot: Pilot[None]) -> None:
    """A kernel, which has no rewrite."""
    await to_line(pilot, "csrc/ema_scan.cu", 10)
    await pilot.press("2")
    await rest(pilot)


async def apply(pilot: Pilot[None]) -> None:
    """What applying would change."""
    await to_line(pilot, "train.py", 66)
    await pilot.press("y", "y", "y")
    await rest(pilot)
    await pilot.press("p")
    await rest(pilot)


async def checks(pilot: Pilot[None]) -> None:
    """The checklist after the checks of this machine."""
    await pilot.press("c")
    await rest(pilot)
    await pilot.press("enter")
    screen = pilot.app.screen_stack[0]
    while screen._run is None or screen._run.phase != "done":
        await pilot.pause(0.1)
    await rest(pilot)


async def help_(pilot: Pilot[None]) -> None:
    """The keys that work here."""
    await pilot.press("question_mark")
    await rest(pilot)


VIEWS: dict[str, View] = {
    "triage": triage,
    "diff": diff,
    "kernel": kernel,
    "apply": apply,
    "checks": checks,
    "help": help_,
}


def without_place(match: re.Match[str]) -> str:
    """A text without the path of the environment that made the picture, as wide as before."""
    text = match[1].replace(sys.prefix, "~/.venv")
    return f">{text}{'&#160;' * (len(match[1]) - len(text))}</text>"


async def picture(name: str, view: View, size: tuple[int, int], folder: Path) -> None:
    """Open the app on a fresh demo, bring the view about, and write what is shown."""
    os.chdir(folder)
    app = TriageApp(Session.open(unpack(folder / "tremor")))
    async with app.run_test(size=size) as pilot:
        await rest(pilot)
        await view(pilot)
        svg = app.export_screenshot(title="cuda2mps")
    svg = re.sub(r"@font-face \{.*?\}\n?", "", svg, flags=re.DOTALL)
    svg = re.sub(r">([^<>]*)</text>", without_place, svg)
    file = ROOT / "screenshots" / f"{name}-{size[0]}x{size[1]}.svg"
    file.write_text(svg, encoding="utf-8")
    print(file.name)


def main() -> None:
    """Make every picture at both sizes."""
    here = Path.cwd()
    os.environ.pop("NO_COLOR", None)
    os.environ["VIRTUAL_ENV"] = sys.prefix
    for name, view in VIEWS.items():
        for size in SIZES:
            with tempfile.TemporaryDirectory() as folder:
                os.environ["HOME"] = folder
                asyncio.run(picture(name, view, size, Path(folder).resolve()))
                os.chdir(here)


if __name__ == "__main__":
    main()
