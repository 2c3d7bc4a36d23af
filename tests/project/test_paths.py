import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from project.errors import Refused
from project.paths import home_relative, inside, visible, visible_lines


def test_a_path_inside_need_not_exist(tmp_path):
    assert inside(tmp_path, "a/b c.py") == tmp_path / "a" / "b c.py"


@pytest.mark.parametrize(
    "path",
    ["", "/etc/passwd", "..", "../x", "a/../../x", "a/./b", "a//b", "./a", "a/", "nul\0"],
)
def test_a_path_that_leaves_is_refused(tmp_path, path):
    with pytest.raises(Refused, match="not a path inside"):
        inside(tmp_path, path)


@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "sub/.git/hooks/x",
        ".GIT/config",
        ".git",
        ".g\u200cit/x",
        "git~1/x",
        ".git /x",
    ],
)
def test_git_itself_is_refused(tmp_path, path):
    with pytest.raises(Refused, match="belongs to git"):
        inside(tmp_path, path)


@pytest.mark.parametrize("path", [".github/x.yml", ".gitignore", "git/x", "a.git/x"])
def test_names_that_only_look_like_git_are_fine(tmp_path, path):
    assert inside(tmp_path, path) == tmp_path / path


def test_a_link_on_the_way_is_refused(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "folder").symlink_to("real")
    (tmp_path / "link").symlink_to("real/file")
    (tmp_path / "broken").symlink_to("nowhere")
    assert inside(tmp_path, "real/file").read_text() == "x"
    for path in ("folder/file", "folder/new", "link", "broken"):
        with pytest.raises(Refused, match="symbolic link"):
            inside(tmp_path, path)


def test_a_file_on_the_way_is_left_to_whoever_opens_it(tmp_path):
    (tmp_path / "file").write_text("x")
    assert inside(tmp_path, "file/below") == tmp_path / "file" / "below"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, größer, 中文", "plain text, größer, 中文"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("line\u2028end\x85", "line\\u2028end\\x85"),
        (os.fsdecode(b"byte \xff"), "byte \\xff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("blank \u3164", "blank \\u3164"),
        ("no-break\xa0space", "no-break\xa0space"),
        ("[red]markup[/]", "[red]markup[/]"),
    ],
)
def test_what_a_terminal_would_obey_is_spelled_out(text, shown):
    assert visible(text) == shown


def test_lines_keep_their_ends_and_tabs():
    assert visible_lines("a\tb\r\nc\rd\n\x1b\n") == "a\tb\nc\\rd\n\\x1b\n"


@given(st.text(alphabet=st.characters()))
def test_nothing_visible_can_be_obeyed(text):
    for shown, kept in ((visible(text), ""), (visible_lines(text), "\n\t")):
        assert all((ord(c) >= 32 and not 0x7F <= ord(c) < 0xA0) or c in kept for c in shown)
        shown.encode("utf-8")
    assert visible(visible(text)) == visible(text)


def test_the_home_directory_is_a_tilde(home, tmp_path):
    assert home_relative(home / "project" / "x") == "~/project/x"
    assert home_relative(home) == "~"
    assert home_relative(Path("/elsewhere")) == "/elsewhere"
