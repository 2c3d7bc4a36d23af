"""Every rule's own examples hold, and every rule answers the questions that people ask."""

import textwrap
from typing import Any

import pytest

from analyzers.binaries.document import BinaryDocument
from analyzers.documents.base import Source
from analyzers.examine import examine, findings_in
from analyzers.registry import rule, rules
from analyzers.rule import Example, Rule

CASES = [
    pytest.param(one, example, id=f"{one.code}-{number}")
    for one in rules()
    for number, example in enumerate(one.examples)
]


def text_of(example: Example) -> bytes:
    return textwrap.dedent(example.text).encode()


@pytest.mark.parametrize(("one", "example"), CASES)
def test_example_finds_exactly_what_it_says(one: Rule[Any], example: Example) -> None:
    if issubclass(one.reads, BinaryDocument):
        # The example is what a reader makes of the binary.
        found = list(findings_in(one.reads(Source.of(example.path, text_of(example))), [one]))
    else:
        found = list(examine(example.path, text_of(example), [one]).findings)
    assert [finding.text for finding in found] == list(example.finds)


@pytest.mark.parametrize("one", rules(), ids=lambda one: one.code)
def test_rule_is_complete(one: Rule[Any]) -> None:
    assert one.what
    assert one.why
    assert one.advice
    assert one.source
    assert any(example.finds for example in one.examples)
    assert sum(not example.finds for example in one.examples) >= 3


@pytest.mark.parametrize("one", rules(), ids=lambda one: one.code)
def test_rule_lives_in_a_file_of_its_name(one: Rule[Any]) -> None:
    assert one.find.__module__ == f"analyzers.rules.{one.name.replace('-', '_')}"


def test_codes_and_names_are_unique() -> None:
    assert len({one.code for one in rules()}) == len({one.name for one in rules()}) == len(rules())


def test_a_rule_is_found_by_code_or_name_in_any_case() -> None:
    assert rule("d103") is rule("cuda-method") is rule("D103")
    assert rule("nothing") is None
