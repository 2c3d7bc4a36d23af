"""The findings as the tree shows them: plain data, rebuilt or changed before any widget is.

Decisions show here at once, before they are on disk; :meth:`Board.settle` brings in what was
really recorded.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from project.vocabulary import Decision, Finding, Layer, Proposal, State

#: A place in the tree: (layer,), (layer, path) or (layer, path, finding id).
Key = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the tree."""

    key: Key
    finding: Finding | None = None

    @property
    def kind(self) -> str:
        """``layer``, ``file`` or ``finding``."""
        return ("layer", "file", "finding")[len(self.key) - 1]


@dataclass
class Board:
    """Findings by layer and file, with their state, and what of it is unfolded."""

    findings: dict[str, Finding] = field(default_factory=dict)
    proposals: dict[str, Proposal] = field(default_factory=dict)
    collapsed: set[Key] = field(default_factory=set)
    words: tuple[str, ...] = ()
    _states: dict[str, State] = field(default_factory=dict)
    _tree: dict[Layer, dict[str, list[Finding]]] = field(default_factory=dict)
    _tallies: dict[Key, list[int]] = field(default_factory=dict)
    _counts: Counter[State] = field(default_factory=Counter)
    _order: list[Finding] | None = None

    def add(
        self,
        findings: Iterable[Finding],
        proposals: Mapping[str, Proposal],
        decisions: Mapping[str, Decision],
    ) -> None:
        """Take in the findings of more files."""
        self.proposals.update(proposals)
        self._order = None
        for finding in findings:
            self.findings[finding.id] = finding
            files = self._tree.setdefault(finding.layer, {})
            files.setdefault(finding.path, []).append(finding)
            decision = decisions.get(finding.id)
            state = decision.state if decision else State.OPEN
            self._states[finding.id] = state
            self._counts[state] += 1
            for tally in self._tallies_of(finding):
                tally[0] += state is not State.OPEN
                tally[1] += 1

    def _tallies_of(self, finding: Finding) -> tuple[list[int], ...]:
        layer = str(finding.layer)
        return (
            self._tallies.setdefault((), [0, 0]),
            self._tallies.setdefault((layer,), [0, 0]),
            self._tallies.setdefault((layer, finding.path), [0, 0]),
        )

    # -- states ----------------------------------------------------------------------------

    def state(self, id: str) -> State:
        """What is shown as the decision on a finding."""
        return self._states.get(id, State.OPEN)

    def mark(self, ids: Iterable[str], state: State) -> None:
        """Show a decision on these findings."""
        for id in ids:
            finding = self.findings.get(id)
            if finding is None:
                continue
            before = self._states[id]
            self._states[id] = state
            self._counts[before] -= 1
            self._counts[state] += 1
            step = (state is not State.OPEN) - (before is not State.OPEN)
            if step:
                for tally in self._tallies_of(finding):
                    tally[0] += step

    def settle(self, decisions: Mapping[str, Decision], ids: Iterable[str] | None = None) -> None:
        """Show what was really recorded, for ``ids`` or for every finding."""
        for id in list(self.findings if ids is None else ids):
            decision = decisions.get(id)
            self.mark((id,), decision.state if decision else State.OPEN)

    def tally(self, key: Key = ()) -> tuple[int, int]:
        """How many findings in this part are decided, and how many there are."""
        decided, total = self._tallies.get(key, (0, 0))
        return decided, total

    def count(self, state: State) -> int:
        """How many findings are in this state."""
        return self._counts[state]

    def acceptable(self, findings: Iterable[Finding]) -> list[Finding]:
        """Those that are open and have a rewrite."""
        return [
            one
            for one in findings
            if one.id in self.proposals and self._states[one.id] is State.OPEN
        ]

    def look_for(self, words: tuple[str, ...]) -> None:
        """Leave only findings that have all these words."""
        self.words = words
        self._order = None

    # -- what is where ---------------------------------------------------------------------

    def _files(self) -> Iterable[tuple[Layer, str, list[Finding]]]:
        for layer in Layer:
            for path in sorted(self._tree.get(layer, {})):
                found = self._tree[layer][path]
                found.sort(key=lambda one: (one.start, one.end, one.rule))
                yield layer, path, [one for one in found if self._matches(one)]

    def _matches(self, finding: Finding) -> bool:
        if not self.words:
            return True
        text = " ".join(
            (
                finding.path,
                finding.rule,
                finding.name,
                str(finding.fix),
                str(finding.severity),
                str(self.state(finding.id)),
                finding.text,
            )
        ).lower()
        return all(word in text for word in self.words)

    def rows(self) -> list[Row]:
        """The lines of the tree; what is folded or filtered away is not in it."""
        rows: list[Row] = []
        last: Layer | None = None
        for layer, path, found in self._files():
            if not found:
                continue
            top = (str(layer),)
            if layer is not last:
                rows.append(Row(top))
                last = layer
            if top in self.collapsed:
                continue
            key = (*top, path)
            rows.append(Row(key))
            if key not in self.collapsed:
                rows.extend(Row((*key, one.id), one) for one in found)
        return rows

    def order(self) -> list[Finding]:
        """Every finding that the filter leaves, in the tree's order, folded ones too."""
        if self._order is None:
            self._order = [one for _layer, _path, found in self._files() for one in found]
        return self._order

    def open_from(self, key: Key, forward: bool = True) -> Finding | None:
        """The open finding that is nearest after (or before) a place, around the end if need be."""
        order = self.order()
        after = next(
            (i for i, one in enumerate(order) if self.key_of(one.id)[: len(key)] == key), 0
        )
        if not forward:
            places = [*range(after - 1, -1, -1), *range(len(order) - 1, after - 1, -1)]
        else:
            places = [*range(after, len(order)), *range(after)]
        if forward and len(key) == 3:
            places = [*places[1:], *places[:1]]
        return next((order[i] for i in places if self._states[order[i].id] is State.OPEN), None)

    def under(self, key: Key) -> list[Finding]:
        """The findings of this part of the tree that the filter leaves."""
        if len(key) == 3:
            return [self.findings[key[2]]] if key[2] in self.findings else []
        files = self._tree.get(Layer(key[0]), {}) if key else {}
        paths = [key[1]] if len(key) == 2 else sorted(files)
        return [one for path in paths for one in files.get(path, ()) if self._matches(one)]

    def key_of(self, id: str) -> Key:
        """Where a finding is in the tree."""
        finding = self.findings[id]
        return (str(finding.layer), finding.path, id)

    def unfold(self, key: Key) -> bool:
        """Unfold what a key lies in; whether that changed anything."""
        folded = self.collapsed & {key[:1], key[:2]} - {key}
        self.collapsed -= folded
        return bool(folded)

    def nearest(self, finding: Finding) -> Finding | None:
        """The finding that now stands where ``finding`` was."""
        if finding.id in self.findings:
            return self.findings[finding.id]
        here = self._tree.get(finding.layer, {}).get(finding.path, [])
        return min(here, key=lambda one: abs(one.line - finding.line), default=None)
