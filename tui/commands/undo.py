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

    Exits with 1, and nothing changed, when a file, or the branch that it made, was changed
    since.
    """
    from reports.session import Session

    session = Session.open(path)
    report_recovery(session)
    if only_list:
        for entry in session.applies():
            mark = _("taken back") if entry.undone else _("applied")
            names = ", ".join(visible(name) for name in entry.paths)
            click.echo(f"{entry.id}  {entry.at}  {mark:<10}  {visible(entry.to):<8}  {names}")
        return 0
    undone = session.undo_apply(id)
    if undone.entry.to.startswith("branch:"):
        name = visible(undone.entry.to.removeprefix("branch:"))
        click.echo(
            _("Took {id} back: the branch {name} is deleted.").format(id=undone.entry.id, name=name)
        )
        return 0
    count = plural("{n} file", "{n} files", len(undone.entry.paths))
    click.echo(_("Took {id} back: {files} as before.").format(id=undone.entry.id, files=count))
    return 0
