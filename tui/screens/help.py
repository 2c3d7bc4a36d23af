"""The keys, what they do, and why some do nothing now."""

from rich.table import Table
from rich.text import Text

from project.translation import N_, _
from tui.actions import ACTIONS, GROUPS, Situation, shown
from tui.screens.dialog import Notice
from tui.words import FIXES, STATES, STATUSES

_TREE_KEYS = (
    ("↑ ↓ pgup pgdn", N_("Move the cursor, or scroll the code.")),
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


def help_text(situation: Situation) -> Table:
    """What the help says in a situation: keys on the left, sentences on the right."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for group in GROUPS:
        _heading(table, _(group))
        for action in ACTIONS:
            if action.group == group:
                why_not = action.why_not(situation)
                text = Text(_(action.help))
                if why_not:
                    text.append(_(" Now: {why}").format(why=why_not), "dim italic")
                table.add_row(Text("  " + " ".join(map(shown, action.keys)), "bold"), text)
    _heading(table, _("In the panes"))
    for keys, sentence in _TREE_KEYS:
        table.add_row(Text(f"  {keys}", "bold"), Text(_(sentence)))
    _heading(table, _("Signs"))
    for pairs in (STATES.values(), STATUSES.values()):
        for sign, word in pairs:
            table.add_row(Text(f"  {sign}", "bold"), Text(_(word)))
    for word, sentence in FIXES.values():
        table.add_row(Text(f"  {_(word)}", "bold"), Text(_(sentence)))
    return table


def _heading(table: Table, text: str) -> None:
    table.add_row(Text(text, "bold italic"), Text())
