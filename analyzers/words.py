"""Words that a file must have before it is parsed, looked for all at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ahocorasick_rs import BytesAhoCorasick

from analyzers.documents.base import Document
from analyzers.keep import MARK
from analyzers.rule import Rule


@dataclass(frozen=True)
class Reading:
    """The rules that read one kind of document, and the words that they wait for."""

    kind: type[Document]
    rules: tuple[Rule[Any], ...]

    @cached_property
    def _words(self) -> tuple[bytes, ...]:
        return tuple(
            sorted({MARK, *(word for one in self.rules for word in literals(one.triggers))})
        )

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._words)

    def hits(self, text: bytes) -> tuple[list[int], tuple[Rule[Any], ...]]:
        """Where a text has words of the rules, and which rules those are."""
        found = self._automaton.find_matches_as_indexes(text, overlapping=True)
        extra = {
            one.code: [m.start() for m in rx(one.triggers).finditer(text)]
            for one in self.rules
            if rx(one.triggers)
        }
        if any(extra.values()):
            words = {self._words[index] for index, _start, _end in found}
            rules = tuple(
                one
                for one in self.rules
                if extra.get(one.code) or not words.isdisjoint(literals(one.triggers))
            )
            return sorted(
                {start for _index, start, _end in found} | {x for v in extra.values() for x in v}
            ), rules
        if not found:
            return [], ()
        words = {self._words[index] for index, _start, _end in found}
        rules = tuple(one for one in self.rules if not words.isdisjoint(literals(one.triggers)))
        return sorted({start for _index, start, _end in found}), rules


def readings(rules: Sequence[Rule[Any]]) -> dict[type[Document], Reading]:
    """The rules by what they read."""
    kinds: dict[type[Document], list[Rule[Any]]] = {}
    for one in rules:
        kinds.setdefault(one.reads, []).append(one)
    return {kind: Reading(kind, tuple(mine)) for kind, mine in kinds.items()}


import re
from functools import cache


def _lit(t):
    if re.fullmatch(rb"[^\\()\[\]?*+|^$.{}]+", t):
        return True
    try:
        re.compile(t)
    except re.error:
        return True
    return False


@cache
def literals(triggers):
    return tuple(t for t in triggers if _lit(t))


@cache
def rx(triggers):
    rest = [t for t in triggers if not _lit(t)]
    return re.compile(b"|".join(b"(?:" + t + b")" for t in rest)) if rest else None
