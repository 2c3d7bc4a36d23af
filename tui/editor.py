"""The command that opens a file at a line in the person's own editor."""

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from project.errors import UserError
from project.translation import _

_PLUS_LINE = {
    "vi", "vim", "nvim", "gvim", "view", "nano", "pico", "emacs", "emacsclient", "kak", "joe",
    "jed", "mg", "micro", "ne", "mcedit", "gedit",
}  # fmt: skip
_COLON_LINE = {"hx", "helix", "subl", "sublime_text", "zed", "zeditor"}
_GOTO_LINE = {"code", "code-insiders", "codium", "cursor", "windsurf"}


def command(path: Path, line: int, environ: Mapping[str, str] = os.environ) -> list[str]:
    """What to run.

    Raises:
        UserError: no editor is named, or the one that is named does not exist.
    """
    named = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(named)
    except ValueError:
        words = []
    if not words:
        raise UserError(_("No editor is set: put its name into $EDITOR and open this again."))
    if shutil.which(words[0], path=environ.get("PATH")) is None:
        raise UserError(
            _("The editor {name} was not found: correct $VISUAL or $EDITOR.").format(name=words[0])
        )
    name = Path(words[0]).stem
    if name in _PLUS_LINE:
        return [*words, f"+{line}", str(path)]
    if name in _COLON_LINE:
        return [*words, f"{path}:{line}"]
    if name in _GOTO_LINE:
        return [*words, "--wait", "--goto", f"{path}:{line}"]
    return [*words, str(path)]
