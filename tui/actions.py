"""Everything a person can do in the triage session.

One registry: the key bindings, the footer, the help, the command palette and the documentation
read it, so that they cannot disagree. It knows no terminal.
"""

from collections.abc import Callable
from dataclasses import dataclass

from project.translation import N_, _
from project.vocabulary import State


@dataclass(frozen=True, slots=True)
class Situation:
    """What the cursor is on and what is going on, as far as it decides which keys work.

    ``node`` is ``finding``, ``file``, ``layer`` or empty. ``acceptable`` counts the places under
    the cursor that accepting would take.
    """

    node: str = ""
    state: State | None = None
    has_proposal: bool = False
    acceptable: int = 0
    undecided: int = 0
    findings: int = 0
    accepted: int = 0
    applied: int = 0
    scanning: bool = False
    checking: bool = False
    applying: bool = False


Condition = Callable[[Situation], str]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do.

    ``keys`` are names as Textual has them, the first one is shown. ``label`` is one or two words
    for the footer, ``help`` a sentence. ``why_not`` answers with the reason why the action is
    not possible now, or with nothing. ``hint`` ranks it in the footer; 0 leaves it out.
    """

    id: str
    keys: tuple[str, ...]
    label: str
    help: str
    group: str
    why_not: Condition = lambda situation: ""
    hint: int = 0

    @property
    def key(self) -> str:
        """The first key as people write it."""
        return shown(self.keys[0])


_KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "escape": "esc",
    "circumflex_accent": "^",
}


def shown(key: str) -> str:
    """A key's name as people write it."""
    return _KEY_NAMES.get(key, key)


def _on_something(now: Situation) -> str:
    if now.node:
        return ""
    if now.findings:
        return _("Nothing is selected: move to a finding first.")
    return _("There are no findings here.")


def _on_finding(now: Situation) -> str:
    if now.node in ("file", "layer"):
        return _("Move to one finding first.")
    return _on_something(now)


def _not_applied(now: Situation) -> str:
    if now.state is State.APPLIED:
        return _("This one is applied; P takes the last apply back.")
    return ""


def _acceptable(now: Situation) -> str:
    problem = _on_something(now) or _not_applied(now)
    if problem:
        return problem
    if now.node == "finding" and not now.has_proposal:
        return _("There is no rewrite for this place: n declines it, k keeps it on CUDA.")
    if now.node != "finding" and not now.acceptable:
        return _("No open finding in here has a rewrite.")
    return ""


def _decidable(now: Situation) -> str:
    problem = _on_something(now) or _not_applied(now)
    if problem:
        return problem
    if now.node != "finding" and not now.undecided:
        return _("Everything in here is decided.")
    return ""


def _has_open(now: Situation) -> str:
    return "" if now.undecided else _("Everything is decided.")


def _has_accepted(now: Situation) -> str:
    if now.applying:
        return _("An apply is under way.")
    if now.scanning:
        return _("The scan is still running: apply when it is done.")
    return "" if now.accepted else _("Nothing is accepted yet: y accepts a rewrite.")


def _has_applied(now: Situation) -> str:
    if now.applying:
        return _("An apply is under way.")
    if now.scanning:
        return _("The scan is still running: try again when it is done.")
    return "" if now.applied else _("Nothing is applied that could be taken back.")


def _scanned(now: Situation) -> str:
    return _("The scan is still running: try again when it is done.") if now.scanning else ""


DECIDE, MOVE, CHANGE, SHOW, LEAVE = (
    N_("Decide"),
    N_("Move"),
    N_("Change and check"),
    N_("Show"),
    N_("Session"),
)
GROUPS = (DECIDE, MOVE, CHANGE, SHOW, LEAVE)

ACTIONS: tuple[Action, ...] = (
    Action(
        "accept",
        ("y",),
        N_("accept"),
        N_("Accept the rewrite under the cursor; on a file or layer, all its open rewrites."),
        DECIDE,
        _acceptable,
        hint=1,
    ),
    Action(
        "decline",
        ("n",),
        N_("decline"),
        N_("Decline: this place stays as it is."),
        DECIDE,
        _decidable,
        hint=2,
    ),
    Action(
        "keep",
        ("k",),
        N_("keep on CUDA"),
        N_("Keep this place on CUDA, and say why."),
        DECIDE,
        _decidable,
        hint=3,
    ),
    Action(
        "many",
        ("a",),
        N_("many…"),
        N_("Decide on all open findings of this file, rule or layer at once."),
        DECIDE,
        _has_open,
        hint=5,
    ),
    Action(
        "undo",
        ("u",),
        N_("undo"),
        N_("Take the last decision back, also one from an earlier session."),
        DECIDE,
        hint=4,
    ),
    Action(
        "redo",
        ("U", "ctrl+r"),
        N_("redo"),
        N_("Make the decision again that was taken back last."),
        DECIDE,
    ),
    Action(
        "next_open",
        ("right_square_bracket",),
        N_("next open"),
        N_("Go to the next finding that is not decided."),
        MOVE,
        _has_open,
    ),
    Action(
        "previous_open",
        ("left_square_bracket",),
        N_("previous open"),
        N_("Go to the previous finding that is not decided."),
        MOVE,
        _has_open,
    ),
    Action(
        "filter",
        ("slash",),
        N_("filter"),
        N_("Show only findings whose path, rule, text, grade or decision has these words."),
        MOVE,
        hint=9,
    ),
    Action("next_pane", ("tab",), N_("next pane"), N_("Go to the next pane."), MOVE, hint=12),
    Action("previous_pane", ("shift+tab",), N_("previous pane"), N_("Go back a pane."), MOVE),
    Action("findings", ("1",), N_("findings"), N_("Go to the findings."), MOVE),
    Action("code", ("2",), N_("code"), N_("Go to the source or diff."), MOVE),
    Action("checklist", ("3",), N_("checklist"), N_("Go to the acceptance checklist."), MOVE),
    Action(
        "apply",
        ("p",),
        N_("apply"),
        N_("Apply the accepted rewrites to the files, after a summary of what changes."),
        CHANGE,
        _has_accepted,
        hint=6,
    ),
    Action(
        "undo_apply",
        ("P",),
        N_("undo apply"),
        N_("Take the last apply back: the files get their exact bytes again."),
        CHANGE,
        _has_applied,
    ),
    Action(
        "check",
        ("c",),
        N_("check"),
        N_("Run the live checks, after showing what would run and where."),
        CHANGE,
        hint=7,
    ),
    Action(
        "edit",
        ("e",),
        N_("edit"),
        N_("Open the place in $VISUAL or $EDITOR, and scan again afterwards."),
        CHANGE,
        _on_finding,
    ),
    Action(
        "rescan",
        ("r",),
        N_("scan again"),
        N_("Read the project again and keep the place."),
        CHANGE,
        _scanned,
    ),
    Action(
        "export",
        ("x",),
        N_("export"),
        N_("Save the checklist snapshot as Markdown, JSON, HTML or SVG."),
        CHANGE,
        _scanned,
        hint=8,
    ),
    Action(
        "toggle_diff",
        ("s",),
        N_("source/diff"),
        N_("Switch between the source and the diff of the finding."),
        SHOW,
        _on_finding,
        hint=10,
    ),
    Action(
        "rule",
        ("i",),
        N_("rule"),
        N_("Explain the rule behind this finding."),
        SHOW,
        _on_finding,
    ),
    Action(
        "skipped",
        ("S",),
        N_("skipped"),
        N_("List the files that were not looked at, and why."),
        SHOW,
    ),
    Action("theme", ("t",), N_("light/dark"), N_("Switch between the dark and light theme."), SHOW),
    Action(
        "help",
        ("question_mark",),
        N_("help"),
        N_("List the keys, and why some rest."),
        SHOW,
        hint=11,
    ),
    Action(
        "palette",
        ("ctrl+p",),
        N_("commands"),
        N_("Search all commands."),
        SHOW,
    ),
    Action(
        "quit",
        ("q", "ctrl+q"),
        N_("quit"),
        N_("Leave; every decision is already saved."),
        LEAVE,
        hint=13,
    ),
)

BY_ID = {action.id: action for action in ACTIONS}


def keys_markdown() -> str:
    """The table of keys for the documentation."""
    lines = ["| key | does |", "| --- | --- |"]
    for action in ACTIONS:
        keys = ", ".join(f"`{shown(key)}`" for key in action.keys)
        lines.append(f"| {keys} | {action.help} |")
    return "\n".join(lines) + "\n"
