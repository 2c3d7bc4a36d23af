"""Options and helpers that several commands share."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from reports.session import Session

F = TypeVar("F", bound=Callable[..., Any])

LAYERS = ("device", "kernel", "environment")
STYLES = ("auto", "inline", "helper")


def path_argument(function: F) -> F:
    """The project, by default this folder."""
    return click.argument("path", default=".", type=click.Path(path_type=Path))(function)


def rule_options(function: F) -> F:
    """``--select``, ``--ignore`` and ``--layer``."""
    function = click.option(
        "--layer", "layers", multiple=True, type=click.Choice(LAYERS), help="Only this layer."
    )(function)
    function = click.option(
        "--ignore", multiple=True, metavar="RULE", help="Leave this rule out; may be repeated."
    )(function)
    return click.option(
        "--select", multiple=True, metavar="RULE", help="Only this rule; may be repeated."
    )(function)


def scan_options(function: F) -> F:
    """What `scan` alone takes: ``--torch``, ``--known``, ``--jobs`` and ``--no-cache``."""
    function = click.option(
        "--known",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Leave out the findings of an earlier `scan --format json`.",
    )(function)
    function = click.option(
        "--torch", metavar="RELEASE", help="The PyTorch release to ask about, such as 2.14."
    )(function)
    function = click.option(
        "--no-cache", is_flag=True, help="Read every file again, and remember nothing."
    )(function)
    return click.option(
        "--jobs",
        type=click.IntRange(1, 64),
        metavar="N",
        help="Processes to scan with (default: as many as there are processors, at most 8).",
    )(function)


def patch_options(function: F) -> F:
    """The options that choose proposals, the same for ``diff`` and ``apply``."""
    function = click.option(
        "--style",
        type=click.Choice(STYLES),
        help="What to write where no device is in scope (default: as it fits).",
    )(function)
    function = click.option(
        "--accepted", is_flag=True, help="Only what was accepted in the triage session."
    )(function)
    return click.option("--review", is_flag=True, help="Also what a person should look at.")(
        function
    )


def scanned(
    path: Path,
    *,
    select: tuple[str, ...] = (),
    ignore: tuple[str, ...] = (),
    layers: tuple[str, ...] = (),
    style: str | None = None,
    torch: str | None = None,
    known: Path | None = None,
    jobs: int | None = None,
    cache: bool = True,
) -> "Session":
    """Open a project, say what was recovered, and scan it."""
    from analyzers.scan import ScanOptions
    from project.config import release
    from project.vocabulary import NEWEST, Layer
    from project.workspace import Workspace
    from reports.findings import known_ids
    from reports.session import Session
    from rewriters.propose import Style

    workspace = Workspace.open(path)
    config = workspace.config
    options = ScanOptions(
        select or config.select,
        ignore or config.ignore,
        tuple(Layer(layer) for layer in layers),
        release(torch) if torch is not None else config.torch or NEWEST,
        jobs,
        cache,
        known_ids(known) if known is not None else frozenset(),
    )
    session = Session(workspace, options, Style(style or config.style, options.torch))
    report_recovery(session)
    session.scan()
    return session


def report_recovery(session: "Session") -> None:
    """Say on stderr what a crash had left and what was done about it."""
    for sentence in session.recovered:
        click.echo(f"cuda2mps: {sentence}", err=True)


def has_terminal() -> bool:
    """Whether a full-screen program can run here."""
    import os

    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def write_patch(patch: bytes) -> None:
    """Write a patch to stdout: its bytes, or to a terminal what of them cannot harm it."""
    if sys.stdout.isatty():
        from project.paths import visible_lines

        click.echo(visible_lines(patch.decode("utf-8", "surrogateescape")), nl=False)
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()
