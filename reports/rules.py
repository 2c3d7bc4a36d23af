"""What a rule says of itself: in full, as a table, and for the documentation."""

import textwrap
from collections.abc import Iterator
from typing import Any

from analyzers.libraries import rows as library_rows
from analyzers.registry import rules
from analyzers.rule import Rule
from project.translation import _
from reports.words import FIXES, SEVERITIES, layer_word


def rule_text(rule: Rule[Any], width: int) -> str:
    """One rule in full: the same questions for every rule."""
    lines = [f"{rule.code} {rule.name}", ""]
    for title, text in (
        (_("What"), _(rule.what)),
        (_("Why"), _(rule.why)),
        (_("What to do"), _(rule.advice)),
        (_("Layer"), layer_word(rule.layer)),
        (_("Severity"), _(SEVERITIES[rule.severity])),
        (_("Fix"), _(FIXES[rule.fix])),
        (_("Source"), rule.source),
        (_("Since"), rule.since or _("any release")),
    ):
        lines += [title, *_wrapped(text, width), ""]
    for example in rule.examples:
        if example.finds:
            lines += [_("Example"), *_code(example.text), ""]
            if example.after is not None:
                lines += [_("becomes"), *_code(example.after), ""]
            break
    silent = [example for example in rule.examples if not example.finds]
    if silent:
        lines += [_("Left alone"), *_code(silent[0].text), ""]
    return "\n".join(lines)


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="  ")


def _code(text: str) -> Iterator[str]:
    for line in textwrap.dedent(text).rstrip("\n").split("\n"):
        yield f"    {line}".rstrip()


def rules_table() -> str:
    """All rules, a line each."""
    wide = max(len(rule.name) for rule in rules())
    return "\n".join(
        f"{rule.code}  {rule.name:<{wide}}  {rule.severity.value:<8}  {rule.fix.value:<6}  "
        f"{_(rule.what)}"
        for rule in rules()
    )


def rules_markdown() -> str:
    """The page of all rules for the documentation."""
    rows = [
        f"| {rule.code} | `{rule.name}` | {layer_word(rule.layer)} | "
        f"{_(SEVERITIES[rule.severity])} | {rule.fix.value} | {_(rule.what)} |"
        for rule in rules()
    ]
    head = (
        f"| {_('Code')} | {_('Name')} | {_('Layer')} | {_('Severity')} | {_('Fix')} | {_('What')} |"
    )
    intro = _(
        "`cuda2mps explain D103` shows a rule in full, with its examples and the source of its "
        "claim. Severity is that of the usual case. Fix is the best that its rewrite may claim; a "
        "place can be graded lower."
    )
    return _page(_("Rules"), intro, head, "| --- | --- | --- | --- | --- | --- |", rows)


def libraries_markdown() -> str:
    """The page of all libraries for the documentation."""
    table = [
        f"| {', '.join(f'`{name}`' for name in row.distributions or row.imports)} | "
        f"{row.on_mac.value} | {_(row.state)} | {_(row.instead)} | {row.since} | "
        f"{row.basis.value}, {row.checked} | {row.source} |"
        for row in library_rows()
    ]
    head = (
        f"| {_('Library')} | {_('On a Mac')} | {_('What there is')} | {_('Instead')} | "
        f"{_('Since')} | {_('Rests on')} | {_('Source')} |"
    )
    intro = _(
        "What is left of each library on a Mac with Apple Silicon. Where the package index was "
        "asked, it says so; the other rows rest on what the source says, and none was tried on a "
        "Mac. `python benchmarks/check_libraries.py NAME` asks the index again."
    )
    return _page(_("Libraries"), intro, head, "| --- | --- | --- | --- | --- | --- | --- |", table)


def _page(title: str, intro: str, head: str, line: str, rows: list[str]) -> str:
    return "\n".join([f"# {title}", "", *textwrap.wrap(intro, 100), "", head, line, *rows]) + "\n"
