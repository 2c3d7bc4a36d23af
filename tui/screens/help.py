"""The keys, what they do, and why some do nothing now."""

from textual.content import Content

from project.translation import N_, _
from tui.actions import ACTIONS, GROUPS, Situation, shown
from tui.screens.dialog import Notice
from tui.words import FIXES, STATES, STATUSES

_TREE_KEYS = (
    ("↑ ↓ pgup pgdn home end", N_("Move the cursor, or scroll the code.")),
    ("← → space", N_("Fold and unfold a file or layer.")),
    ("enter", N_("Look at the code of a finding, or at the evidence of a checklist item.")),
)


class Help(Notice):
    """Every action of the registry by group, then the signs."""

    DEFAULT_CSS = """
    Help #frame { width: 100; }
    """

    def __init__(self, situation: Situation) -> None:
        super().__init__(N_("Keys"), help_text(situation))


def help_text(situation: Situation) -> Content:
    """What the help says in a situation."""
    lines: list[Content] = []
    for group in GROUPS:
        lines.append(Content.styled(_(group), "bold $primary"))
        for action in ACTIONS:
            if action.group == group:
                why_not = action.why_not(situation)
                keys = " ".join(shown(key) for key in action.keys)
                line = Content.assemble((f"  {keys:<11}", "bold"), _(action.help))
                if why_not:
                    line = Content.assemble(line, (_("  now: {why}").format(why=why_not), "$quiet"))
                lines.append(line)
    lines.append(Content.styled(_("In the panes"), "bold $primary"))
    lines += [Content.assemble((f"  {keys}  ", "bold"), _(text)) for keys, text in _TREE_KEYS]
    lines.append(Content.styled(_("Signs"), "bold $primary"))
    lines.append(Content(_("  findings   ") + _legend(STATES.values())))
    lines.append(Content(_("  checklist  ") + _legend(STATUSES.values())))
    lines += [Content("  " + _(sentence)) for _word, sentence in FIXES.values()]
    return Content("\n").join(lines)


def _legend(pairs: "object") -> str:
    return "  ".join(f"{sign} {_(word)}" for sign, word in pairs)  # type: ignore[attr-defined]
