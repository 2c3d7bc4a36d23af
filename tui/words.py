"""Signs and words for what the screen shows: a colour never says something alone."""

from project.translation import N_
from project.vocabulary import Fix, Layer, Outcome, Severity, State, Status

#: A sign and a word for each decision.
STATES: dict[State, tuple[str, str]] = {
    State.OPEN: ("○", N_("open")),
    State.ACCEPTED: ("✓", N_("accepted")),
    State.DECLINED: ("✗", N_("declined")),
    State.KEPT: ("■", N_("kept on CUDA")),
    State.APPLIED: ("●", N_("applied")),
}

#: A sign and a word for each status of a checklist item.
STATUSES: dict[Status, tuple[str, str]] = {
    Status.PASSED: ("✓", N_("passed")),
    Status.REHEARSED: ("◑", N_("rehearsed")),
    Status.WARNING: ("!", N_("warning")),
    Status.FAILED: ("✗", N_("failed")),
    Status.NOT_RUN: ("○", N_("not run")),
    Status.BLOCKED: ("⊘", N_("blocked")),
    Status.NOT_APPLICABLE: ("–", N_("not applicable")),
}

#: A theme's colour for each status; the sign and the word say the same.
STATUS_COLOURS: dict[Status, str] = {
    Status.PASSED: "$success",
    Status.REHEARSED: "$primary",
    Status.WARNING: "$warning",
    Status.FAILED: "$error",
    Status.NOT_RUN: "$quiet",
    Status.BLOCKED: "$quiet",
    Status.NOT_APPLICABLE: "$quiet",
}

#: How a finding may be fixed, short and as a sentence.
FIXES: dict[Fix, tuple[str, str]] = {
    Fix.SAFE: (N_("safe"), N_("safe: the CUDA path stays as it is")),
    Fix.REVIEW: (N_("review"), N_("review: right in most code, look at it")),
    Fix.MANUAL: (N_("advice"), N_("advice only: there is no rewrite")),
    Fix.NONE: (N_("keep"), N_("keep on CUDA: there is nothing to rewrite")),
}

SEVERITIES: dict[Severity, str] = {
    Severity.BLOCKS: N_("fails without CUDA"),
    Severity.DEGRADES: N_("runs slower, elsewhere or wrong without CUDA"),
    Severity.COSMETIC: N_("harmless"),
}

LAYERS: dict[Layer, str] = {
    Layer.DEVICE: N_("Device calls"),
    Layer.KERNEL: N_("Operators & kernels"),
    Layer.ENVIRONMENT: N_("Binaries & environment"),
}

OUTCOMES: dict[Outcome, str] = {
    Outcome.MAC: N_("Mac can take it"),
    Outcome.DUAL: N_("dual track"),
    Outcome.CUDA: N_("stay on CUDA"),
    Outcome.UNDECIDED: N_("undecided"),
}
