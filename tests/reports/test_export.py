import json
import re
import stat
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from checks.items import GROUPS, ITEMS
from project.errors import UserError
from project.paths import visible
from project.vocabulary import Evidence, On, Result, State, Status
from reports.export import export, markdown_text
from reports.session import Session
from reports.snapshot import snapshot
from reports.words import SIGNS, STATUSES
from tests.reports.conftest import NAME

SUFFIXES = (".md", ".json", ".html", ".svg")
HOSTILE = "`|</td></li><script>alert(1)</script>\n\n# Out\n| --- |\n\x1b[31m\ufffe\udcff"


def written(session: Session, folder: Path, suffix: str) -> str:
    return export(session, folder / f"snapshot{suffix}").read_text(encoding="utf-8")


def seen(item: str, on: On, result: Result, **more) -> Evidence:
    return Evidence(item, on, result, "What was seen.", at="2026-01-02T03:04:05Z", **more)


class Page(HTMLParser):
    """The tags of a page, and its text, without the style sheet."""

    VOID = {"meta"}

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags, self.open, self.text = [], [], ""
        self.attributes = []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(name, value) for name, value in attrs]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.text += data


def markdown_tokens(text: str) -> list:
    return MarkdownIt("gfm-like", {"linkify": False}).parse(text)


def markdown_shown(text: str) -> str:
    """What a reader of the Markdown sees."""
    words = []
    for token in markdown_tokens(text):
        for child in token.children or []:
            words.append(child.content if child.type != "softbreak" else "\n")
        words.append("\n")
    return "".join(words)


# -- the forms ---------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["tiny", "demo"])
def test_json_is_the_snapshot(which, request, tmp_path):
    session = request.getfixturevalue(which)
    data = json.loads(written(session, tmp_path, ".json"))
    now = snapshot(session)
    for volatile in (data, now):
        del volatile["project"]["date"], volatile["project"]["path"]
    assert data == now
    assert [one["id"] for one in data["checklist"]] == [item.id for item in ITEMS]


@pytest.mark.parametrize("which", ["tiny", "demo"])
def test_every_form_says_each_item_with_sign_and_word(which, request, tmp_path):
    session = request.getfixturevalue(which)
    shown = {
        ".md": markdown_shown(written(session, tmp_path, ".md")),
        ".html": Page(written(session, tmp_path, ".html")).text,
        ".svg": svg_text(written(session, tmp_path, ".svg")),
    }
    for suffix, text in shown.items():
        text = " ".join(text.split())
        for state in session.checklist():
            sign = f"{SIGNS[state.status]} {STATUSES[state.status]}"
            assert sign in text, (suffix, sign)
            if suffix == ".svg":
                assert all(word in text for word in state.item.title.split()), state.item.title
            else:
                assert f"{sign} {state.item.title}" in text, (suffix, state.item.title)
        for _id, title in GROUPS:
            assert title in text
        assert "no evidence" in text
        assert "Undecided" in text
        assert "None" not in text.replace("None yet", "").replace("None found", "")


def svg_text(svg: str) -> str:
    """The lines of the picture."""
    lines = {}
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        lines.setdefault(element.get("y"), []).append(element.text or "")
    return "\n".join("".join(line).replace("\xa0", " ") for line in lines.values())


def test_every_status_has_its_sign_and_word(tiny, tmp_path):
    """One item in each state that evidence can lead to."""
    tiny.add_evidence(
        [
            seen("environment.torch", On.MPS, Result.PASSED),
            seen("sample.runs", On.REHEARSAL, Result.PASSED),
            seen("sample.loss", On.MPS, Result.WARNING),
            seen("environment.mps-built", On.MPS, Result.FAILED),
            seen("environment.imports", On.CPU, Result.PASSED),
            seen("environment.model", On.MPS, Result.NOT_APPLICABLE),
        ]
    )
    assert {state.status for state in tiny.checklist()} == set(Status)
    signs = {
        "✓ passed",
        "◑ rehearsed",
        "! warning",
        "✗ failed",
        "– not run",
        "⊘ blocked",
        "· not applicable",
    }
    for text in (
        markdown_shown(written(tiny, tmp_path, ".md")),
        Page(written(tiny, tmp_path, ".html")).text,
        svg_text(written(tiny, tmp_path, ".svg")),
    ):
        assert {sign for sign in signs if sign in text} == signs


def test_evidence_is_told_with_where_command_and_what_was_measured(tiny, tmp_path):
    tiny.add_evidence(
        [
            seen(
                "environment.torch",
                On.MPS,
                Result.PASSED,
                command=("python", "a b.py"),
                versions={"torch": "2.13.0"},
                facts={"count": 3, "names": ["x"]},
            )
        ]
    )
    for text in (
        markdown_shown(written(tiny, tmp_path, ".md")),
        Page(written(tiny, tmp_path, ".html")).text,
    ):
        assert "✓ passed, MPS, local, 2026-01-02T03:04:05Z: What was seen." in text
        assert "Command: python 'a b.py'" in text
        assert "torch: 2.13.0\n" in text
        assert "count: 3\n" in text
        assert 'names: ["x"]\n' in text


def test_what_git_does_not_say_is_said_in_words(tiny, demo, tmp_path):
    without = written(tiny, tmp_path, ".md")
    assert "- Commit: no commit\n- Branch: no branch\n" in without
    within = written(demo, tmp_path, ".md")
    assert f"- Commit: {demo.workspace.git.head()}\n- Branch: main\n" in within
    (demo.workspace.root / "train.py").write_text("", encoding="utf-8")
    assert f"{demo.workspace.git.head()}, with changes\n" in written(demo, tmp_path, ".md")


def test_html_stands_alone(demo, tmp_path):
    html = written(demo, tmp_path, ".html")
    page = Page(html)
    assert {"script", "link", "img", "iframe", "base", "form"}.isdisjoint(page.tags)
    assert {"src", "href", "style"}.isdisjoint(name for name, _ in page.attributes)
    assert not any(name.startswith("on") for name, _ in page.attributes)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    assert "url(" not in style
    assert "@import" not in style
    assert "://" not in html
    for rule in ("prefers-color-scheme: dark", "@media print", "@media (max-width"):
        assert rule in style


def test_svg_stands_alone_and_is_valid(demo, tmp_path):
    svg = written(demo, tmp_path, ".svg")
    assert "@font-face" not in svg
    assert "url(http" not in svg
    assert svg.count("://") == svg.count('xmlns="http://www.w3.org/2000/svg"') == 1
    tags = {element.tag.split("}")[1] for element in ET.fromstring(svg).iter()}
    assert {"script", "image", "use", "a", "foreignObject"}.isdisjoint(tags)


# -- hostile text ------------------------------------------------------------------------------


def hostile(session: Session) -> Session:
    (one, *_rest) = [f for f in session.findings if f.path == NAME]
    session.decide([one.id], State.KEPT, HOSTILE.replace("\udcff", ""))
    session.add_evidence(
        [
            Evidence(
                "environment.torch",
                On.MPS,
                Result.PASSED,
                HOSTILE.replace("\udcff", ""),
                at="2026-01-02T03:04:05Z",
                facts={"</style><x>|`": "|`<img src=x>", "nan": float("inf")},
            )
        ]
    )
    return session


def test_text_of_the_project_is_no_html(tiny, tmp_path):
    plain = set(Page(written(tiny, tmp_path, ".html")).tags)
    page = Page(written(hostile(tiny), tmp_path, ".html"))
    assert set(page.tags) - plain <= {"div", "code", "time", "span"}
    assert visible(NAME) in page.text
    assert "</td></li><script>alert(1)</script>\\n\\n# Out" in page.text
    assert "</style><x>|`: |`<img src=x>" in page.text


def test_text_of_the_project_is_no_markdown(tiny, tmp_path):
    text = written(hostile(tiny), tmp_path, ".md")
    tokens = markdown_tokens(text)
    kinds = {token.type for token in tokens}
    kinds |= {child.type for token in tokens for child in token.children or []}
    assert kinds.isdisjoint({"html_block", "html_inline", "code_inline", "fence", "code_block"})
    assert kinds.isdisjoint({"link_open", "image", "em_open", "s_open", "hr", "lheading_open"})
    headings = [tokens[i + 1].content for i, t in enumerate(tokens) if t.type == "heading_open"]
    assert "Acceptance checklist" in headings
    assert [one for one in headings if "Out" in one] == []
    for row in re.findall(r"^\|.*\|$", text, re.MULTILINE):
        assert len(re.findall(r"(?<!\\)\|", row)) in (3, 5), row
    shown = markdown_shown(text)
    assert visible(NAME) in shown
    assert "</td></li><script>alert(1)</script>\\n\\n# Out" in shown


def test_text_of_the_project_is_no_svg(tiny, tmp_path):
    tiny.workspace.root.rename(tiny.workspace.root.with_name("<script>&'\"]]>"))
    session = Session.open(tiny.workspace.root.with_name("<script>&'\"]]>"))
    session.scan()
    tags = {
        element.tag.split("}")[1]
        for element in ET.fromstring(written(hostile(session), tmp_path, ".svg")).iter()
    }
    assert "script" not in tags


def test_json_holds_what_utf8_cannot(tiny, tmp_path, monkeypatch):
    monkeypatch.setattr("reports.export.snapshot", lambda session: {"path": "a\udcff\n\ufffe"})
    assert json.loads(written(tiny, tmp_path, ".json")) == {"path": "a\\xff\n\ufffe"}


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.text("`|*_[]()<>&\\#~$!-+=.1 \nab:"))
def test_markdown_shows_a_value_as_it_is(value):
    shown = " ".join(visible(value).split())
    text = markdown_text(value)
    for document, kinds in (
        (f"- {text}\n", ["bullet_list_open", "list_item_open", "paragraph_open", "inline"]),
        (f"{text}\n", ["paragraph_open", "inline"]),
    ):
        tokens = markdown_tokens(document)
        assert [token.type for token in tokens][: len(kinds)] == kinds
        assert len(tokens) == 2 * len(kinds) - 1
        children = tokens[len(kinds) - 1].children
        assert {child.type for child in children} <= {"text", "text_special"}
        if shown and "\ufffe" not in value and "\uffff" not in value:
            found = "".join(child.content for child in children)
            assert " ".join(found.split()) == shown
    cells = markdown_tokens(f"| a | b |\n| --- | --- |\n| {text} | x |\n")
    contents = [token for token in cells if token.type == "inline"]
    assert len(contents) == 4
    assert contents[3].content == "x"


# -- what stays out ----------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_no_home_user_or_host_name(suffix, tiny, home, tmp_path):
    tiny.add_evidence(
        [
            seen(
                "environment.torch",
                On.MPS,
                Result.FAILED,
                command=(str(home / "venv" / "bin" / "python"), "-c", "x"),
                facts={
                    str(home / "key"): [f"{home}/lib", "/Users/someone-else/lib"],
                    "by": "Zelda-Quux@vega-box.example.org vega-box",
                },
            )
        ]
    )
    text = written(tiny, tmp_path, suffix)
    for name in (str(home), "zelda", "vega-box", "someone-else"):
        assert name.lower() not in text.lower()
    if suffix != ".svg":
        assert "~/venv/bin/python" in text
        assert "~/key" in text


def test_a_user_named_like_a_word_of_the_report_leaves_the_report_whole(
    tiny, tmp_path, monkeypatch
):
    before = json.loads(written(tiny, tmp_path, ".json"))
    monkeypatch.setenv("LOGNAME", "cuda")
    monkeypatch.setattr("platform.node", lambda: "passed")
    after = json.loads(written(tiny, tmp_path, ".json"))
    assert after["checklist"] == before["checklist"]
    assert after["verdict"] == before["verdict"]


# -- writing -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["snapshot", "snapshot.txt", "snapshot.md.bak", ".md"])
def test_another_suffix_is_refused_with_those_there_are(name, tiny, tmp_path):
    with pytest.raises(UserError, match=r"\.md, \.json, \.html, \.svg"):
        export(tiny, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_the_suffix_may_be_in_capitals(tiny, tmp_path):
    assert json.loads(export(tiny, tmp_path / "A.JSON").read_text(encoding="utf-8"))


def test_a_place_that_cannot_be_written_is_one_sentence(tiny, tmp_path):
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "file").write_text("", encoding="utf-8")
    for file, words in (
        (tmp_path / "gone" / "a.md", "There is no folder .*gone: "),
        (tmp_path / "file" / "a.md", "There is no folder .*file: "),
        (tmp_path / "folder.md", "folder.md is a folder: "),
    ):
        with pytest.raises(UserError, match=words) as refused:
            export(tiny, file)
        assert str(refused.value).count("\n") == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.md"]


def test_a_file_that_may_not_be_changed_is_left_alone(tiny, tmp_path, monkeypatch):
    file = tmp_path / "a.md"
    file.write_text("mine", encoding="utf-8")
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != file)
    with pytest.raises(UserError, match="cannot be written to"):
        export(tiny, file)
    assert file.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("call", ["os.fsync", "pathlib.Path.replace", "os.open"])
def test_a_failure_leaves_the_old_file_and_nothing_half_written(call, tiny, tmp_path, monkeypatch):
    file = tmp_path / "a.html"
    file.write_text("old", encoding="utf-8")

    def full(*_arguments, **_more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(call, full)
        with pytest.raises(UserError, match=r"a\.html cannot be written \(No space left"):
            export(tiny, file)
    assert file.read_text(encoding="utf-8") == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.html"]


def test_the_old_file_is_replaced_and_its_mode_kept(tiny, tmp_path):
    file = tmp_path / "a.json"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o640)
    number = file.stat().st_ino
    assert export(tiny, file) == file
    assert json.loads(file.read_text(encoding="utf-8"))["schema"] == 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert file.stat().st_ino != number
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_link_is_replaced_and_what_it_led_to_left_alone(tiny, tmp_path):
    (tmp_path / "elsewhere").write_text("mine", encoding="utf-8")
    (tmp_path / "a.md").symlink_to("elsewhere")
    export(tiny, tmp_path / "a.md")
    assert (tmp_path / "elsewhere").read_text(encoding="utf-8") == "mine"
    assert not (tmp_path / "a.md").is_symlink()
