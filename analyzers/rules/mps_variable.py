"""E313: a variable of PyTorch's MPS backend that is set for good, or to what it refuses."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import Assignment, ShellDocument
from analyzers.rule import Example, Match, Rule
from analyzers.variables import fallback_variable
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"PYTORCH_ENABLE_MPS_FALLBACK|PYTORCH_MPS_(?:HIGH|LOW)_WATERMARK_RATIO")
_FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
_HIGH = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
_LOW = "PYTORCH_MPS_LOW_WATERMARK_RATIO"
#: What PyTorch takes for the low ratio with unified memory, and the most for the high one.
_LOW_DEFAULT, _HIGH_LIMIT = 1.4, 2.0


def find(document: ShellDocument) -> Iterator[Match]:
    """Settings that hide fallbacks, lift the limit of memory, or stop PyTorch."""
    assignments = document.assignments(_WORDS)
    lows = [low for one in assignments if one.name == _LOW and (low := _number(one)) is not None]
    highs = [high for one in assignments if one.name == _HIGH and (high := _number(one))]
    for one in assignments:
        found = None
        if one.name == _FALLBACK:
            found = fallback_variable(one.value)
        elif one.name == _HIGH:
            found = _high(_number(one), lows)
        elif one.name == _LOW:
            found = _low(_number(one), highs)
        if found is not None:
            message, severity = found
            if document.instructs and severity is Severity.DEGRADES:
                severity = Severity.COSMETIC
            yield Match(one.start, one.end, message, severity)


def _number(assignment: Assignment) -> float | None:
    try:
        return float(assignment.value.strip())
    except ValueError:
        return None


def _high(high: float | None, lows: list[float]) -> tuple[str, Severity] | None:
    if high is None:
        return None
    if high == 0:
        return _(
            "0.0 removes the limit on memory: a program that asks for too much can take the whole "
            "machine down. It is no cure for running out of memory."
        ), Severity.DEGRADES
    if high < 0 or high > _HIGH_LIMIT:
        return _("PyTorch takes a ratio from 0 to 2 here, and stops at any other."), Severity.BLOCKS
    if high < _LOW_DEFAULT and not any(low <= high for low in lows):
        return _(
            "The low watermark, 1.4 by itself, must not exceed the high one: PyTorch stops with an "
            "invalid low watermark ratio. Lower PYTORCH_MPS_LOW_WATERMARK_RATIO too."
        ), Severity.BLOCKS
    return None


def _low(low: float | None, highs: list[float]) -> tuple[str, Severity] | None:
    if low is None or not highs or any(low <= high for high in highs):
        return None
    return _("The low watermark exceeds the high one: PyTorch stops."), Severity.BLOCKS


RULE = Rule(
    code="E313",
    name="mps-variable",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(b"PYTORCH_ENABLE_MPS_FALLBACK", b"PYTORCH_MPS_"),
    what=N_("A variable of the MPS backend hides what falls back, or stops PyTorch."),
    why=N_(
        "A fallback that is always on makes a program slow without a word, and looks like a port. "
        "The limits of memory are read once, at the first use of MPS, and checked against each "
        "other."
    ),
    advice=N_(
        "Leave the fallback off by default and count what falls back; lower both watermarks "
        "together, or none. 0.0 is no cure for running out of memory: without a limit a program can "
        "take the whole machine down."
    ),
    source=(
        "aten/src/ATen/mps/MPSAllocator.h, MPSAllocator.mm and MPSFallback.mm of PyTorch, read; "
        "https://docs.pytorch.org/docs/stable/mps_environment_variables.html"
    ),
    find=find,
    examples=(
        Example(
            path="env.sh",
            text="""\
                export PYTORCH_ENABLE_MPS_FALLBACK=1
                export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7
                python train.py
                """,
            finds=("PYTORCH_ENABLE_MPS_FALLBACK=1", "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7"),
        ),
        Example(
            path=".env",
            text="PYTORCH_ENABLE_MPS_FALLBACK=true\nPYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0\n",
            finds=("PYTORCH_ENABLE_MPS_FALLBACK=true", "PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0"),
        ),
        Example(
            path="env.sh",
            text="""\
                export PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.7
                export PYTORCH_MPS_LOW_WATERMARK_RATIO=0.6
                """,
        ),
        Example(path="env.sh", text="PYTORCH_ENABLE_MPS_FALLBACK=0 python a.py\n"),
        Example(path="env.sh", text="# export PYTORCH_ENABLE_MPS_FALLBACK=1\n"),
        Example(path="env.sh", text="export PYTORCH_MPS_HIGH_WATERMARK_RATIO=1.6\n"),
    ),
)
