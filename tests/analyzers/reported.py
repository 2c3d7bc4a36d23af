"""Tables of problems that people had: a file, and what they must be told about it."""

import textwrap
from dataclasses import dataclass

from analyzers.examine import examine
from analyzers.registry import rule, rules
from project.vocabulary import Finding, Layer


@dataclass(frozen=True)
class Told:
    """One finding: its rule, line and severity, and words of its message and of the advice."""

    rule: str
    line: int
    severity: str
    says: tuple[str, ...]
    advises: tuple[str, ...] = ()


@dataclass(frozen=True)
class Problem:
    """What happened, the smallest file that shows it, and what must be said of it."""

    title: str
    text: str
    told: tuple[Told, ...]
    path: str = "train.py"
    torch: str = "2.14"

    def __str__(self) -> str:
        return self.title


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def findings(path: str, text: str, torch: str = "2.14") -> list[Finding]:
    """What all rules find in a file, for one release of PyTorch."""
    report = examine(path, textwrap.dedent(text).encode(), rules())
    return [
        one
        for one in report.findings
        if (one.since is None or release(torch) >= release(one.since))
        and (one.until is None or release(torch) < release(one.until))
    ]


def check(problem: Problem, layer: Layer) -> None:
    """Assert that a problem is told: each finding by itself, in the layer."""
    found = findings(problem.path, problem.text, problem.torch)
    for told in problem.told:
        [one] = [each for each in found if (each.rule, each.line) == (told.rule, told.line)] or [
            None
        ]
        assert one is not None, (told.rule, told.line, [(x.rule, x.line, x.text) for x in found])
        assert one.layer is layer
        assert one.severity.value == told.severity
        for word in told.says:
            assert word.lower() in one.message.lower(), (word, one.message)
        known = rule(told.rule)
        assert known is not None
        for word in told.advises:
            assert word in known.advice, (word, known.advice)
