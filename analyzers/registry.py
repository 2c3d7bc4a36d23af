"""The rules, found by walking ``analyzers/rules``."""

import importlib
import pkgutil
from functools import cache
from typing import Any

from analyzers import rules as package
from analyzers.rule import Rule


@cache
def rules() -> tuple[Rule[Any], ...]:
    """Every rule, by code."""
    found: list[Rule[Any]] = []
    for info in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{info.name}")
        rule = getattr(module, "RULE", None)
        if isinstance(rule, Rule):
            found.append(rule)
    return tuple(sorted(found, key=lambda rule: rule.code))


def rule(code_or_name: str) -> Rule[Any] | None:
    """The rule with this code or name, in any case."""
    wanted = code_or_name.strip().lower()
    for one in rules():
        if wanted in (one.code.lower(), one.name):
            return one
    return None
