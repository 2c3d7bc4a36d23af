"""The result of a scan: as text for people, as JSON, SARIF and annotations for programs."""

import json
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from analyzers.registry import rules
from project.errors import UserError
from project.paths import home_relative, visible
from project.translation import _
from project.vocabulary import Finding, Layer, Notice, Severity, Skipped
from reports.session import Session
from reports.snapshot import SCHEMA, TOOL
from reports.words import SEVERITIES, found_in, layer_word

_STYLES = {Severity.BLOCKS: "bold red", Severity.DEGRADES: "yellow", Severity.COSMETIC: "dim"}


def as_text(session: Session, width: int, colour: bool) -> str:
    """Findings by layer and file, then what was not looked at, then the sum.

    Args:
        session: a scanned session.
        width: columns to fit into.
        colour: whether escape sequences may be used.
    """
    console = Console(
        width=max(width, 40),
        force_terminal=colour,
        no_color=not colour,
        color_system="auto" if colour else None,
        highlight=False,
        soft_wrap=False,
    )
    with console.capture() as capture:
        for line in _lines(session, max(width, 40)):
            console.print(line, overflow="fold" if "  " not in line.plain else "ellipsis")
    return "\n".join(line.rstrip() for line in capture.get().splitlines()) + "\n"


def _lines(session: Session, width: int) -> Iterator[Text]:
    for layer in Layer:
        mine = [one for one in session.findings if one.layer is layer]
        if not mine:
            continue
        yield Text.assemble((layer_word(layer), "bold"), f" ({len(mine)})")
        for path, group in groupby(mine, key=lambda one: one.path):
            yield Text(f"  {visible(path)}", style="cyan")
            for finding in group:
                yield _line(session, finding, width)
        yield Text()
    if session.notices:
        yield Text.assemble((_("Comments to remove"), "bold"), f" ({len(session.notices)})")
        for notice in session.notices:
            place = f"{notice.line}" if notice.cell is None else f"[{notice.cell}]:{notice.line}"
            yield Text(f"  {visible(notice.path)}:{place}: {visible(notice.text)}")
        yield Text()
    if session.skipped:
        yield Text.assemble((_("Not looked at"), "bold"), f" ({len(session.skipped)})")
        for skipped in session.skipped:
            yield Text(f"  {visible(skipped.path)}: {visible(skipped.reason)}", no_wrap=False)
        yield Text()
    files = len({one.path for one in session.findings})
    yield Text(found_in(len(session.findings), files), style="bold")


def _line(session: Session, finding: Finding, width: int) -> Text:
    place = f"{finding.line}" if finding.cell is None else f"[{finding.cell}]:{finding.line}"
    # What is longer than the line is cut, so spelling it out first would be in vain.
    source = visible(" ".join(finding.text.split())[:width])
    text = Text.assemble(
        f"    {place:>7}  {finding.rule}  ",
        (f"{_(SEVERITIES[finding.severity]):<9}", _STYLES[finding.severity]),
        f" {finding.fix.value:<7}",
        f" {session.state(finding).value:<9}",
        source,
        no_wrap=True,
    )
    text.truncate(width, overflow="ellipsis")
    return text


def as_json(session: Session) -> str:
    """The form that other programs may rely on."""
    layers = [one.layer for one in session.findings]
    return json.dumps(
        {
            "schema": SCHEMA,
            "tool": TOOL,
            "torch": session.options.torch,
            "findings": [_as_dict(session, one) for one in session.findings],
            "skipped": [
                *({"path": one.path, "reason": one.reason} for one in session.skipped),
                *({"path": one.path, "reason": _noticed(one)} for one in session.notices),
            ],
            "summary": {
                "files": session.files_read,
                **{layer.value: layers.count(layer) for layer in Layer},
            },
        },
        indent=1,
    )


def _as_dict(session: Session, finding: Finding) -> dict[str, Any]:
    return {
        "id": finding.id,
        "rule": finding.rule,
        "name": finding.name,
        "layer": finding.layer.value,
        "severity": finding.severity.value,
        "fix": finding.fix.value,
        "path": finding.path,
        "line": finding.line,
        "column": finding.column,
        "end_line": finding.end_line,
        "end_column": finding.end_column,
        "cell": finding.cell,
        "text": finding.text,
        "message": finding.message,
        "decision": session.state(finding).value,
    }


def _noticed(notice: Notice) -> str:
    place = f"{notice.line}" if notice.cell is None else f"[{notice.cell}]:{notice.line}"
    return _("Line {line}: {text}").format(line=place, text=notice.text)


def known_ids(file: Path) -> frozenset[str]:
    """The ids of the findings in what ``scan --format json`` printed before.

    Raises:
        UserError: the file cannot be read, or holds something else.
    """
    shown = visible(home_relative(file))
    try:
        findings = json.loads(file.read_bytes())["findings"]
        return frozenset(str(one["id"]) for one in findings)
    except OSError as error:
        raise UserError(
            _("{path} cannot be read ({reason}): name a file with findings.").format(
                path=shown, reason=error.strerror
            )
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UserError(
            _("{path} is not what `cuda2mps scan --format json` prints: make it anew.").format(
                path=shown
            )
        ) from None


_SARIF_LEVELS = {
    Severity.BLOCKS: "error",
    Severity.DEGRADES: "warning",
    Severity.COSMETIC: "note",
}


def as_sarif(session: Session) -> str:
    """SARIF 2.1.0, for code scanning."""
    from urllib.parse import quote

    known = {one.code: index for index, one in enumerate(rules())}
    log = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        **TOOL,
                        "rules": [
                            {
                                "id": one.code,
                                "name": one.name,
                                "shortDescription": {"text": _(one.what)},
                                "fullDescription": {"text": _(one.why)},
                                "help": {"text": _(one.advice)},
                                "defaultConfiguration": {"level": _SARIF_LEVELS[one.severity]},
                            }
                            for one in rules()
                        ],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "results": [
                    {
                        "ruleId": one.rule,
                        "ruleIndex": known[one.rule],
                        "level": _SARIF_LEVELS[one.severity],
                        "message": {"text": one.message},
                        "partialFingerprints": {"cuda2mps/v1": one.id},
                        "suppressions": _suppressions(one),
                        "locations": [
                            {
                                "physicalLocation": {
                                    "artifactLocation": {
                                        "uri": quote(one.path.encode("utf-8", "surrogateescape"))
                                    },
                                    "region": _region(one),
                                }
                            }
                        ],
                    }
                    for one in session.findings
                ],
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [_not_read(one) for one in session.skipped],
                    }
                ],
            }
        ],
    }
    return json.dumps(log, indent=1)


def _suppressions(finding: Finding) -> list[dict[str, str]]:
    if finding.kept is None:
        return []
    return [{"kind": "inSource", "justification": finding.kept}]


def _region(finding: Finding) -> dict[str, int]:
    """Where in the file; a line of a notebook's cell is no line of the file, so it is left out."""
    if finding.cell is not None:
        return {"startLine": 1}
    return {
        "startLine": finding.line,
        "startColumn": finding.column,
        "endLine": finding.end_line,
        "endColumn": finding.end_column,
    }


def _not_read(skipped: Skipped) -> dict[str, Any]:
    return {"level": "note", "message": {"text": f"{skipped.path}: {skipped.reason}"}}


_GITHUB_LEVELS = {
    Severity.BLOCKS: "error",
    Severity.DEGRADES: "warning",
    Severity.COSMETIC: "notice",
}


def as_github(session: Session) -> str:
    """Workflow commands that annotate a pull request."""
    lines = []
    for one in session.findings:
        if one.kept is not None:
            continue
        place = (
            f"line={one.line},endLine={one.end_line},col={one.column},endColumn={one.end_column}"
        )
        if one.cell is not None:
            place = "line=1"
        title = _property(f"{one.rule} {one.name}")
        message = _data(one.message)
        level = _GITHUB_LEVELS[one.severity]
        lines.append(f"::{level} file={_property(one.path)},{place},title={title}::{message}")
    for notice in session.notices:
        place = f"line={notice.line}" if notice.cell is None else "line=1"
        lines.append(f"::notice file={_property(notice.path)},{place}::{_data(notice.text)}")
    return "\n".join(lines)


def _data(text: str) -> str:
    return visible(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
