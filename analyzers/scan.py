"""From a project to the reports of its files.

A file is read once and searched for the words that rules care about; it is parsed only when it
has one. Nothing of a scanned project is run.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from analyzers.documents.kinds import document_for
from analyzers.examine import FileReport, examine
from analyzers.registry import rule, rules
from analyzers.rule import Rule
from project import files
from project.config import Config
from project.errors import UserError
from project.translation import _
from project.vocabulary import Layer, Skipped
from project.workspace import Workspace


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What to look for: rule codes or slugs to take or leave, and layers; empty means all."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    layers: tuple[Layer, ...] = ()

    @classmethod
    def from_config(cls, config: Config) -> "ScanOptions":
        """The options that the project's configuration sets."""
        return cls(select=config.select, ignore=config.ignore)

    def rules(self) -> tuple[Rule[Any], ...]:
        """The rules that these options leave.

        Raises:
            UserError: a rule that does not exist.
        """
        for name in (*self.select, *self.ignore):
            if not _matching(name):
                raise UserError(
                    _("There is no rule {name}; `cuda2mps rules` lists them.").format(name=name)
                )
        selected = {one.code for name in self.select for one in _matching(name)}
        ignored = {one.code for name in self.ignore for one in _matching(name)}
        return tuple(
            one
            for one in rules()
            if (not self.select or one.code in selected)
            and one.code not in ignored
            and (not self.layers or one.layer in self.layers)
        )


def _matching(name: str) -> list[Rule[Any]]:
    """The rules that a code, a slug, or the beginning of a code (``D``, ``D1``) means."""
    exact = rule(name)
    if exact is not None:
        return [exact]
    prefix = name.strip().upper()
    return [one for one in rules() if prefix and one.code.startswith(prefix)]


def scan(
    workspace: Workspace, options: ScanOptions, paths: Iterable[str] | None = None
) -> Iterator[FileReport]:
    """Look at every file of the project, or at ``paths`` alone, and report each as it is done.

    Raises:
        UserError: the options name a rule that does not exist.
    """
    chosen = options.rules()
    if paths is None:
        paths, left_out = files.listed(workspace)
        for skipped in left_out:
            yield FileReport(skipped.path, skipped=(skipped,), read=False)
    for path in paths:
        if not document_for(path):
            continue
        data = files.read(workspace.root, path)
        if isinstance(data, Skipped):
            yield FileReport(path, skipped=(data,), read=False)
        else:
            yield examine(path, data, chosen)
