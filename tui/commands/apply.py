"""``cuda2mps apply``."""

from pathlib import Path

import click

from project.paths import visible
from project.translation import _, plural
from tui.commands.options import patch_options, path_argument, rule_options, scanned


def _target(context: click.Context, parameter: click.Parameter, value: str) -> str:
    if value in ("worktree", "index") or (value.startswith("branch:") and value != "branch:"):
        return value
    raise click.BadParameter(
        _("{value} is none of worktree, index and branch:NAME.").format(value=visible(value))
    )


@click.command("apply")
@path_argument
@rule_options
@patch_options
@click.option("--check", is_flag=True, help="Try everything and change nothing.")
@click.option(
    "--to",
    "target",
    callback=_target,
    metavar="worktree|index|branch:NAME",
    default="worktree",
    show_default=True,
    help="Where: the files; the files and git's index; a new branch with one commit a rule.",
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

    Exits with 1, and nothing changed, when a file is not as it was scanned, the index or, for a
    branch, HEAD has another content of it, or the branch is there already.
    """
    session = scanned(path, select=select, ignore=ignore, layers=layers, style=style)
    proposals = session.chosen(review=review, accepted_only=accepted)
    changes = session.check(proposals, target)
    if not changes:
        click.echo(_("Nothing to apply."))
        return 0
    rewrites = plural("{n} rewrite", "{n} rewrites", len(proposals))
    count = plural("{n} file", "{n} files", len(changes))
    if check:
        click.echo(_("Would apply {rewrites} to {files}.").format(rewrites=rewrites, files=count))
        return 0
    applied = session.apply(proposals, to=target)
    assert applied is not None
    if target.startswith("branch:"):
        click.echo(
            _(
                "Committed {rewrites} in {files} to the new branch {name}; `cuda2mps undo` "
                "deletes it ({id})."
            ).format(
                rewrites=rewrites,
                files=count,
                name=visible(target.removeprefix("branch:")),
                id=applied.entry.id,
            )
        )
        return 0
    click.echo(
        _("Applied {rewrites} to {files}; `cuda2mps undo` takes it back ({id}).").format(
            rewrites=rewrites, files=count, id=applied.entry.id
        )
    )
    return 0
