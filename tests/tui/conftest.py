import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from reports.session import Session
from tui.app import TriageApp
from tui.demo import unpack

SIZES = [(80, 24), (160, 48)]


@pytest.fixture(autouse=True)
def home(tmp_path_factory, monkeypatch):
    """An empty home, and a terminal that nobody has configured."""
    for name in list(os.environ):
        if name.startswith(("GIT_", "XDG_", "TEXTUAL")):
            monkeypatch.delenv(name)
    for name in ("NO_COLOR", "VISUAL", "EDITOR", "LANGUAGE", "LC_ALL", "LANG"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return folder


@pytest.fixture(scope="session")
def unpacked(tmp_path_factory) -> Path:
    return unpack(tmp_path_factory.mktemp("demo") / "tremor")


@pytest.fixture
def demo(unpacked, tmp_path, monkeypatch) -> Path:
    """A fresh copy of the demo; the session is opened from beside it."""
    shutil.copytree(unpacked, tmp_path / "tremor", symlinks=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "tremor"


@pytest.fixture
def project(tmp_path) -> Callable[..., Path]:
    """A project with the given files, without git."""

    def make(**files: str) -> Path:
        root = tmp_path / "project"
        root.mkdir()
        for name, text in files.items():
            (root / name.replace("__", ".")).write_text(text, encoding="utf-8")
        return root

    return make


def app_on(path: Path) -> TriageApp:
    return TriageApp(Session.open(path))


def screen_of(pilot: Pilot):
    """The session's screen, whatever lies over it."""
    return pilot.app.screen_stack[0]


async def settle(pilot: Pilot) -> None:
    """Wait until the session rests and what it said is shown."""
    for _turn in range(400):
        await pilot.pause(0.02)
        screen = screen_of(pilot)
        if not screen._scanning and not screen.driver.busy() and not screen.pending():
            break
    else:
        raise AssertionError("the session does not come to rest")
    await pilot.pause(0.15)
    for _turn in range(100):
        if not screen.driver.busy():
            break
        await pilot.pause(0.02)
    await pilot.pause()


def shown(pilot: Pilot) -> str:
    """What the terminal shows, as text."""
    screen = pilot.app.screen
    return "\n".join(
        "".join(segment.text for segment in line) for line in screen._compositor.render_strips()
    )


def notices(pilot: Pilot) -> list[str]:
    return [one.message for one in pilot.app._notifications]
