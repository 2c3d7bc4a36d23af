"""The session in a few lines, for where no screen can be opened."""

from collections import Counter

from project.paths import visible
from project.translation import _, plural
from project.vocabulary import Fix, Layer, State, Status
from reports.session import Session
from reports.words import SIGNS, STATUSES, found_in, layer_word, outcome_word


def summary(session: Session) -> str:
    """What was found, what could be rewritten, how the checklist stands, and the verdict."""
    findings = session.findings
    files = len({one.path for one in findings})
    lines = [
        f"cuda2mps  {visible(session.workspace.root.name)}",
        "",
        found_in(len(findings), files),
    ]
    for layer in Layer:
        mine = [one for one in findings if one.layer is layer]
        decided = sum(session.state(one) is not State.OPEN for one in mine)
        lines.append(
            "  "
            + _("{layer}: {count}, {decided} decided").format(
                layer=layer_word(layer), count=len(mine), decided=decided
            )
        )
    grades = Counter(one.fix for one in findings if one.id in session.proposals)
    lines += [
        _("Rewrites: {safe} safe, {review} to review").format(
            safe=grades[Fix.SAFE], review=grades[Fix.REVIEW]
        )
    ]
    if session.skipped:
        lines.append(
            plural(
                "{n} file or part was not looked at",
                "{n} files or parts were not looked at",
                len(session.skipped),
            )
        )
    states = Counter(one.status for one in session.checklist())
    counts = ", ".join(
        f"{SIGNS[status]} {states[status]} {_(STATUSES[status])}"
        for status in Status
        if states[status]
    )
    verdict = session.verdict()
    lines += [
        "",
        _("Checklist: {counts}").format(counts=counts),
        _("Verdict: {outcome}").format(outcome=outcome_word(verdict.outcome)),
    ]
    if verdict.leaning is not None:
        lines.append(_("Leaning: {outcome}").format(outcome=outcome_word(verdict.leaning)))
    lines += [f"  {visible(reason)}" for reason in verdict.reasons[:5]]
    if verdict.next_check:
        lines.append(_("Next: {check}").format(check=visible(verdict.next_check)))
    lines += ["", _("See `cuda2mps scan` for every finding, `cuda2mps diff` for the rewrites.")]
    return "\n".join(lines) + "\n"
