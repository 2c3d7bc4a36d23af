"""``cuda2mps PATH``: the triage session, or its summary where there is no terminal."""

from pathlib import Path

import click

from tui.commands.options import has_terminal, path_argument, scanned


@click.command("open")
@path_argument
def command(path: Path) -> int:
    """Open the triage session on a project; without a terminal, print its summary."""
    return open_path(Path(path))


def open_path(path: Path, *, cache: bool = True) -> int:
    """Open the session on a folder, or print the summary and end.

    Args:
        path: the folder.
        cache: whether the findings are remembered for the next time.
    """
    if not has_terminal():
        from reports.summary import summary

        click.echo(summary(scanned(path, cache=cache)).rstrip("\n"))
        return 0
    from dataclasses import replace

    from reports.session import Session
    from tui.app import open_session

    session = Session.open(path)
    session.options = replace(session.options, cache=cache)
    open_session(session)
    return 0
