"""``cuda2mps PATH``: the triage session, or its summary where there is no terminal."""

from pathlib import Path

import click

from tui.commands.options import has_terminal, path_argument, scanned


@click.command("open")
@path_argument
def command(path: Path) -> int:
    """Open the triage session on a project; without a terminal, print its summary."""
    return open_path(Path(path))


def open_path(path: Path) -> int:
    """Open the session on a folder, or print the summary and end."""
    if not has_terminal():
        from reports.summary import summary

        click.echo(summary(scanned(path)).rstrip("\n"))
        return 0
    from reports.session import Session
    from tui.app import open_session

    open_session(Session.open(path))
    return 0
