"""Text of the project is text: never markup, never a control sequence."""

import pytest

from tests.tui.conftest import SIZES, app_on, screen_of, settle, shown

EVIL = """\
import torch
x = model.cuda()  # [bold red]markup[/] [@click=app.quit]go[/] \x1b[31mred \u202eevil
y = f("[link=http://x]", "\x07\x9b2J").to("cuda")
# \u3053\u3093\u306b\u3061\u306f \u05e9\u05dc\u05d5\u05dd
\tz = "[/]".cuda()
"""


@pytest.mark.parametrize("size", SIZES)
async def test_markup_and_control_characters_are_shown_as_they_are(project, size):
    root = project(**{"train__py": EVIL, "[b]x\x1b[0m__py": "import torch\nt.cuda()\n"})
    async with app_on(root).run_test(size=size) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        everything = shown(pilot)
        assert "[b]x\\x1b[0m.py" in everything
        for found in screen.board.order():
            screen.tree_view.go_to(screen.board.key_of(found.id))
            for key in ("2", "s", "s", "a"):
                await pilot.press(key)
                await settle(pilot)
                everything += shown(pilot)
            await pilot.press("escape", "1")
        assert "[bold red]markup[/]" in everything
        assert "\\x1b[31m" in everything
        assert "\\u202e" in everything
        assert "\\x07\\x9b2J" in everything
        for character in ("\x1b", "\x07", "\x9b", "\u202e", "\t"):
            assert character not in everything


async def test_a_very_long_line_is_drawn(project):
    line = "x = [" + "1, " * 100_000 + "model.cuda()]\n"
    root = project(train__py="import torch\n" + line)
    async with app_on(root).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        await pilot.press("2")
        await settle(pilot)
        assert "model.cuda()" in shown(pilot) or "train.py:2" in shown(pilot)


async def test_odd_encodings_are_shown(project):
    root = project()
    (root / "latin.py").write_bytes(b"# -*- coding: latin-1 -*-\nx = 'caf\xe9'; m.cuda()\n")
    (root / "bom.py").write_bytes(b"\xef\xbb\xbfm.cuda()\n")
    (root / "broken.py").write_bytes(b"s = '\xff\xfe'\nm.cuda()\n")
    async with app_on(root).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        texts = []
        for found in screen.board.order():
            screen.tree_view.go_to(screen.board.key_of(found.id))
            await settle(pilot)
            texts.append(shown(pilot))
        assert len(texts) == 3
        assert any("café" in text for text in texts)


async def test_a_reason_is_no_markup(demo):
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        await settle(pilot)
        await pilot.press("k")
        await pilot.pause()
        await pilot.press(*"[red]x", "enter")
        await settle(pilot)
        await pilot.press("left_square_bracket", "up", "home", "down", "down")
        await settle(pilot)
        assert "[red]x" in shown(pilot)
        await pilot.press("k")
        await settle(pilot)
        assert "[red]x" in shown(pilot)
