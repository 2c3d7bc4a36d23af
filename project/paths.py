"""Paths that stay where they belong, and text that cannot harm a terminal."""

import os
import stat
import unicodedata
from pathlib import Path

from project.errors import Refused
from project.translation import _

#: Letters that draw nothing, and with which one name can pass for another.
_BLANK_LETTERS = frozenset("\u115f\u1160\u3164\uffa0")
_NOWHERE = frozenset({"", ".", ".."})
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def inside(root: Path, relative: str) -> Path:
    """The absolute path of a file of the project.

    Args:
        root: the project's directory.
        relative: a path below it, with ``/`` between its parts; the file need not exist.

    Raises:
        Refused: the path leaves the project, passes a symbolic link or enters ``.git``.
    """
    return Path(checked(os.fspath(root), relative))


def checked(root: str, relative: str) -> str:
    """What :func:`inside` gives, as a string."""
    parts = relative.split("/")
    if "\0" in relative or not _NOWHERE.isdisjoint(parts):
        raise Refused(
            _("{path} is not a path inside the project: left alone.").format(path=visible(relative))
        )
    if (not relative.isascii() or "git" in relative.lower()) and any(map(_is_git, parts)):
        raise Refused(_("{path} belongs to git itself: left alone.").format(path=visible(relative)))
    path = root
    for part in parts:
        path = f"{path}/{part}"
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            raise Refused(
                _("{path} cannot be reached ({reason}): left alone.").format(
                    path=visible(relative), reason=error.strerror
                )
            ) from None
        if stat.S_ISLNK(mode):
            raise Refused(
                _("{path} lies behind a symbolic link: change the file it leads to.").format(
                    path=visible(relative)
                )
            )
    return path


def _is_git(part: str) -> bool:
    """Whether a file system may take this name for ``.git``.

    macOS ignores case and invisible characters in names, and Windows has short names; git guards
    against the same ones (``core.protectHFS``, ``core.protectNTFS``).
    """
    if not part.isascii():
        part = "".join(c for c in part if unicodedata.category(c) != "Cf")
    plain = part.casefold().rstrip(" .")
    return plain in (".git", "git~1")


def visible(text: str) -> str:
    """The text on one line, with everything in it that a terminal would obey or hide spelled out.

    Control characters, escapes, bidirectional overrides, invisible characters and undecodable
    bytes become ``\\x1b``, ``\\u202e`` and the like; a tab and a newline become ``\\t`` and
    ``\\n``.
    """
    if text.isprintable() and _BLANK_LETTERS.isdisjoint(text):
        return text
    return "".join(_spelled(character) for character in text)


def visible_lines(text: str) -> str:
    """Like :func:`visible`, with tabs kept and every line end, CRLF too, as a newline."""
    return "\n".join(
        "\t".join(visible(piece) for piece in line.split("\t"))
        for line in text.replace("\r\n", "\n").split("\n")
    )


def _spelled(character: str) -> str:
    if unicodedata.category(character) not in _UNSHOWN and character not in _BLANK_LETTERS:
        return character
    code = ord(character)
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8, as os.fsdecode keeps it
        return f"\\x{code - 0xDC00:02x}"
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def home_relative(path: Path) -> str:
    """The path with ``~`` for the user's home directory."""
    try:
        rest = path.relative_to(Path.home())
    except (ValueError, RuntimeError):
        return str(path)
    return str(Path("~") / rest)
