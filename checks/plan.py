"""What a check would run, before anything runs."""

import difflib
import platform
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from checks import dependencies
from checks.environment import IMPORT, ITEM_QUESTIONS, STATIC_ITEMS, asked
from checks.interpreter import Interpreter, find
from checks.items import GROUPS, ITEMS
from project.errors import UserError
from project.paths import visible
from project.translation import _, plural
from project.workspace import Workspace

PROBE = Path(__file__).parent / "probe" / "environment.py"


@dataclass(frozen=True)
class Plan:
    """One check: where, with which interpreter and command, and which items it fills.

    The command is complete but for the channel on which the child answers, which is added when
    it starts. An empty one runs nothing: the items are read from the project's files.
    """

    target: str
    host: str
    interpreter: Interpreter
    command: tuple[str, ...]
    items: tuple[str, ...]


def plan(
    workspace: Workspace,
    target: str = "local",
    python: str | None = None,
    only: Sequence[str] = (),
) -> Plan:
    """Plan a check of the whole environment, or of the items or groups named in ``only``.

    Raises:
        UserError: the target is unknown or not possible yet, an item is unknown or no check can
            fill it yet, or there is no interpreter.
    """
    _target(target)
    items = _chosen(only)
    interpreter = find(workspace, python)
    command: tuple[str, ...] = ()
    questions = asked(items)
    if questions:
        packages = dependencies.listing(workspace).packages
        if IMPORT in questions:
            questions = (*(q for q in questions if q != IMPORT), *(IMPORT + p for p in packages))
        command = (str(interpreter.path), str(PROBE), "--packages", *packages)
        command += ("--questions", *questions)
    return Plan(target, platform.node() or "localhost", interpreter, command, items)


def describe(plan: Plan) -> str:
    """What would run, where and with what: the text that the question shows."""
    count = plural("{n} item", "{n} items", len(plan.items))
    if not plan.command:
        return _("This reads the project's files for {count} and runs nothing.").format(count=count)
    path = plan.interpreter.path
    lines = [
        _("This runs code of the project's environment to fill {count} of the checklist.").format(
            count=count
        ),
        _("host         {host} ({system})").format(
            host=visible(plan.host), system=f"{platform.system()} {platform.machine()}"
        ),
        _("interpreter  {path}").format(path=visible(str(path))),
        "             " + visible(plan.interpreter.origin),
    ]
    resolved = path.resolve()
    if resolved != path:
        lines.append("             " + _("which is {path}").format(path=visible(str(resolved))))
    lines.append(_("command      {command}").format(command=visible(shlex.join(plan.command))))
    return "\n".join(lines)


def _target(target: str) -> None:
    if target == "local":
        return
    if target == "rehearsal" or target.startswith("ssh:"):
        raise UserError(
            _("Checks on {target} are not possible yet: this version checks `local`.").format(
                target=visible(target)
            )
        )
    raise UserError(
        _("There is no target {target}: use local, ssh:HOST[:DIR] or rehearsal.").format(
            target=visible(target)
        )
    )


def _chosen(only: Sequence[str]) -> tuple[str, ...]:
    """The items that a check can fill, or those of them that were named."""
    possible = [item.id for item in ITEMS if item.id in ITEM_QUESTIONS or item.id in STATIC_ITEMS]
    if not only:
        return tuple(possible)
    hows = {item.id: item.how for item in ITEMS}
    groups = {group: [id for id in hows if id.startswith(f"{group}.")] for group, _t in GROUPS}
    wanted: set[str] = set()
    for name in only:
        named = groups.get(name, [name] if name in hows else [])
        if not named:
            nearest = difflib.get_close_matches(name, [*hows, *groups], n=1, cutoff=0.0)[0]
            raise UserError(
                _("There is no checklist item {name}: did you mean {nearest}?").format(
                    name=visible(name), nearest=nearest
                )
            )
        filled = [id for id in named if id in possible]
        if not filled:
            raise UserError(
                _("No check fills {name} yet. {how}").format(name=name, how=_(hows[named[0]]))
            )
        wanted.update(filled)
    return tuple(id for id in possible if id in wanted)
