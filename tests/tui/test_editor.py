from pathlib import Path

import pytest

from project.errors import UserError
from tui.editor import command

FILE = Path("/p/a b.py")


@pytest.fixture
def path(tmp_path):
    for name in ("vim", "code", "hx", "ed-of-mine"):
        tool = tmp_path / name
        tool.write_text("#!/bin/sh\n")
        tool.chmod(0o755)
    return str(tmp_path)


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("vim -R", ["vim", "-R", "+7", "/p/a b.py"]),
        ("code", ["code", "--wait", "--goto", "/p/a b.py:7"]),
        ("hx", ["hx", "/p/a b.py:7"]),
        ("ed-of-mine", ["ed-of-mine", "/p/a b.py"]),
    ],
)
def test_the_line_is_said_the_way_the_editor_reads_it(path, named, expected):
    assert command(FILE, 7, {"EDITOR": named, "PATH": path}) == expected


def test_visual_comes_before_editor(path):
    environ = {"VISUAL": "hx", "EDITOR": "vim", "PATH": path}
    assert command(FILE, 7, environ)[0] == "hx"


@pytest.mark.parametrize("named", ["", "   ", "'unclosed", "no-such-editor"])
def test_what_cannot_be_opened_is_one_sentence(path, named):
    with pytest.raises(UserError, match="EDITOR"):
        command(FILE, 7, {"EDITOR": named, "PATH": path})
