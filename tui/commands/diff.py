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
@click.option("--explain", is_flag=True, help="Say above each hunk which rule made it, and why.")
def command(
    path: Path,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    layers: tuple[str, ...],
    review: bool,
    accepted: bool,
    style: str | None,
    explain: bool,
) -> int:
    """Print the safe rewrites, and what was accepted, as one git patch.

    The patch fits `git apply` at the top of the repository; so does the one with the comments of
    `--explain`. Nothing is changed.
    """
    session = scanned(path, select=select, ignore=ignore, layers=layers, style=style)
    chosen = session.chosen(review=review, accepted_only=accepted)
    write_patch(session.patch(chosen, explain=explain))
    return 0
