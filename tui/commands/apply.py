"""``cuda2mps apply``."""

from pathlib import Path

import click

from project.translation import _, plural
from tui.commands.options import patch_options, path_argument, rule_options, scanned


@click.command("apply")
@path_argument
@rule_options
@patch_options
@click.option("--check", is_flag=True, help="Try everything and change nothing.")
@click.option(
    "--to",
    "target",
    type=click.Choice(("worktree",)),
    default="worktree",
    show_default=True,
    help="Where to apply.",
)
def command(
    path: Path,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    layers: tuple[str, ...],
    review: bool,
    accepted: bool,
    style: str | None,
    check: bool,
    target: str,
) -> int:
    """Apply the patch that `diff` prints with the same options, all or nothing.

    Exits with 1, and nothing changed, when a file is not as it was scanned.
    """
    session = scanned(path, select=select, ignore=ignore, layers=layers, style=style)
    proposals = session.chosen(review=review, accepted_only=accepted)
    changes = session.check(proposals)
    if not changes:
        click.echo(_("Nothing to apply."))
        return 0
    rewrites = plural("{n} rewrite", "{n} rewrites", len(proposals))
    count = plural("{n} file", "{n} files", len(changes))
    if check:
        click.echo(_("Would apply {rewrites} to {files}.").format(rewrites=rewrites, files=count))
        return 0
    applied = session.apply(proposals)
    assert applied is not None
    click.echo(
        _("Applied {rewrites} to {files}; `cuda2mps undo` takes it back ({id}).").format(
            rewrites=rewrites, files=count, id=applied.entry.id
        )
    )
    return 0
