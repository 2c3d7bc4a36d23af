import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from project.git import diff_trees
from tui.listing import counts, diff, harmless, patches, source
from tui.widgets.code import cut


def made(before: str, after: str, path: str = "a.py"):
    patch = diff_trees({path: before.encode()}, {path: after.encode()}, {path: 0o644})
    return diff(patch.decode(), before, after, path), patch


def test_a_diff_shows_numbers_kinds_and_the_changed_words():
    before = "import torch\nx = y.cuda()\nz = 1\n"
    listing, patch = made(before, before.replace("cuda()", "to(d)"))
    assert [(line.kind, line.number, line.text) for line in listing.lines] == [
        ("plain", 1, "import torch"),
        ("removed", 2, "x = y.cuda()"),
        ("added", 2, "x = y.to(d)"),
        ("plain", 3, "z = 1"),
    ]
    assert listing.focus == 1
    removed, added = listing.lines[1:3]
    assert removed.text[slice(*removed.mark)] == "cuda("
    assert added.text[slice(*added.mark)] == "to(d"
    assert counts(patch) == (1, 1, 1)


def test_colours_of_a_changed_line_know_the_whole_file():
    before = '"""\nmodel.cuda() if x\n"""\n' + "\n" * 8 + "a.cuda()\n"
    listing, _patch = made(before, before.replace("() if", "(0) if"))
    changed = next(line for line in listing.lines if line.kind == "added")
    assert {kind for _start, _end, kind in changed.spans} == {"string"}


def test_hunks_are_apart_and_lines_that_look_like_headers_are_lines():
    before = "\n".join(["-- a", *"bcdefghijklmnopqrstuvw", "@@ -1 +1 @@", "+++ x", ""])
    after = before.replace("-- a\n", "", 1).replace("+++ x\n", "", 1)
    listing, patch = made(before, after, "notes.txt")
    assert [line.text for line in listing.lines if line.kind == "removed"] == ["-- a", "+++ x"]
    assert [line.kind for line in listing.lines].count("gap") == 1
    assert counts(patch) == (2, 0, 2)


def test_a_missing_end_of_line_is_said():
    listing, _patch = made("a", "b", "notes.txt")
    assert [line.kind for line in listing.lines] == ["removed", "note", "added", "note"]


def test_patches_are_cut_by_file():
    names = {"a.py": b"diff --git\n", "b c.py": b"x\n"}
    patch = diff_trees(names, dict.fromkeys(names, b"new\n"), dict.fromkeys(names, 0o644))
    assert [counts(part) for part in patches(patch)] == [(1, 1, 1), (1, 1, 1)]


def test_source_marks_the_finding_and_hides_nothing():
    text = "a\r\n\tx = torch.cuda.Event()  # \x1b[31m[red]\r\nlast"
    listing = source(text, "a.py", (2, 2), (6, 24))
    line = listing.lines[1]
    assert line.text == "    x = torch.cuda.Event()  # \\x1b[31m[red]"
    assert line.text[slice(*line.mark)] == "torch.cuda.Event()"
    assert listing.focus == 1
    assert [one.text for one in listing.lines] == ["a", line.text, "last"]


def test_a_finding_over_several_lines_is_marked_on_each():
    listing = source("x = f(\n    1,\n)\ny", "a.py", (1, 3), (5, 2))
    assert [one.text[slice(*one.mark)] for one in listing.lines[:3]] == ["f(", "1,", ")"]
    assert listing.lines[3].mark is None


def test_a_place_beyond_the_end_is_no_error():
    assert source("", "a.py", (9, 9), (1, 2)).focus == 0


@given(st.text())
def test_what_is_shown_never_has_a_control_character(text):
    categories = {unicodedata.category(character) for character in harmless(text)}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@given(st.text(max_size=80), st.integers(2, 20))
def test_cut_loses_nothing(text, room):
    parts = list(cut(text, room))
    assert "".join(text[start:end] for start, end in parts) == text
    assert parts[0][0] == 0
