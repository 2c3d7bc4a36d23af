"""``cuda2mps diff``."""

from pathlib import Path

import click

from tui.commands.options import (
    patch_options,
    path_argument,
    rule_options,
    scanned,
    write_patch,
)


@click.command("diff")
@path_argument
@rule_options
@patch_options
def command(
    path: Path,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    layers: tuple[str, ...],
    review: bool,
    accepted: bool,
    style: str | None,
) -> int:
    """Print the safe rewrites, and what was accepted, as one git patch.

    The patch fits `git apply` at the top of the repository. Nothing is changed.
    """
    session = scanned(path, select=select, ignore=ignore, layers=layers, style=style)
    write_patch(session.patch(session.chosen(review=review, accepted_only=accepted)))
    return 0
