"""``cuda2mps export``."""

from pathlib import Path

import click

from project.translation import _
from tui.commands.options import path_argument, scanned


@click.command("export")
@path_argument
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="The file: .md, .json, .html or .svg.",
)
def command(path: Path, output: Path) -> int:
    """Write the acceptance checklist with its evidence and the verdict."""
    session = scanned(path)
    from reports.export import export

    written = export(session, output)
    click.echo(_("Wrote {file}.").format(file=written))
    return 0
