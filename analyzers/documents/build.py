"""CMake files and Makefiles, in the words that say what a build needs.

No grammar of them can be installed; CMake's commands have one form, and a Makefile is read by its
lines.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.documents.base import Document, name_of

#: What is open at the end of the file ends there, so that no place is searched twice.
_BLANKED = re.compile(
    rb"#\[(=*)\[.*?(?:\]\1\]|\Z)|#[^\r\n]*|\"[^\"\\]*(?:\\.[^\"\\]*)*\"?", re.DOTALL
)
_COMMAND = re.compile(rb"(?m)^[ \t]*([A-Za-z_]\w*)[ \t]*\(((?:[^()]|\([^()]*\))*)\)")
_BLANK = bytes(byte if byte in b"\r\n" else 32 for byte in range(256))
_ASSIGNMENT = re.compile(
    rb"(?m)^(?:export[ \t]+|override[ \t]+)?([\w.]+)[ \t]*(?:[:?+!]?|::)=[ \t]*([^\r\n#]*)"
)
_RECIPE = re.compile(rb"(?m)^\t[ \t]*[@+-]*([^\r\n]*)")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command of CMake: its name in lower case and its arguments, quotes and comments blanked."""

    name: str
    arguments: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """A variable of a Makefile, or under an empty name a line of a recipe."""

    name: str
    value: str
    start: int
    end: int


class BuildDocument(Document):
    """A CMake file or a Makefile."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """By the usual names."""
        name = name_of(path)
        return name in ("cmakelists.txt", "makefile", "gnumakefile") or name.endswith(
            (".cmake", ".mk", ".mak")
        )

    @property
    def is_cmake(self) -> bool:
        """Whether CMake reads this file."""
        return self.path.lower().endswith(("cmakelists.txt", ".cmake"))

    def invocations(self) -> Iterator[Invocation]:
        """The commands of a CMake file."""
        text = _BLANKED.sub(_quiet, self.text)
        for match in _COMMAND.finditer(text):
            words = tuple(match[2].decode("utf-8", "replace").split())
            yield Invocation(match[1].decode().lower(), words, match.start(1), match.end())

    def lines(self) -> Iterator[Line]:
        """The variables and recipes of a Makefile, in this order."""
        for match in _ASSIGNMENT.finditer(self.text):
            value = match[2].decode("utf-8", "replace").rstrip()
            end = match.start(2) + len(match[2].rstrip())
            yield Line(match[1].decode(), value, match.start(1), end)
        for match in _RECIPE.finditer(self.text):
            body = match[1].split(b" #", 1)[0].rstrip()
            start = match.start(1)
            yield Line("", body.decode("utf-8", "replace"), start, start + len(body))


def _quiet(match: re.Match[bytes]) -> bytes:
    """Comments vanish; a string stays a word without blanks or parentheses."""
    if match[0].startswith(b"#"):
        return match[0].translate(_BLANK)
    return re.sub(rb"[\s()\"]", b"_", match[0])
