"""``cuda2mps rules``."""

import click


@click.command("rules")
def command() -> int:
    """List all rules."""
    from reports.rules import rules_table

    click.echo(rules_table().rstrip("\n"))
    return 0
