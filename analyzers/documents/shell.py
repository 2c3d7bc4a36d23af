"""Shell scripts, and the batch jobs that are shell scripts with directives in comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import tree_sitter_bash
from tree_sitter import Language, Node, Query, QueryCursor

from analyzers.documents.base import Document

BASH = Language(tree_sitter_bash.language())
_PARTS = Query(BASH, "[(command) (variable_assignment)] @part")
_DIRECTIVE = re.compile(rb"^#(SBATCH|PBS|BSUB)\b[^\r\n]*", re.MULTILINE)
_FIRST_COMMAND = re.compile(rb"^(?![ \t]*(?:#|\r?$))", re.MULTILINE)
#: Commands that run another one.
_RUNNERS = (
    "srun", "sudo", "exec", "time", "nohup", "env", "command", "nice", "mpirun", "watch", "eval",
    "timeout",
)  # fmt: skip
#: More commands that run commands than anybody writes in one line.
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its name without folder, its arguments as they are written."""

    name: str
    arguments: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Assignment:
    """A variable that is set, exported, or given to one command."""

    name: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Directive:
    """A line that a batch system reads: ``#SBATCH --gres=gpu:1``."""

    system: str
    content: str
    start: int
    end: int


class ShellDocument(Document):
    """A shell script."""

    language = BASH

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Shell and batch jobs by their suffix."""
        return path.lower().endswith((".sh", ".bash", ".slurm", ".sbatch"))

    @cached_property
    def _parts(self) -> list[Node]:
        nodes = QueryCursor(_PARTS).captures(self.root).get("part", [])
        return sorted(nodes, key=lambda node: (node.start_byte, -node.end_byte))

    def commands(self) -> Iterator[Command]:
        """Every simple command; one that another command runs is named by itself."""
        for node in self._parts:
            if node.type != "command":
                continue
            words = [
                child
                for child in node.named_children
                if child.type not in ("variable_assignment", "comment")
                and "redirect" not in child.type
            ]
            for _depth in range(_DEEPEST):
                if not words:
                    break
                name = self.slice(words[0]).strip("\"'").rpartition("/")[2]
                arguments = words[1:]
                yield Command(
                    name,
                    tuple(self.slice(word).strip("\"'") for word in arguments),
                    words[0].start_byte,
                    words[-1].end_byte,
                )
                if name not in _RUNNERS:
                    break
                while arguments and re.match(rb"-|\w+=|\d", arguments[0].text or b""):
                    arguments = arguments[1:]
                words = arguments

    def assignments(self) -> Iterator[Assignment]:
        """Every variable that is set."""
        for node in self._parts:
            name = node.child_by_field_name("name")
            if node.type == "variable_assignment" and name is not None:
                value = node.child_by_field_name("value")
                text = self.slice(value).strip("\"'") if value is not None else ""
                yield Assignment(self.slice(name), text, node.start_byte, node.end_byte)

    def directives(self) -> Iterator[Directive]:
        """The directives of a batch system, which stops reading them at the first command."""
        begin = 3 if self.text.startswith(b"\xef\xbb\xbf") else 0
        first = _FIRST_COMMAND.search(self.text, begin)
        limit = first.start() if first is not None else len(self.text)
        for match in _DIRECTIVE.finditer(self.text, begin, limit):
            content = match[0][len(match[1]) + 1 :].split(b" #", 1)[0]
            end = match.start() + len(match[1]) + 1 + len(content.rstrip())
            yield Directive(
                match[1].decode(), content.strip().decode("utf-8", "replace"), match.start(), end
            )
