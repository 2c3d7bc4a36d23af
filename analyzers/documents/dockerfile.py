"""Dockerfiles and Containerfiles."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_dockerfile
from tree_sitter import Language, Node, Query, QueryCursor

from analyzers.documents.base import Document, name_of
from analyzers.documents.syntax import parse

DOCKERFILE = Language(tree_sitter_dockerfile.language())
_INSTRUCTIONS = Query(DOCKERFILE, "[(from_instruction) (arg_instruction)] @instruction")
_VARIABLE = re.compile(r"\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))")


@dataclass(frozen=True, slots=True)
class Image:
    """The image that a stage is built on: as it is written, and with its arguments filled in."""

    written: str
    name: str
    start: int
    end: int


class DockerfileDocument(Document):
    """A Dockerfile."""

    language = DOCKERFILE

    @classmethod
    def accepts(cls, path: str) -> bool:
        """``Dockerfile``, ``Dockerfile.*``, ``*.dockerfile`` and the same for Containerfile."""
        name = name_of(path)
        return any(
            name == word or name.startswith(f"{word}.") or name.endswith(f".{word}")
            for word in ("dockerfile", "containerfile")
        )

    @cached_property
    def root(self) -> Node:
        """The root of the syntax tree, of a text that the grammar reads at the same offsets.

        The grammar does not continue a line whose backslash stands before a carriage return.
        """
        text = self.text.replace(b"\\\r\n", b" \\\n")
        return parse(DOCKERFILE, text)

    def images(self) -> Iterator[Image]:
        """The images of every ``FROM`` that is not a stage of the same file."""
        arguments: dict[str, str] = {}
        stages: set[str] = set()
        nodes = QueryCursor(_INSTRUCTIONS).captures(self.root).get("instruction", [])
        for node in sorted(nodes, key=lambda one: one.start_byte):
            if node.type == "arg_instruction":
                if not stages:
                    arguments.update(self._argument(node))
                continue
            for child in node.named_children:
                if child.type == "image_spec":
                    written = self.slice(child).strip()
                    name = self._filled(written, arguments)
                    if name.lower() not in stages:
                        start = child.start_byte
                        yield Image(written, name, start, start + len(written.encode()))
            alias = [self.slice(c).lower() for c in node.named_children if c.type == "image_alias"]
            # The empty name marks that a stage began: later arguments are not for FROM.
            stages.update(alias or [""])

    def _argument(self, node: Node) -> Iterator[tuple[str, str]]:
        words = [self.slice(child).strip("\"'") for child in node.named_children]
        if len(words) == 2:
            yield words[0], words[1]

    def _filled(self, written: str, arguments: dict[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            return arguments.get(match[1] or match[3], match[2] or match[0])

        return _VARIABLE.sub(value, written)
