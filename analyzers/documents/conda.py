"""Conda environment files: ``environment.yml`` and its kin."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from analyzers.documents.base import Document
from analyzers.documents.requirements import Line, parse_line
from analyzers.documents.syntax import parse
from analyzers.documents.yaml import YAML, Scalar, documents, items, pairs, scalar

_NAME = re.compile(r"(?:.*[-_.])?(?:environment|conda|env)(?:[-_.].*)?\.ya?ml\Z")
_SELECTOR = re.compile(rb"[\"']?[ \t]*#[ \t]*\[([^\]\r\n]*)\]")
_APPLIES = re.compile(r"(?<!not )\b(?:osx|unix|arm64)")
_ELSEWHERE = re.compile(r"\bnot (?:osx|unix)\b|(?<!not )\b(?:linux|win)")


class CondaDocument(Document):
    """An environment file: channels, packages, and what pip installs into it."""

    language = YAML

    @classmethod
    def accepts(cls, path: str) -> bool:
        """By the usual names, and the lock of pixi; workflows of a CI service are none."""
        pure = PurePosixPath(path.lower())
        if pure.name == "pixi.lock":
            return True
        return bool(_NAME.fullmatch(pure.name)) and ".github" not in pure.parts

    def parsed(self) -> Node:
        """Parse the text, which may be nested without end."""
        assert self.language is not None
        return parse(self.language, self.text)

    def channels(self) -> Iterator[Scalar]:
        """The channels that packages come from."""
        for _key, value in self._top("channels"):
            yield from self._scalars(value)

    def packages(self) -> Iterator[Scalar]:
        """Conda's own packages, without the ones that a selector keeps away from a Mac."""
        for _key, value in self._top("dependencies"):
            yield from self._scalars(value)

    def pip_lines(self) -> Iterator[Line]:
        """The lines of the nested pip list, read as in a requirements file."""
        for _key, value in self._top("dependencies"):
            for item in items(value):
                for key, nested in pairs(item):
                    if key == "pip":
                        for line in self._scalars(nested):
                            raw = self.text[line.start : line.end].decode("latin-1")
                            yield from parse_line(raw, line.start)

    def _top(self, wanted: str) -> Iterator[tuple[str, Node | None]]:
        for document in documents(self.root):
            yield from ((key, value) for key, value in pairs(document) if key == wanted)

    def _scalars(self, value: Node | None) -> Iterator[Scalar]:
        for item in items(value):
            one = scalar(item)
            if one is not None and not self._elsewhere(one.end):
                yield one

    def _elsewhere(self, end: int) -> bool:
        """Whether a comment such as ``# [linux]`` keeps the line away from a Mac."""
        selector = _SELECTOR.match(self.text, end)
        if selector is None:
            return False
        words = selector[1].decode("ascii", "replace").lower()
        return bool(_ELSEWHERE.search(words)) and not _APPLIES.search(words)
