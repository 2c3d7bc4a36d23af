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
    def _waiting(self) -> dict[bytes, tuple[Rule[Any], ...]]:
        waiting: dict[bytes, list[Rule[Any]]] = {MARK: []}
        for one in self.rules:
            for word in one.triggers:
                waiting.setdefault(word if self.kind.cased else word.lower(), []).append(one)
        return {word: tuple(mine) for word, mine in waiting.items()}

    @cached_property
    def _words(self) -> tuple[bytes, ...]:
        return tuple(self._waiting)

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._words)

    @cached_property
    def _always(self) -> tuple[Rule[Any], ...]:
        return tuple(one for one in self.rules if not one.triggers)

    def hits(self, text: bytes) -> tuple[list[int], tuple[Rule[Any], ...]]:
        """Where a text has words of the rules, and which rules those are."""
        searched = text if self.kind.cased else text.lower()
        found = self._automaton.find_matches_as_indexes(searched, overlapping=True)
        codes = {one.code for one in self._always}
        for index in {index for index, _start, _end in found}:
            codes.update(one.code for one in self._waiting[self._words[index]])
        mine = tuple(one for one in self.rules if one.code in codes)
        return sorted({start for _index, start, _end in found}), mine


def readings(rules: Sequence[Rule[Any]]) -> dict[type[Document], Reading]:
    """The rules by what they read."""
    kinds: dict[type[Document], list[Rule[Any]]] = {}
    for one in rules:
        kinds.setdefault(one.reads, []).append(one)
    return {kind: Reading(kind, tuple(mine)) for kind, mine in kinds.items()}
