"""Longer texts that the screen shows: about a finding, a rule, a checklist item, the verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence

from textual.content import Content

from project.paths import visible
from project.translation import _, plural
from project.vocabulary import (
    Decision,
    Finding,
    ItemState,
    Proposal,
    Skipped,
    State,
    Status,
    Verdict,
)
from tui.messages import FileChange
from tui.widgets.checklist import outcome_words
from tui.words import FIXES, SEVERITIES, STATES, STATUS_COLOURS, STATUSES


def joined(lines: Sequence[Content | str]) -> Content:
    """Lines below each other."""
    return Content("\n").join([Content(one) if isinstance(one, str) else one for one in lines])


def _labelled(label: str, text: str, style: str = "$quiet") -> Content:
    return Content.assemble((f"{label} ", style), text)


def place(finding: Finding) -> str:
    """Path and line, in a notebook with the cell."""
    cell = "" if finding.cell is None else f"[{finding.cell}]"
    return f"{visible(finding.path)}{cell}:{finding.line}"


def title(finding: Finding, state: State, as_diff: bool) -> tuple[Content, Content]:
    """What the frame of the code says above and below."""
    sign, word = STATES[state]
    above = Content(f"{place(finding)} · {finding.rule} {finding.name}")
    what = _("diff") if as_diff else _("source")
    below = Content(f"{sign} {_(word)} · {_(FIXES[finding.fix][0])} · {what}")
    return above, below


def about(
    finding: Finding,
    proposal: Proposal | None,
    decision: Decision | None,
    findings: Mapping[str, Finding],
) -> Content:
    """Why a place should change, what the change needs, or what to do where there is none."""
    from analyzers.registry import rule

    lines: list[Content | str] = [visible(finding.message)]
    if proposal is not None:
        if proposal.why:
            lines.append(_labelled(_("why"), visible(proposal.why)))
        for id in proposal.needs:
            other = findings.get(id)
            if other is not None:
                lines.append(_labelled(_("needs"), f"{place(other)} {first_line(other.text)}"))
    else:
        known = rule(finding.rule)
        if known is not None:
            lines.append(_labelled(_("advice"), visible(_(known.advice))))
    grade = proposal.fix if proposal is not None else finding.fix
    lines.append(
        Content.styled(f"{_(SEVERITIES[finding.severity])} · {_(FIXES[grade][1])}", "$quiet")
    )
    if decision is not None and decision.reason:
        lines.append(_labelled(_("your reason"), visible(decision.reason), "$accent"))
    return joined(lines)


def group(name: str, findings: Sequence[Finding], open_ones: int, rewrites: int) -> Content:
    """What is in a file or a layer."""
    total = plural("{n} finding", "{n} findings", len(findings))
    lines: list[Content | str] = [
        Content.styled(f"{name} · {total}", "bold"),
        _("{n} open, {m} of them with a rewrite that y accepts").format(n=open_ones, m=rewrites),
    ]
    counts = Counter((one.rule, one.name) for one in findings)
    lines += [f"  {code} {rule} × {n}" for (code, rule), n in sorted(counts.items())]
    return joined(lines)


def first_line(text: str) -> str:
    """The beginning of a text that may be long."""
    line = visible(" ".join(text.split()))
    return line if len(line) <= 60 else line[:59] + "…"


def rule_text(code: str) -> Content:
    """A rule as the documentation tells it."""
    from analyzers.registry import rule

    known = rule(code)
    if known is None:
        return Content(_("There is no rule {name}.").format(name=visible(code)))
    heading = Content.styled(f"{known.code} {known.name}", "bold")
    parts = [known.what, known.why, known.advice]
    lines: list[Content | str] = [heading]
    for part in parts:
        lines += ["", visible(_(part))]
    lines += ["", Content.styled(_("source: {source}").format(source=known.source), "$quiet")]
    if known.since:
        lines.append(Content.styled(_("since: {since}").format(since=known.since), "$quiet"))
    return joined(lines)


def item_text(state: ItemState) -> Content:
    """A checklist item with everything behind it."""
    sign, word = STATUSES[state.status]
    needs = ", ".join(str(one) for one in state.item.needs)
    lines: list[Content | str] = [
        Content.styled(visible(_(state.item.title)), "bold"),
        Content.styled(f"{sign} {_(word)}", STATUS_COLOURS[state.status]),
        visible(_(state.note)),
        "",
        _labelled(_("needs evidence from"), needs),
    ]
    if state.item.how not in state.note:
        lines.append(_labelled(_("how"), visible(_(state.item.how))))
    for one in state.evidence:
        sign, word = STATUSES[Status(one.result.value)]
        lines += [
            "",
            Content.assemble(
                (f"{sign} {_(word)}", "bold"),
                f" · {one.on} · {visible(one.target)} · {one.at} · {one.seconds:.1f} s",
            ),
            visible(_(one.summary)),
        ]
        lines += [f"  {visible(str(k))}: {visible(str(v))[:300]}" for k, v in one.facts.items()]
    return joined(lines)


def verdict_text(verdict: Verdict) -> Content:
    """The verdict with its reasons and what would change it."""
    lines: list[Content | str] = [Content.styled(outcome_words(verdict), "bold $accent")]
    for use, outcome in verdict.uses:
        lines.append(f"  {visible(use)}: {outcome}")
    if verdict.reasons:
        lines += ["", Content.styled(_("Because"), "bold")]
        lines += [f"• {visible(_(reason))}" for reason in verdict.reasons]
    if verdict.would_change:
        lines += ["", Content.styled(_("What would change it"), "bold")]
        lines += [f"• {visible(_(reason))}" for reason in verdict.would_change]
    if verdict.next_check:
        lines += ["", _labelled(_("cheapest next check:"), visible(_(verdict.next_check)))]
    return joined(lines)


def _file_lines(files: Sequence[FileChange]) -> list[Content | str]:
    width = max((len(visible(one.path)) for one in files), default=0)
    return [
        Content.assemble(
            f"  {visible(one.path):<{width}}  ",
            plural("{n} hunk", "{n} hunks", one.hunks),
            f"  +{one.added} -{one.removed}",
        )
        for one in files
    ]


def apply_text(
    proposals: Sequence[Proposal],
    extra: Sequence[str],
    files: Sequence[FileChange],
    findings: Mapping[str, Finding],
) -> Content:
    """What an apply would change, before it does."""
    rewrites = plural("{n} rewrite", "{n} rewrites", len(proposals))
    hunks = plural("{n} hunk", "{n} hunks", sum(one.hunks for one in files))
    in_files = plural("{n} file", "{n} files", len(files))
    lines: list[Content | str] = [
        Content.styled(f"{rewrites} · {hunks} · {in_files}", "bold"),
        *_file_lines(files),
        "",
    ]
    rules = sorted({(findings[p.finding].rule, findings[p.finding].name) for p in proposals})
    counts = {code: sum(p.rule == code for p in proposals) for code, _name in rules}
    lines += [f"  {code} {name} × {counts[code]}" for code, name in rules]
    if extra:
        lines += ["", _("Not accepted, but needed by what is:")]
        lines += [f"  {place(findings[id])} {first_line(findings[id].text)}" for id in extra]
    lines += [
        "",
        Content.styled(
            _("All files change or none does. P takes it back, byte for byte."), "$quiet"
        ),
    ]
    return joined(lines)


def applied_text(files: Sequence[FileChange], findings: int) -> Content:
    """What an apply has changed."""
    rewrites = plural("{n} rewrite applied", "{n} rewrites applied", findings)
    return joined(
        [
            Content.styled(f"● {rewrites}", "bold"),
            *_file_lines(files),
            "",
            Content.styled(_("P takes it back. Next: c runs the checks."), "$quiet"),
        ]
    )


def orphans_text(orphans: Sequence[Decision]) -> str:
    """Decisions whose code has changed, in one sentence."""
    shown = ", ".join(f"{visible(one.path)}:{one.line}" for one in orphans[:3])
    more = "" if len(orphans) <= 3 else ", …"
    what = plural(
        "The code of {n} decision has changed, look again",
        "The code of {n} decisions has changed, look again",
        len(orphans),
    )
    return f"{what}: {shown}{more}"


def skipped_text(skipped: Sequence[Skipped]) -> Content:
    """What was not looked at."""
    lines: list[Content | str] = []
    for one in skipped:
        lines.append(Content.assemble(visible(one.path), (f"  {visible(one.reason)}", "$quiet")))
    return joined(lines or [_("Nothing was skipped.")])
