import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

from analyzers.registry import rule, rules
from checks.items import GROUPS, ITEMS
from checks.verdict import LEANINGS, RULES, SHARING
from project import translation
from reports import words
from reports.export import export
from reports.findings import as_text
from reports.rules import rule_text

ROOT = Path(__file__).parent.parent.parent
POT = translation.LOCALE_DIR / f"{translation.DOMAIN}.pot"


def template(file: Path) -> Catalog:
    with file.open("rb") as stream:
        return read_po(stream)


def ids(catalogue: Catalog) -> set:
    return {message.id for message in catalogue if message.id}


def test_the_catalogue_is_current(tmp_path):
    """The command of CONTRIBUTING.md, run again, finds the same texts."""
    (line,) = re.findall(
        r"^pybabel (extract .*)$", (ROOT / "CONTRIBUTING.md").read_text("utf-8"), re.MULTILINE
    )
    command = shlex.split(line)
    place = command.index("-o") + 1
    assert ROOT / command[place] == POT
    command[place] = str(tmp_path / "fresh.pot")
    done = subprocess.run(
        [sys.executable, "-m", "babel.messages.frontend", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    kept, fresh = ids(template(POT)), ids(template(tmp_path / "fresh.pot"))
    assert fresh - kept == set(), "new texts: run the command in CONTRIBUTING.md"
    assert kept - fresh == set(), "texts that are gone: run the command in CONTRIBUTING.md"


def test_every_text_that_is_data_is_in_the_catalogue():
    texts = {
        *(text for one in rules() for text in (one.what, one.why, one.advice)),
        *(text for item in ITEMS for text in (item.title, item.how)),
        *(title for _id, title in GROUPS),
        *(text for one in RULES for text in (one.text, one.change)),
        *(text for _outcome, text, _when in LEANINGS),
        SHARING,
        *words.STATUSES.values(),
        *words.OUTCOMES.values(),
        *words.LAYERS.values(),
        *words.SEVERITIES.values(),
        *words.FIXES.values(),
    }
    assert len(texts) > 150
    assert texts - ids(template(POT)) == set()


@pytest.fixture
def pseudo(tmp_path):
    """A language in which each text is itself, in brackets."""
    made = Catalog(locale="en")
    for message in template(POT):
        if isinstance(message.id, tuple):
            made.add(message.id, tuple(f"⟦{text}⟧" for text in message.id))
        elif message.id:
            made.add(message.id, f"⟦{message.id}⟧")
    folder = tmp_path / "locale" / "xx" / "LC_MESSAGES"
    folder.mkdir(parents=True)
    with (folder / f"{translation.DOMAIN}.mo").open("wb") as stream:
        write_mo(stream, made)
    before = translation._catalogue
    translation.use_language("xx", folder=tmp_path / "locale")
    yield
    translation._catalogue = before


def outside_brackets(text: str) -> str:
    """The text without what was translated."""
    while True:
        less = re.sub(r"⟦[^⟦⟧]*⟧", "", text)
        if less == text:
            return text
        text = less


def test_the_checklist_is_in_the_language(pseudo, demo):
    for state in demo.checklist():
        assert translation._(state.item.title) == f"⟦{state.item.title}⟧"
        assert re.search("[A-Za-z]{2}", outside_brackets(state.note)) is None, state.note
    verdict = demo.verdict()
    for text in (*verdict.reasons, *verdict.would_change, verdict.next_check):
        assert re.search("[A-Za-z]{2}", outside_brackets(text)) is None, text


def test_markdown_and_html_are_in_the_language(pseudo, tiny, tmp_path):
    text = export(tiny, tmp_path / "a.md").read_text(encoding="utf-8")
    assert "# ⟦CUDA to MPS: " in text
    for item in ITEMS:
        assert f"⟦{item.title}⟧" in text.replace("\\", "")
    left = outside_brackets(text)
    # The names of files, rules and the tool are the same in any language.
    for same in (r"[DEK]\d{3} \| [a-z-]+", r"cuda2mps.*", r"\d{4}-\d\d-\d\dT[\d:]+Z"):
        left = re.sub(same, "", left)
    for same in (r"\|[DEK \d]*\| [a-z-]* \|", r"~/pro\\\|ject"):
        left = re.sub(same, "", left)
    assert re.findall("[A-Za-z]{2,}", left) == []
    html = export(tiny, tmp_path / "a.html").read_text(encoding="utf-8")
    body = re.sub(r"<[^>]*>", "", html.partition("<body>")[2])
    body = outside_brackets(body)
    assert set(re.findall("[A-Za-z]{3,}", body)) <= {
        *("cuda2mps", "export", "FILE", "pro", "ject"),
        *("cuda", "mps", "method"),
    }
    svg = export(tiny, tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "⟦Undecided⟧" in svg


def test_a_rule_is_in_the_language(pseudo):
    for one in rules():
        text = " ".join(rule_text(one, 10_000).split())
        for part in (one.what, one.why, one.advice):
            assert f"⟦{' '.join(part.split())}⟧" in text
        for title in ("What", "Why", "What to do", "Layer", "Severity", "Fix", "Source"):
            assert f"⟦{title}⟧" in text


def test_the_scan_is_in_the_language(pseudo, tiny):
    tiny.scan()
    text = as_text(tiny, 100, colour=False)
    assert "⟦Device calls⟧ (2)" in text
    assert "⟦blocks⟧" in text
    assert "⟦⟦2 findings⟧ in ⟦2 files⟧⟧" in text
    assert all(one.message.startswith("⟦") for one in tiny.findings)


def test_the_language_is_put_back():
    assert translation._("Undecided") == "Undecided"
    assert rule("D103") is not None
