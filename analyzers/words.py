"""Words that a file must have before it is parsed, looked for all at once."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ahocorasick_rs import BytesAhoCorasick, Implementation

from analyzers.documents.base import Document
from analyzers.keep import MARK
from analyzers.rule import Rule, Word

#: How far the line of a word is looked at, in bytes to either side.
_LONGEST = 600


@dataclass(frozen=True)
class Reading:
    """The rules that read one kind of document, and the words that they wait for."""

    kind: type[Document]
    rules: tuple[Rule[Any], ...]

    @cached_property
    def _waiting(self) -> dict[bytes, tuple[tuple[Rule[Any], Word], ...]]:
        waiting: dict[bytes, list[tuple[Rule[Any], Word]]] = {MARK: []}
        for one in self.rules:
            for trigger in one.triggers:
                word = trigger if isinstance(trigger, Word) else Word(trigger)
                key = word.text if self.kind.cased else word.text.lower()
                waiting.setdefault(key, []).append((one, word))
        return {word: tuple(mine) for word, mine in waiting.items()}

    @cached_property
    def _words(self) -> tuple[bytes, ...]:
        return tuple(self._waiting)

    @cached_property
    def _automaton(self) -> BytesAhoCorasick:
        return BytesAhoCorasick(self._words, implementation=Implementation.DFA)

    @cached_property
    def _always(self) -> tuple[Rule[Any], ...]:
        return tuple(one for one in self.rules if not one.triggers)

    def hits(self, text: bytes) -> tuple[list[int], tuple[Rule[Any], ...]]:
        """Where a text has words of the rules, and which rules those are."""
        searched = text if self.kind.cased else text.lower()
        found = self._automaton.find_matches_as_indexes(searched, overlapping=True)
        if not found:
            return [], self._always
        codes = {one.code for one in self._always}
        offsets: set[int] = set()
        beside: dict[tuple[bytes, ...], bool] = {}
        for index, start, end in found:
            key = self._words[index]
            if key is MARK:
                offsets.add(start)
            for one, word in self._waiting[key]:
                if not _on_line(word, text, start, end):
                    continue
                if word.beside:
                    if word.beside not in beside:
                        beside[word.beside] = any(other in searched for other in word.beside)
                    if not beside[word.beside]:
                        continue
                codes.add(one.code)
                offsets.add(start)
        mine = tuple(one for one in self.rules if one.code in codes)
        return sorted(offsets), mine


def _on_line(word: Word, text: bytes, start: int, end: int) -> bool:
    """Whether the line of a word at ``start:end`` is as it must be; one that is too long may be."""
    if word.after is not None and word.after.match(text, end) is None:
        return False
    if word.on_line is None and word.before is None:
        return True
    first = text.rfind(b"\n", max(start - _LONGEST, 0), start) + 1
    last = text.find(b"\n", end, end + _LONGEST)
    last = last if last >= 0 else len(text)
    if (not first and start > _LONGEST) or last - end > _LONGEST:
        return True
    return (word.before is None or word.before.search(text, first, start) is not None) and (
        word.on_line is None or word.on_line.search(text, first, last) is not None
    )


def readings(rules: Sequence[Rule[Any]]) -> dict[type[Document], Reading]:
    """The rules by what they read."""
    kinds: dict[type[Document], list[Rule[Any]]] = {}
    for one in rules:
        kinds.setdefault(one.reads, []).append(one)
    return {kind: Reading(kind, tuple(mine)) for kind, mine in kinds.items()}
