"""The two looks of the program, and the colours that every other theme falls back to.

Added and removed text differ in blue against orange, which people who confuse red and green tell
apart; the sign at the line's edge says it without any colour.
"""

from textual.theme import Theme

DARK = Theme(
    name="cuda2mps-dark",
    primary="#7aa2d6",
    secondary="#8f9bb3",
    accent="#d9a55b",
    warning="#d9a55b",
    error="#e07a6b",
    success="#7fb89a",
    foreground="#d5d9e0",
    background="#15171c",
    surface="#191c22",
    panel="#22262e",
    dark=True,
    variables={
        "block-cursor-background": "#2f4560",
        "block-cursor-foreground": "#f2f5f9",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#262c36",
        "block-cursor-blurred-foreground": "#d5d9e0",
        "border": "#7aa2d6",
        "border-blurred": "#3a404c",
        "input-selection-background": "#7aa2d6 35%",
        "scrollbar": "#333a46",
        "scrollbar-hover": "#46505f",
        "scrollbar-active": "#7aa2d6",
        "scrollbar-background": "#191c22",
        "scrollbar-background-hover": "#191c22",
        "scrollbar-background-active": "#191c22",
        "scrollbar-corner-color": "#191c22",
    },
)

LIGHT = Theme(
    name="cuda2mps-light",
    primary="#2c5f9e",
    secondary="#5a6474",
    accent="#95590f",
    warning="#95590f",
    error="#b03a2a",
    success="#2f6f4f",
    foreground="#23272e",
    background="#fafaf8",
    surface="#f4f4f1",
    panel="#e8e8e3",
    dark=False,
    variables={
        "block-cursor-background": "#cfdff2",
        "block-cursor-foreground": "#14181f",
        "block-cursor-text-style": "none",
        "block-cursor-blurred-background": "#e2e6ec",
        "block-cursor-blurred-foreground": "#23272e",
        "border": "#2c5f9e",
        "border-blurred": "#c2c5c9",
        "input-selection-background": "#2c5f9e 30%",
        "scrollbar": "#c4c8ce",
        "scrollbar-hover": "#a9afb8",
        "scrollbar-active": "#2c5f9e",
        "scrollbar-background": "#f0f0ec",
        "scrollbar-background-hover": "#f0f0ec",
        "scrollbar-background-active": "#f0f0ec",
        "scrollbar-corner-color": "#f0f0ec",
    },
)

_ON_DARK = {
    "quiet": "#8d95a3",
    "added": "#16283c",
    "added-word": "#235079",
    "removed": "#35231a",
    "removed-word": "#6d4125",
    "marked": "#4a3f22",
    "code-keyword": "#b49ad8",
    "code-string": "#96bd86",
    "code-number": "#d9a55b",
    "code-comment": "#828b99",
    "code-function": "#7fb2e5",
    "code-builtin": "#74b9b4",
    "code-constant": "#d9a55b",
}

_ON_LIGHT = {
    "quiet": "#626a76",
    "added": "#dbe9f8",
    "added-word": "#a9cdf0",
    "removed": "#fbe7d6",
    "removed-word": "#f3c196",
    "marked": "#f6e7a9",
    "code-keyword": "#6c3fa8",
    "code-string": "#33691e",
    "code-number": "#8a4b00",
    "code-comment": "#667080",
    "code-function": "#1f558f",
    "code-builtin": "#0d6660",
    "code-constant": "#8a4b00",
}


def own_colours(dark: bool) -> dict[str, str]:
    """Colours that only this program names, for any theme of that lightness."""
    return dict(_ON_DARK if dark else _ON_LIGHT)
