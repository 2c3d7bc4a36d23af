"""The session as plain data: what every export is made of, and itself the JSON export."""

from collections import Counter
from collections.abc import Collection
from typing import Any

from checks.items import GROUPS
from project.decisions import now
from project.paths import home_relative
from project.translation import _
from project.version import VERSION
from project.vocabulary import Evidence, Finding, Fix, ItemState, Layer, Severity
from reports.session import Session

SCHEMA = 1
TOOL = {"name": "cuda2mps", "version": VERSION}


def snapshot(session: Session, items: Collection[str] | None = None) -> dict[str, Any]:
    """The checklist with its evidence, the verdict, and what they rest on.

    Args:
        session: a session whose project was scanned.
        items: the checklist items to take; all without.
    """
    states = session.checklist()
    verdict = session.verdict()
    return {
        "schema": SCHEMA,
        "tool": TOOL,
        "project": _project(session),
        "checklist": [_item(one) for one in states if items is None or one.item.id in items],
        "verdict": {
            "outcome": verdict.outcome.value,
            "leaning": verdict.leaning.value if verdict.leaning else None,
            "uses": [{"use": use, "outcome": o.value} for use, o in verdict.uses],
            "reasons": list(verdict.reasons),
            "would_change": list(verdict.would_change),
            "next_check": verdict.next_check,
        },
        "findings_summary": _summary(session.findings),
        "skipped": [{"path": one.path, "reason": one.reason} for one in session.skipped],
        "decisions": [
            {
                "finding": one.finding,
                "state": one.state.value,
                "reason": one.reason,
                "at": one.at,
                "rule": one.rule,
                "path": one.path,
                "line": one.line,
                "text": one.text,
            }
            for one in sorted(
                session.decisions.values(), key=lambda one: (one.path, one.line, one.finding)
            )
        ],
        "command": "cuda2mps export . -o FILE",
    }


def _project(session: Session) -> dict[str, Any]:
    workspace = session.workspace
    repository = workspace.git
    return {
        "name": workspace.root.name,
        "path": home_relative(workspace.root),
        "commit": repository.head() if repository else None,
        "branch": repository.branch() if repository else None,
        "dirty": repository.is_dirty() if repository else None,
        "date": now(),
        "files": session.files_read,
    }


def _item(state: ItemState) -> dict[str, Any]:
    titles = dict(GROUPS)
    return {
        "id": state.item.id,
        "group": state.item.group,
        "group_title": _(titles[state.item.group]),
        "title": _(state.item.title),
        "status": state.status.value,
        "on": state.on.value if state.on else None,
        "note": state.note,
        "evidence": [_evidence(one) for one in state.evidence],
    }


def _evidence(evidence: Evidence) -> dict[str, Any]:
    return {
        "id": evidence.id,
        "on": evidence.on.value,
        "result": evidence.result.value,
        "summary": evidence.summary,
        "target": evidence.target,
        "command": [home_relative_text(word) for word in evidence.command],
        "at": evidence.at,
        "seconds": evidence.seconds,
        "exit": evidence.exit,
        "versions": evidence.versions,
        "facts": private(evidence.facts),
        "files": evidence.files,
    }


def home_relative_text(text: str) -> str:
    """A text with the home directory written as ``~``."""
    from pathlib import Path

    home = str(Path.home())
    return text.replace(home, "~") if len(home) > 1 else text


def private(value: Any) -> Any:
    """Facts without the home directory, at any depth."""
    if isinstance(value, str):
        return home_relative_text(value)
    if isinstance(value, dict):
        return {home_relative_text(str(key)): private(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [private(inner) for inner in value]
    return value


def _summary(findings: Collection[Finding]) -> dict[str, Any]:
    rules = Counter((one.rule, one.name, one.layer) for one in findings)
    layers = Counter(one.layer for one in findings)
    return {
        **{layer.value: layers[layer] for layer in Layer},
        "by_severity": {
            word.value: sum(one.severity is word for one in findings) for word in Severity
        },
        "by_fix": {word.value: sum(one.fix is word for one in findings) for word in Fix},
        "by_rule": [
            {"rule": rule, "name": name, "layer": layer.value, "count": count}
            for (rule, name, layer), count in sorted(rules.items())
        ],
    }
