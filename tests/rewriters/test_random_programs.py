"""Rewrites hold in programs that nobody wrote: whatever stands around the pattern."""

import ast
import textwrap
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzers.examine import examine
from analyzers.registry import rules
from analyzers.rule import Rule
from project.vocabulary import Proposal
from rewriters.combine import combine
from rewriters.propose import Style, propose, rewrites

RULES = [one for one in rules() if one.code in rewrites()]

#: Lines that have nothing to do with CUDA, one statement each.
FILLER = st.sampled_from(
    [
        "pass",
        "# Größe: 3 × 4 — 尺寸",
        "count = 1; rest = 2",
        'name = "naïve 🙂"',
        "rows = [\n    1,\n    2,\n]",
        "def helper(a, *, b=(1,)):\n\treturn a",
        'text = f"{1 + 1!r:>4}"',
        "x = (y := 3)",
        "assert True, \\\n    'never'",
        "",
    ]
)
FRAMES = st.sampled_from(
    [
        "{}",
        "if True:\n{}",
        "def work(self, *rest):\n{}",
        "class Work:\n    def run(self):\n{}",
        "try:\n{}\nfinally:\n    pass",
    ]
)


@st.composite
def programs(draw: st.DrawFn, patterns: list[str]) -> str:
    """A pattern between other lines, in a frame, with the line ends of one system or another."""
    pattern = draw(st.sampled_from(patterns))
    frame = draw(FRAMES)
    deep = " " * (len(frame) - len(frame.lstrip())) if frame == "{}" else "    "
    if "    def" in frame:
        deep = " " * 8
    before = "\n".join(draw(st.lists(FILLER, max_size=3)))
    after = "\n".join(draw(st.lists(FILLER, max_size=3)))
    inner = textwrap.indent(pattern, deep) if frame != "{}" else pattern
    text = "\n".join([before, frame.format(inner), after])
    text += draw(st.sampled_from(["", "\n"]))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))


def parses(text: bytes) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def proposals(data: bytes, one: Rule[Any], style: str) -> list[Proposal]:
    findings = examine("program.py", data, [one]).findings
    return propose("program.py", data, findings, Style(style))


@pytest.mark.parametrize("one", RULES, ids=lambda one: str(one.code))
def test_the_rest_of_a_program_stays_and_a_second_time_changes_nothing(one: Rule[Any]) -> None:
    examples = [
        example
        for example in one.examples
        if example.path.endswith(".py") and parses(textwrap.dedent(example.text).encode())
    ]
    # Half of the programs have a place that is rewritten.
    patterns = [textwrap.dedent(example.text) for example in examples]
    told = [textwrap.dedent(example.text) for example in examples if example.after is not None]
    patterns += told * (len(patterns) // len(told))

    changed = 0

    @given(programs(patterns), st.sampled_from(["auto", "inline", "helper"]))
    @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
    def holds(text: str, style: str) -> None:
        nonlocal changed
        data = text.encode()
        made = proposals(data, one, style)
        after = combine(data, made)
        changed += after != data
        if parses(data):
            assert parses(after)
        assert proposals(after, one, style) == []
        # Outside of the edits, byte for byte: what is kept of the old file is in the new, in order.
        position, end = 0, 0
        for edit in sorted({edit for proposal in made for edit in proposal.edits}):
            kept = data[end : edit.start]
            position = after.find(kept, position)
            assert position >= 0
            position, end = position + len(kept), edit.end
        assert after.endswith(data[end:])

    holds()
    assert changed >= 10


def test_no_rule_is_without_a_place_that_it_leaves_alone() -> None:
    few = {
        one.code: alone
        for one in RULES
        if (alone := sum(example.after is None for example in one.examples)) < 3
    }
    assert few == {}
