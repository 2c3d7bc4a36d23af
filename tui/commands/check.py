"""``cuda2mps check``."""

import sys
from pathlib import Path

import click

from project.translation import _
from tui.commands.options import path_argument, report_recovery


@click.command("check")
@path_argument
@click.option("--on", "target", default="local", show_default=True, help="Where to run: local.")
@click.option("--python", help="The project's interpreter.")
@click.option("--only", multiple=True, metavar="ITEM", help="Only this item; may be repeated.")
@click.option(
    "--timeout",
    type=click.FloatRange(min=1),
    default=60.0,
    show_default=True,
    help="Seconds after which a check is ended.",
)
@click.option("--trust", is_flag=True, help="Run without asking; needed where nobody can answer.")
@click.option(
    "--format", "form", type=click.Choice(("text", "json")), default="text", show_default=True
)
def command(
    path: Path,
    target: str,
    python: str | None,
    only: tuple[str, ...],
    timeout: float,
    trust: bool,
    form: str,
) -> int:
    """Run live checks in the project's own Python and fill the acceptance checklist.

    What would run, and with which interpreter, is shown first and asked about. Exits with 1 when
    something that was tried failed.
    """
    from checks import plan as plans
    from checks import run as runs
    from checks import trust as trusts
    from project.errors import UserError
    from project.vocabulary import Result
    from reports import checks as report
    from reports.session import Session

    session = Session.open(path)
    report_recovery(session)
    plan = plans.plan(session.workspace, target, python, only)
    click.echo(plans.describe(plan), err=True)
    if not trust and not trusts.granted(session.workspace, plan):
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise UserError(
                _("This would run the project's Python and nobody can be asked: add --trust.")
            )
        if not click.confirm(_("Run this?"), err=True):
            click.echo(_("Nothing was run."), err=True)
            return 1
        trusts.grant(session.workspace, plan)
    session.scan()
    made = session.add_evidence(runs.run(session.workspace, plan, timeout=timeout))
    items = [evidence.item for evidence in made]
    text = (
        report.evidence_json(session, items)
        if form == "json"
        else report.evidence_text(session, items)
    )
    click.echo(text.rstrip("\n"))
    return 1 if any(evidence.result is Result.FAILED for evidence in made) else 0
