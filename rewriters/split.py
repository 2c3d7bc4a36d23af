"""Proposals in parts that can be made one after the other."""

from collections.abc import Mapping, Sequence

from project.vocabulary import Edit, Proposal


def by_rule(
    proposals: Sequence[Proposal], contents: Mapping[str, bytes]
) -> list[tuple[tuple[str, ...], list[Proposal]]]:
    """The proposals by rule; those that touch the same lines, or need each other, together.

    Args:
        proposals: what was chosen; none excludes another.
        contents: the files that they are about, as they were read.

    Returns:
        Codes of rules, mostly one, and their proposals, ordered by the codes. A group can be made
        on top of the ones before it.
    """
    leader = list(range(len(proposals)))

    def first(number: int) -> int:
        while leader[number] != number:
            number = leader[number]
        return number

    owner: dict[object, int] = {one.finding: number for number, one in enumerate(proposals)}
    for number, one in enumerate(proposals):
        needed = [owner[id] for id in one.needs if id in owner]
        shared = [
            owner.setdefault((one.path, line), number)
            for line in _lines(contents[one.path], one.edits)
        ]
        for other in [*needed, *shared]:
            leader[first(other)] = first(number)

    rules: dict[int, set[str]] = {}
    for number, one in enumerate(proposals):
        rules.setdefault(first(number), set()).add(one.rule)
    groups: dict[tuple[str, ...], list[Proposal]] = {}
    for number, one in enumerate(proposals):
        groups.setdefault(tuple(sorted(rules[first(number)])), []).append(one)
    return sorted(groups.items())


def _lines(data: bytes, edits: Sequence[Edit]) -> set[int]:
    """The lines that edits change.

    New lines between two others, as an import or a helper, change none; whoever comes first
    brings them along.
    """
    found: set[int] = set()
    changing = [edit for edit in edits if not _adds_lines(data, edit)]
    for edit in changing or edits:
        line = data.count(b"\n", 0, edit.start)
        found.update(range(line, line + data.count(b"\n", edit.start, edit.end) + 1))
    return found


def _adds_lines(data: bytes, edit: Edit) -> bool:
    between = edit.start == 0 or data[edit.start - 1 : edit.start] == b"\n"
    return edit.start == edit.end and between and edit.replacement.endswith(b"\n")
