"""What the content of a binary says, written as lines of text that rules read."""

from collections.abc import Iterable
from functools import cached_property

from analyzers.documents.base import Document, Source
from project.paths import visible

#: What one line says: a word for it, and its value.
Fact = tuple[str, str]

#: Lines that are kept of one file, and characters of a line.
MOST, LONGEST = 5_000, 300


class BinaryDocument(Document):
    """A binary, as facts: one a line, such as ``needs libcudart.so.12``.

    It is no text of the project: no file is read as one by its name, and findings in it have
    their evidence as ``text`` and lie at its first byte.
    """

    @classmethod
    def accepts(cls, path: str) -> bool:
        """No file, by its name alone."""
        return False

    @cached_property
    def facts(self) -> dict[str, tuple[str, ...]]:
        """The values for each word, in the order of the file."""
        found: dict[str, list[str]] = {}
        for line in self.text.decode("utf-8", "replace").splitlines():
            word, _space, value = line.strip().partition(" ")
            found.setdefault(word, []).append(value)
        return {word: tuple(values) for word, values in found.items()}

    def all(self, word: str) -> tuple[str, ...]:
        """Every value that the file has for a word."""
        return self.facts.get(word, ())

    @property
    def kind(self) -> str:
        """What the file is, as :func:`~analyzers.binaries.kinds.kind_of` calls it."""
        return next(iter(self.all("kind")), "")


def source_of(path: str, facts: Iterable[Fact]) -> Source:
    """The text of a document: each fact once, cut where it is long, and safe to show."""
    lines = list(dict.fromkeys(f"{word} {visible(value[:LONGEST])}" for word, value in facts))
    return Source.of(path, "".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
