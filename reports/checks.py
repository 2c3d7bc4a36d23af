"""What a check saw, as text for people and as JSON for programs."""

import json
from collections.abc import Collection

from project.paths import visible
from project.translation import _
from reports.session import Session
from reports.snapshot import snapshot
from reports.words import outcome_word, status_word


def evidence_json(session: Session, items: Collection[str]) -> str:
    """An object of the form that ``export`` writes, with the items that were filled."""
    return json.dumps(snapshot(session, items), indent=1)


def evidence_text(session: Session, items: Collection[str]) -> str:
    """A line an item that was filled, with what was seen, then the verdict."""
    lines = []
    for state in session.checklist():
        if state.item.id not in items:
            continue
        lines.append(f"{status_word(state.status):<18} {_(state.item.title)}")
        if state.note:
            lines.append(f"{'':<18} {visible(state.note)}")
    verdict = session.verdict()
    lines += ["", _("Verdict: {outcome}").format(outcome=outcome_word(verdict.outcome))]
    if verdict.next_check:
        lines.append(_("Next: {check}").format(check=verdict.next_check))
    return "\n".join(lines) + "\n"
