"""``cuda2mps scan``."""

import shutil
import sys
from pathlib import Path

import click

from tui.commands.options import path_argument, rule_options, scan_options, scanned


@click.command("scan")
@path_argument
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "json", "sarif", "github")),
    default="text",
    show_default=True,
)
@rule_options
@scan_options
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even when there are findings.")
def command(
    path: Path,
    form: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    layers: tuple[str, ...],
    torch: str | None,
    known: Path | None,
    jobs: int | None,
    no_cache: bool,
    exit_zero: bool,
) -> int:
    """List what depends on CUDA. Nothing of the project is run.

    Exits with 1 when there are findings that no comment in the code keeps, 0 when there are none, 2
    on an error.
    """
    session = scanned(
        path,
        select=select,
        ignore=ignore,
        layers=layers,
        torch=torch,
        known=known,
        jobs=jobs,
        cache=not no_cache,
    )
    from reports import findings

    if form == "json":
        text = findings.as_json(session)
    elif form == "sarif":
        text = findings.as_sarif(session)
    elif form == "github":
        text = findings.as_github(session)
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        text = findings.as_text(session, width, sys.stdout.isatty())
    click.echo(text.rstrip("\n"))
    return 1 if any(one.kept is None for one in session.findings) and not exit_zero else 0
