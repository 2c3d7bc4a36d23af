"""Every rewrite does to its rule's examples what they say, and does it once."""

import textwrap
from typing import Any

import pytest

from analyzers.examine import examine
from analyzers.registry import rules
from analyzers.rule import Example, Rule
from project.vocabulary import Fix
from rewriters.combine import combine
from rewriters.propose import Style, propose, rewrites

CASES = [
    pytest.param(one, example, id=f"{one.code}-{number}")
    for one in rules()
    for number, example in enumerate(one.examples)
    if one.code in rewrites()
]


def rewritten(one: Rule[Any], path: str, data: bytes) -> bytes:
    findings = examine(path, data, [one]).findings
    return combine(data, propose(path, data, findings, Style()))


@pytest.mark.parametrize(("one", "example"), CASES)
def test_example_becomes_what_it_says(one: Rule[Any], example: Example) -> None:
    data = textwrap.dedent(example.text).encode()
    expected = data if example.after is None else textwrap.dedent(example.after).encode()
    assert rewritten(one, example.path, data) == expected


@pytest.mark.parametrize(("one", "example"), CASES)
def test_rewriting_again_changes_nothing(one: Rule[Any], example: Example) -> None:
    once = rewritten(one, example.path, textwrap.dedent(example.text).encode())
    assert rewritten(one, example.path, once) == once


def test_every_rule_with_a_fix_has_a_rewrite_and_the_other_way_round() -> None:
    fixable = {one.code for one in rules() if one.fix in (Fix.SAFE, Fix.REVIEW)}
    assert fixable == set(rewrites())
