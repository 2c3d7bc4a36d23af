"""The words and signs with which reports speak of states; a sign never stands without its word."""

from project.translation import N_, _, plural
from project.vocabulary import Fix, Layer, Outcome, Severity, Status

LAYERS = {
    Layer.DEVICE: N_("Device calls"),
    Layer.KERNEL: N_("Operators and kernels"),
    Layer.ENVIRONMENT: N_("Binaries and environment"),
}

SIGNS = {
    Status.PASSED: "✓",
    Status.REHEARSED: "◑",
    Status.WARNING: "!",
    Status.FAILED: "✗",
    Status.NOT_RUN: "–",
    Status.BLOCKED: "⊘",
    Status.NOT_APPLICABLE: "·",
}

STATUSES = {
    Status.PASSED: N_("passed"),
    Status.REHEARSED: N_("rehearsed"),
    Status.WARNING: N_("warning"),
    Status.FAILED: N_("failed"),
    Status.NOT_RUN: N_("not run"),
    Status.BLOCKED: N_("blocked"),
    Status.NOT_APPLICABLE: N_("not applicable"),
}

OUTCOMES = {
    Outcome.MAC: N_("Mac can take it"),
    Outcome.DUAL: N_("Dual track: the Mac for development and regression, CUDA for the real runs"),
    Outcome.CUDA: N_("Stay on CUDA"),
    Outcome.UNDECIDED: N_("Undecided"),
}

SEVERITIES = {
    Severity.BLOCKS: N_("blocks"),
    Severity.DEGRADES: N_("degrades"),
    Severity.COSMETIC: N_("cosmetic"),
}

FIXES = {
    Fix.SAFE: N_("safe: where CUDA is available the program does what it did before"),
    Fix.REVIEW: N_("review: right in most code, and a person looks"),
    Fix.MANUAL: N_("manual: advice only"),
    Fix.NONE: N_("none: it stays as it is"),
}


def layer_word(layer: Layer) -> str:
    """A layer's title."""
    return _(LAYERS[layer])


def status_word(status: Status) -> str:
    """A status with its sign."""
    return f"{SIGNS[status]} {_(STATUSES[status])}"


def outcome_word(outcome: Outcome) -> str:
    """A verdict's outcome in words."""
    return _(OUTCOMES[outcome])


def found_in(findings: int, files: int) -> str:
    """How much was found in how many files."""
    return _("{findings} in {files}").format(
        findings=plural("{n} finding", "{n} findings", findings),
        files=plural("{n} file", "{n} files", files),
    )
