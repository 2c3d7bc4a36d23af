"""``cuda2mps demo``."""

import shutil
import tempfile
from pathlib import Path

import click

from project.translation import _
from tui.commands.open import open_path


@click.command("demo")
@click.option(
    "--keep",
    type=click.Path(path_type=Path),
    help="Unpack the project into this new folder and leave it there.",
)
def command(keep: Path | None) -> int:
    """Open a session on the bundled project, in a git repository that is thrown away.

    Without a terminal it prints the summary and ends.
    """
    from project.errors import UserError
    from tui.demo import unpack

    if keep is not None:
        if keep.exists():
            raise UserError(
                _("{folder} exists already: name a new folder for the demo.").format(folder=keep)
            )
        return open_path(unpack(keep), cache=False)
    folder = Path(tempfile.mkdtemp(prefix="cuda2mps-demo-"))
    try:
        return open_path(unpack(folder / "tremor"), cache=False)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
