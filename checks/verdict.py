"""The verdict: who takes the work, Mac, both, or CUDA, and every reason for it.

The rules are data: what each looks at, what it concludes, and the sentences that say so. Each use
that the configuration names is judged by itself; together they make the project's verdict.

For one use: a rule for CUDA that fires settles it, whatever else passed. Else the Mac takes it
when everything it needs passed on MPS; both share it when the Mac can develop and regress and a
rule for both fires; and else it is undecided.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from checks.checklist import ITEMS, about_mac, some
from project.paths import visible
from project.translation import N_, _
from project.vocabulary import (
    Decision,
    Finding,
    ItemState,
    Layer,
    Outcome,
    Severity,
    State,
    Status,
    Verdict,
)

DISTRIBUTED = "distributed"
EXACT = "exact reproduction"
FULL_TRAINING = "full training"

_INVENTORY = tuple(item.id for item in ITEMS if item.group == "inventory")
_ENVIRONMENT = tuple(item.id for item in ITEMS if item.group == "environment")
_SAMPLE = tuple(item.id for item in ITEMS if item.group == "sample")
_REMOTE = tuple(item.id for item in ITEMS if item.group == "remote")
_EVERYTHING = tuple(item.id for item in ITEMS if item.group != "remote")
_FORWARD = (
    "sample.runs",
    "sample.reaches",
    "sample.parameters",
    "sample.inputs",
    "sample.data-path",
    "sample.forward",
)
_OPERATORS = ("operators.coverage", "operators.fallbacks", "operators.fallback-off")
_COMPARED = (
    "baseline.recorded",
    "numbers.input",
    "numbers.model",
    "numbers.execution",
    "numbers.output",
    "numbers.tolerance",
    "numbers.witness",
)
_RUNNING = tuple(
    item.id for item in ITEMS if item.group in ("sample", "operators", "numbers", "practicality")
)
_BATCHES = ("practicality.small-batch", "practicality.real-batch")

#: What each use, as the configuration names it, needs to have passed before a Mac may take it.
NEEDED: Mapping[str, tuple[str, ...]] = {
    "prototype": (
        *_INVENTORY,
        *_ENVIRONMENT,
        *_SAMPLE,
        *_OPERATORS,
        "practicality.small-batch",
    ),
    "inference": (
        *_INVENTORY,
        *_ENVIRONMENT,
        *_FORWARD,
        "sample.checkpoint-across",
        *_OPERATORS,
        *_COMPARED,
        *_BATCHES,
        "practicality.memory",
        "practicality.time",
    ),
    "light training": _EVERYTHING,
    "regression": (*_INVENTORY, *_ENVIRONMENT, *_SAMPLE, *_OPERATORS, *_COMPARED),
    "macos testing": (*_INVENTORY, *_ENVIRONMENT, *_FORWARD, *_OPERATORS),
    FULL_TRAINING: _EVERYTHING,
    DISTRIBUTED: _EVERYTHING,
    EXACT: _EVERYTHING,
}

#: What the Mac must have shown before it can develop and regress beside a CUDA machine.
DEVELOP = (
    "inventory.device-calls",
    "environment.mps-built",
    "environment.mps-available",
    "environment.mps-tensor",
    "sample.runs",
    "sample.forward",
    "sample.loss",
)

#: Items that a project may lack altogether; only these can be satisfied by not applying.
MAY_NOT_APPLY = frozenset(
    {
        "inventory.environment-files",
        "environment.model",
        "environment.lock-file",
        "sample.checkpoint-saved",
        "sample.checkpoint-clean",
        "sample.checkpoint-across",
        "practicality.mixed-precision",
        "practicality.resumed",
    }
)


@dataclass(frozen=True, slots=True)
class Facts:
    """What the rules look at, for one use (empty when the configuration names none)."""

    use: str
    states: Mapping[str, ItemState]
    needed: tuple[str, ...]
    kept_kernels: tuple[Finding, ...]
    open_kernels: tuple[Finding, ...]
    kept_calls: tuple[Finding, ...]

    def passed(self, id: str) -> bool:
        """Whether an item is satisfied: passed where it must be, or rightly not applicable."""
        state = self.states.get(id)
        if state is None:
            return False
        if state.status is Status.NOT_APPLICABLE:
            return id in MAY_NOT_APPLY
        return state.status is Status.PASSED and state.on in state.item.needs

    def failed(self, *ids: str) -> bool:
        """Whether one of these items failed where it must pass: no rehearsal, no other machine."""
        states = (self.states[id] for id in ids if id in self.states)
        return any(
            state.status is Status.FAILED
            and (state.on in state.item.needs or any(map(about_mac, state.evidence)))
            for state in states
        )

    def rehearsed(self, *ids: str) -> bool:
        """Whether all of these items passed at least in a rehearsal."""
        return all(
            self.passed(id)
            or ((state := self.states.get(id)) is not None and state.status is Status.REHEARSED)
            for id in ids
        )

    @property
    def missing(self) -> tuple[str, ...]:
        """What the use needs and has not been passed, in the checklist's order."""
        return tuple(id for id in self.needed if not self.passed(id))

    @property
    def complete(self) -> bool:
        """Whether everything that the use needs was passed."""
        return bool(self.needed) and not self.missing

    @property
    def develops(self) -> bool:
        """Whether the Mac has shown that it can develop and regress."""
        return all(self.passed(id) for id in DEVELOP)


@dataclass(frozen=True, slots=True)
class VerdictRule:
    """One reason for an outcome.

    ``items`` are the checklist items it rests on; ``text`` says what was concluded and
    ``change`` what would change it, both with the placeholders of :func:`_words`.
    """

    id: str
    outcome: Outcome
    items: tuple[str, ...]
    text: str
    change: str
    when: Callable[[Facts], bool]


RULES: tuple[VerdictRule, ...] = (
    # For CUDA: each settles the use by itself.
    VerdictRule(
        "kernel-kept",
        Outcome.CUDA,
        ("inventory.kernels",),
        N_("A kernel or extension was kept on CUDA: {kept_kernels}."),
        N_("Replace it, and take back the decision to keep it on CUDA."),
        lambda facts: bool(facts.kept_kernels),
    ),
    VerdictRule(
        "use-distributed",
        Outcome.CUDA,
        (),
        N_("The project is for distributed training, and MPS drives one GPU."),
        N_("Name other uses under `work` in the configuration: each gets its own outcome."),
        lambda facts: facts.use == DISTRIBUTED,
    ),
    VerdictRule(
        "use-exact",
        Outcome.CUDA,
        ("baseline.recorded",),
        N_(
            "The project is for exact reproduction of CUDA results, which another device's "
            "arithmetic cannot promise."
        ),
        N_("Name other uses under `work` in the configuration: each gets its own outcome."),
        lambda facts: facts.use == EXACT,
    ),
    VerdictRule(
        "fallback-refused",
        Outcome.CUDA,
        ("operators.fallbacks",),
        N_(
            "An operator that the project needs is missing on MPS, and its fallback to the "
            "CPU is not acceptable."
        ),
        N_("Use another operator, accept the fallback, or take a PyTorch release that has it."),
        lambda facts: facts.failed("operators.fallbacks"),
    ),
    VerdictRule(
        "output-differs",
        Outcome.CUDA,
        ("numbers.output",),
        N_(
            "Core outputs differ from the CUDA baseline by more than the tolerance chosen "
            "beforehand."
        ),
        N_("Find the layer in which they part, mend it, and compare again."),
        lambda facts: facts.failed("numbers.output"),
    ),
    VerdictRule(
        "beyond-limit",
        Outcome.CUDA,
        ("practicality.memory", "practicality.time"),
        N_("Time or memory is beyond the project's limit."),
        N_("A smaller batch or model, or a Mac with more memory, tried again."),
        lambda facts: facts.failed("practicality.memory", "practicality.time"),
    ),
    # For the Mac: everything, and nothing less.
    VerdictRule(
        "all-passed",
        Outcome.MAC,
        _EVERYTHING,
        N_("Everything that is needed passed on MPS, and every fallback is recorded and accepted."),
        N_("A new release of PyTorch or macOS, other data or another model: check again."),
        lambda facts: facts.complete and not facts.kept_calls,
    ),
    # For both: the Mac develops and regresses, CUDA does the real runs.
    VerdictRule(
        "calls-kept",
        Outcome.DUAL,
        DEVELOP,
        N_("The Mac can develop and regress; parts of the code were kept on CUDA: {kept_calls}."),
        N_("Rewrite them so that they also run without CUDA."),
        lambda facts: facts.develops and bool(facts.kept_calls),
    ),
    VerdictRule(
        "part-failed",
        Outcome.DUAL,
        DEVELOP,
        N_("The Mac can develop and regress; what failed there stays on CUDA: {failed}."),
        N_("Mend what failed, and check it again on the Mac."),
        lambda facts: facts.develops and facts.failed(*facts.needed),
    ),
)

#: Where an undecided verdict leans, by the first of these that is so.
LEANINGS: tuple[tuple[Outcome, str, Callable[[Facts], bool]], ...] = (
    (
        Outcome.CUDA,
        N_("Kernels or CUDA-only libraries are undecided: {open_kernels}."),
        lambda facts: bool(facts.open_kernels),
    ),
    (
        Outcome.DUAL,
        N_("Parts of the code were kept on CUDA: {kept_calls}."),
        lambda facts: bool(facts.kept_calls),
    ),
    (
        Outcome.CUDA,
        N_("The project ran on the Mac, and this failed: {failed}."),
        lambda facts: facts.failed(*_RUNNING),
    ),
    (
        Outcome.DUAL,
        N_("Full training is more than a Mac has shown it can do."),
        lambda facts: facts.use == FULL_TRAINING,
    ),
    (
        Outcome.MAC,
        N_("The Mac ran the project's core; what is left to show: {missing}."),
        lambda facts: facts.develops,
    ),
    (
        Outcome.DUAL,
        N_("A rehearsal passed, which is no run on a Mac."),
        lambda facts: facts.rehearsed(*DEVELOP),
    ),
    (
        Outcome.DUAL,
        N_("No kernel stands in the way; nothing has been shown on a Mac yet."),
        lambda facts: facts.passed("inventory.kernels"),
    ),
)

#: What both machines do when they share the work.
SHARING = N_(
    "The Mac develops, tests and regresses, CUDA does the real runs; they share preprocessing, "
    "lock files, seeds and checkpoints."
)

#: The cheapest first: what a person can do at a desk, then what one command fills.
CHEAP = (
    "inventory.kernels",
    "inventory.device-calls",
    "inventory.extensions",
    "environment.mps-tensor",
    "environment.mps-available",
    "environment.mps-built",
    *_ENVIRONMENT,
)


def decide(
    states: Sequence[ItemState],
    findings: Sequence[Finding],
    decisions: Mapping[str, Decision],
    uses: Sequence[str] = (),
) -> Verdict:
    """The verdict on this checklist. A use that is not known is judged by everything there is."""
    each = [
        _one(_facts(use, states, findings, decisions))
        for use in (tuple(dict.fromkeys(uses)) or ("",))
    ]
    outcome = _together([one.outcome for one in each])
    leanings = [one.leaning if one.outcome is Outcome.UNDECIDED else one.outcome for one in each]
    known = [one for one in leanings if one is not None]
    shares = (_(SHARING),) if outcome is Outcome.DUAL else ()
    return Verdict(
        outcome,
        _unique((*(text for one in each for text in one.reasons), *shares)),
        _unique(text for one in each for text in one.would_change),
        _together(known) if known and outcome is Outcome.UNDECIDED else None,
        next((one.next_check for one in each if one.next_check), ""),
        tuple((use, one.outcome) for use, one in zip(dict.fromkeys(uses), each, strict=True))
        if uses
        else (),
    )


def _together(outcomes: Sequence[Outcome]) -> Outcome:
    """One outcome of several: agreed, else undecided if one is, else both machines share."""
    different = set(outcomes)
    if len(different) == 1:
        return outcomes[0]
    return Outcome.UNDECIDED if Outcome.UNDECIDED in different else Outcome.DUAL


def _one(facts: Facts) -> Verdict:
    """The verdict for one use."""
    fired = [rule for rule in RULES if rule.when(facts)]
    for outcome in (Outcome.CUDA, Outcome.MAC, Outcome.DUAL):
        because = [rule for rule in fired if rule.outcome is outcome]
        if because:
            words = _words(facts)
            return Verdict(
                outcome,
                tuple(_(rule.text).format(**words) for rule in because),
                _unique(_(rule.change).format(**words) for rule in because),
            )
    return _undecided(facts)


def _undecided(facts: Facts) -> Verdict:
    words = _words(facts)
    leaning, reasons = None, []
    for outcome, text, when in LEANINGS:
        if when(facts):
            leaning, reasons = outcome, [_(text).format(**words)]
            break
    reasons.append(_("Without evidence so far: {missing}.").format(**words))
    return Verdict(
        Outcome.UNDECIDED,
        tuple(reasons),
        (_("Evidence from a Mac for what is missing, or a stop that ends the question."),),
        leaning,
        _next_check(facts),
    )


def _next_check(facts: Facts) -> str:
    """The cheapest thing to do next: a title and how it is done."""
    missing = facts.missing
    ordered = [*(id for id in CHEAP if id in missing), *missing]
    for id in ordered:
        state = facts.states.get(id)
        if state is not None:
            return f"{_(state.item.title)}: {state.note}"
    return ""


def _facts(
    use: str,
    states: Sequence[ItemState],
    findings: Sequence[Finding],
    decisions: Mapping[str, Decision],
) -> Facts:
    use = use.strip().casefold().replace("-", " ").replace("_", " ")
    by_id = {state.item.id: state for state in states}
    remote = any(one.target.startswith("ssh:") for state in states for one in state.evidence)
    needed = NEEDED.get(use, _EVERYTHING) + (_REMOTE if remote else ())

    def told(layer: Layer, state: State, blocking: bool = False) -> tuple[Finding, ...]:
        return tuple(
            one
            for one in findings
            if one.layer is layer
            and one.severity is not Severity.COSMETIC
            and (not blocking or one.severity is Severity.BLOCKS)
            and (decisions[one.id].state if one.id in decisions else State.OPEN) is state
        )

    return Facts(
        use,
        by_id,
        needed,
        told(Layer.KERNEL, State.KEPT),
        told(Layer.KERNEL, State.OPEN),
        told(Layer.DEVICE, State.KEPT, blocking=True),
    )


def _words(facts: Facts) -> dict[str, str]:
    """What the sentences may name."""

    def places(found: Sequence[Finding]) -> str:
        return some([f"{visible(one.path)}:{one.line}" for one in found])

    def titles(ids: Sequence[str]) -> str:
        return some([_(facts.states[id].item.title) for id in ids if id in facts.states])

    return {
        "kept_kernels": places(facts.kept_kernels),
        "open_kernels": places(facts.open_kernels),
        "kept_calls": places(facts.kept_calls),
        "failed": titles([id for id in facts.needed if facts.failed(id)]),
        "missing": titles(facts.missing),
    }


def _unique(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))
