"""Proposals as commits, one a rule, each with what it is about and why."""

import textwrap
from collections.abc import Iterator, Sequence

from analyzers.registry import rule
from project.journal import Change
from project.staging import Commit
from project.translation import _
from project.vocabulary import Proposal
from rewriters.combine import combine
from rewriters.split import by_rule

_WIDTH = 72


def commits(proposals: Sequence[Proposal], changes: Sequence[Change]) -> list[Commit]:
    """The commits that together make the changes.

    Rules that touch the same lines share a commit.
    """
    before = {change.path: change.before for change in changes}
    chosen = [one for one in proposals if one.path in before]
    made: list[Proposal] = []
    standing = dict(before)
    found = []
    for codes, group in by_rule(chosen, before):
        made += group
        paths = {one.path for one in group}
        files = {
            path: combine(before[path], [one for one in made if one.path == path])
            for path in sorted(paths)
        }
        changed = {path: data for path, data in files.items() if data != standing[path]}
        standing.update(changed)
        if changed:
            found.append(Commit(message(codes), changed))
    return found


def message(codes: Sequence[str]) -> str:
    """A commit's message from its rules: a line that names them, then what and why."""
    named = {code: found for code in codes if (found := rule(code)) is not None}
    *others, last = [f"{found.name} ({code})" for code, found in named.items()]
    names = _("{names} and {last}").format(names=", ".join(others), last=last) if others else last
    subject = _("Make {names} work without CUDA").format(names=names)

    def paragraphs() -> Iterator[str]:
        for code, found in named.items():
            if others:
                yield f"{code} {found.name}:"
            yield textwrap.fill(_(found.what), _WIDTH)
            yield textwrap.fill(_(found.why), _WIDTH)

    return "\n\n".join([subject, *paragraphs()]) + "\n"
