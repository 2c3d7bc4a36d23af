"""``cuda2mps undo``."""

from pathlib import Path

import click

from project.paths import visible
from project.translation import _, plural
from tui.commands.options import report_recovery


@click.command("undo")
@click.argument("path", default=".", type=click.Path(path_type=Path))
@click.argument("id", required=False)
@click.option("--list", "only_list", is_flag=True, help="List every apply, oldest first.")
def command(path: Path, id: str | None, only_list: bool) -> int:
    """Take the last apply back, or the one named by its ID, to the exact bytes.

    Exits with 1, and nothing changed, when a file was changed since.
    """
    from reports.session import Session

    session = Session.open(path)
    report_recovery(session)
    if only_list:
        for entry in session.applies():
            mark = _("taken back") if entry.undone else _("applied")
            names = ", ".join(visible(name) for name in entry.paths)
            click.echo(f"{entry.id}  {entry.at}  {mark:<10}  {names}")
        return 0
    undone = session.undo_apply(id)
    count = plural("{n} file", "{n} files", len(undone.entry.paths))
    click.echo(_("Took {id} back: {files} as before.").format(id=undone.entry.id, files=count))
    return 0
