"""``cuda2mps explain``."""

import difflib
import shutil

import click

from project.errors import UserError
from project.translation import _


@click.command("explain")
@click.argument("rule")
def command(rule: str) -> int:
    """Show one rule in full, by its code or its name."""
    from analyzers import registry
    from reports.rules import rule_text

    found = registry.rule(rule)
    if found is None:
        names = [name for one in registry.rules() for name in (one.code, one.name)]
        near = difflib.get_close_matches(rule.upper() if len(rule) < 5 else rule, names, 1, 0.5)
        if near:
            text = _("There is no rule {name}: did you mean {near}?")
            raise UserError(text.format(name=rule, near=near[0]))
        text = _("There is no rule {name}; `cuda2mps rules` lists them.")
        raise UserError(text.format(name=rule))
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    click.echo(rule_text(found, width).rstrip("\n"))
    return 0
