"""The acceptance checklist: its questions, and filling them from what is known.

Filling is a pure function of findings, decisions, skipped files and evidence. An item that asks
about MPS is passed by evidence from an MPS device alone; whatever else was seen is shown, and
passes nothing.
"""

import re
from collections.abc import Callable, Mapping, Sequence

from checks.items import GROUPS as GROUPS
from checks.items import ITEMS as ITEMS
from project.paths import visible
from project.translation import N_, _, plural
from project.vocabulary import (
    Decision,
    Evidence,
    Finding,
    Item,
    ItemState,
    Layer,
    On,
    Result,
    Severity,
    Skipped,
    State,
    Status,
)

_PLACES: dict[On, str] = {
    On.MPS: N_("an MPS device"),
    On.CUDA: N_("a CUDA device"),
    On.CPU: N_("a CPU"),
    On.REHEARSAL: N_("a rehearsal"),
    On.STATIC: N_("the project's files"),
}

# What may hide a kernel or a device call when it was not looked at: source, built libraries, and
# folders (which have no suffix).
_HIDING = re.compile(
    r"(\.(py|pyx|ipynb|cu|cuh|c|cc|cpp|h|hpp|so|pyd|dylib|whl)|(^|/)[^./]+/?)$", re.IGNORECASE
)
# What is no code of the project's, or what a person said not to look at.
_HARMLESS = (
    N_("excluded by the configuration"),
    N_("a virtual environment"),
    N_("a cache"),
)


def fill(
    findings: Sequence[Finding],
    decisions: Mapping[str, Decision],
    skipped: Sequence[Skipped],
    evidence: Sequence[Evidence],
    scanned: bool = True,
) -> tuple[ItemState, ...]:
    """The checklist as it stands: one state for each of :data:`ITEMS`, in their order.

    Evidence for an item that does not exist, or that contradicts itself, is left out.
    ``scanned`` says whether ``findings`` is the result of a whole scan; before that, nothing may
    be concluded from a finding that is missing.
    """
    by_item: dict[str, list[Evidence]] = {item.id: [] for item in ITEMS}
    for one in evidence:
        if one.item in by_item and _credible(one):
            by_item[one.item].append(one)
    inventory = _Inventory(findings, decisions, skipped)
    return tuple(
        inventory.state(item) if scanned and item.id in inventory.items else _judged(item, seen)
        for item, seen in ((item, by_item[item.id]) for item in ITEMS)
    )


# -- from evidence ---------------------------------------------------------------------------


def about_mac(evidence: Evidence) -> bool:
    """Whether the evidence was made on a Mac; only such evidence can fail a Mac's item."""
    return evidence.on is On.MPS or "macos" in evidence.versions


def _credible(evidence: Evidence) -> bool:
    """False for a record that is damaged or at odds with itself: it must not raise an item."""
    shapes = (("on", On), ("result", Result), ("facts", Mapping), ("versions", Mapping))
    if not all(isinstance(getattr(evidence, name), kind) for name, kind in shapes):
        return False
    elsewhere = evidence.versions.get("system", "Darwin") != "Darwin" or not str(
        evidence.facts.get("device", "mps")
    ).startswith("mps")
    return not (evidence.on is On.MPS and elsewhere)


def _latest(evidence: Sequence[Evidence]) -> Evidence | None:
    """The newest; of two made at the same second the worse, so that a tie raises nothing."""
    worst = (Result.PASSED, Result.NOT_APPLICABLE, Result.BLOCKED, Result.WARNING, Result.FAILED)
    return max(evidence, key=lambda one: (_moment(one), worst.index(one.result)), default=None)


def _moment(evidence: Evidence) -> str:
    """Its time as text that sorts; a time that is none counts as the oldest."""
    at = evidence.at
    return at if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", at) else ""


def _judged(item: Item, seen: Sequence[Evidence]) -> ItemState:
    """An item's state by its evidence.

    First what was seen where the item must be seen, or what failed on a Mac; else a rehearsal;
    else whatever there is, which passes nothing.
    """
    tried = (Result.PASSED, Result.WARNING, Result.FAILED, Result.NOT_APPLICABLE)
    real = _latest(
        [
            one
            for one in seen
            if (one.on in item.needs and one.result in tried)
            or (one.result is Result.FAILED and On.MPS in item.needs and about_mac(one))
        ]
    )
    if real is not None:
        return _state(item, Status(real.result.value), real.summary, real)
    rehearsed = _latest([one for one in seen if one.on is On.REHEARSAL])
    if rehearsed is not None and On.MPS in item.needs:
        status = {Result.PASSED: Status.REHEARSED, Result.NOT_APPLICABLE: Status.BLOCKED}
        return _state(
            item,
            status.get(rehearsed.result) or Status(rehearsed.result.value),
            rehearsed.summary,
            rehearsed,
        )
    other = _latest(seen)
    if other is None:
        return _state(item, Status.NOT_RUN, _(item.how))
    if other.result in (Result.FAILED, Result.BLOCKED):
        return _state(item, Status(other.result.value), other.summary, other)
    note = _("Seen on {where}: {summary} It must be seen on {needed}.").format(
        where=_(_PLACES[other.on]),
        summary=other.summary,
        needed=_(_PLACES[item.needs[0]]),
    )
    return _state(item, Status.BLOCKED, note, other)


def _state(item: Item, status: Status, note: str, evidence: Evidence | None = None) -> ItemState:
    if evidence is None:
        return ItemState(item, status, note)
    return ItemState(item, status, note, evidence.on, (evidence,))


# -- from the scan ---------------------------------------------------------------------------


class _Inventory:
    """The items that the scan and the decisions answer."""

    def __init__(
        self,
        findings: Sequence[Finding],
        decisions: Mapping[str, Decision],
        skipped: Sequence[Skipped],
    ) -> None:
        self.findings = [one for one in findings if one.severity is not Severity.COSMETIC]
        self.decisions = decisions
        harmless = {_(reason) for reason in _HARMLESS}
        self.hidden = sorted(
            {one.path for one in skipped if _HIDING.search(one.path) and one.reason not in harmless}
        )
        self.items: dict[str, Callable[[], tuple[Status, list[str]]]] = {
            "inventory.extensions": self._extensions,
            "inventory.device-calls": lambda: self._settled(Layer.DEVICE),
            "inventory.kernels": lambda: self._settled(Layer.KERNEL),
        }

    def state(self, item: Item) -> ItemState:
        """The state of one of these items; what was not looked at leaves it a warning."""
        status, notes = self.items[item.id]()
        if self.hidden:
            status = Status.WARNING
            notes.append(
                _("Not looked at: {paths}.").format(paths=some([visible(p) for p in self.hidden]))
            )
        return ItemState(item, status, " ".join(notes), On.STATIC)

    def _extensions(self) -> tuple[Status, list[str]]:
        count = sum(one.layer is Layer.KERNEL for one in self.findings)
        if not count:
            return Status.PASSED, [_("None found in the files that were read.")]
        note = plural("{n} place is listed.", "{n} places are listed.", count)
        return Status.PASSED, [note]

    def _settled(self, layer: Layer) -> tuple[Status, list[str]]:
        mine = [one for one in self.findings if one.layer is layer]
        if not mine:
            return Status.PASSED, [_("None found in the files that were read.")]
        open_ = [one for one in mine if self._state(one) is State.OPEN]
        waiting = [one for one in mine if self._state(one) is State.ACCEPTED]
        kept = sum(self._state(one) is State.KEPT for one in mine)
        notes = [_("{done} of {all} decided.").format(done=len(mine) - len(open_), all=len(mine))]
        if open_:
            first = open_[0]
            notes.append(_("Next: {place}.").format(place=f"{visible(first.path)}:{first.line}"))
        if waiting:
            notes.append(
                plural(
                    "{n} is accepted, not applied.", "{n} are accepted, not applied.", len(waiting)
                )
            )
        if kept:
            notes.append(plural("{n} is kept on CUDA.", "{n} are kept on CUDA.", kept))
        return (Status.WARNING if open_ or waiting else Status.PASSED), notes

    def _state(self, finding: Finding) -> State:
        decision = self.decisions.get(finding.id)
        return decision.state if decision else State.OPEN


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(names[:most])
    rest = len(names) - most
    if rest <= 0:
        return shown
    return _("{names} and {n} more").format(names=shown, n=rest)
