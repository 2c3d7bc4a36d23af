"""Shell commands, wherever they stand, and the directives of batch jobs in comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import tree_sitter_bash
from tree_sitter import Language, Node

from analyzers.documents import shell_carriers
from analyzers.documents.base import Document, Source
from analyzers.documents.shell_carriers import Carrier
from analyzers.documents.syntax import parse

BASH = Language(tree_sitter_bash.language())
_DIRECTIVE = re.compile(rb"^#(SBATCH|PBS|BSUB)\b[^\r\n]*", re.MULTILINE)
_FIRST_COMMAND = re.compile(rb"^(?![ \t]*(?:#|\r?$))", re.MULTILINE)
#: Commands that run another one.
_RUNNERS = (
    "srun", "sudo", "exec", "time", "nohup", "env", "command", "nice", "mpirun", "watch", "eval",
    "timeout",
)  # fmt: skip
_CHOICE = re.compile(rb"(?i)cuda|gpu|nvidia|nvcc|linux|uname|ostype|darwin|command -v|which ")
_TEST = re.compile(rb"\[|test\b|command\b|which\b|type\b|hash\b|\(|nvidia-smi|nvcc")
#: Matches of a rule's words that are looked at; a text with more of them is data.
_HITS = 2000
#: Pipes of a script. At the end of one long pipeline the parser takes memory by the square of
#: their number, 4 GB for 20,000, in one step that cannot be given up.
_PIPES = 3000
#: Levels of blocks around a command that are looked at.
_BLOCKS = 24
#: More commands that run commands than anybody writes in one line.
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command: its name without folder, its arguments without quotes, and their spans."""

    name: str
    arguments: tuple[str, ...]
    start: int
    end: int
    spans: tuple[tuple[int, int], ...] = ()


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
    """A shell script, or the shell's share of a file that holds commands."""

    language = BASH

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Scripts, batch jobs and whatever else carries commands, by their names."""
        return shell_carriers.carrier_of(path) is not None

    @classmethod
    def source_from(cls, path: str, data: bytes) -> Source:
        """The file with everything blanked that the shell does not read.

        Raises:
            ValueError: a notebook that is no JSON; the message is a sentence.
        """
        return shell_carriers.source_from(path, data)

    def parsed(self) -> Node:
        """Parse the text, which may be nested without end."""
        if self.text.count(b"|") - 2 * self.text.count(b"||") > _PIPES:
            raise RecursionError
        return parse(BASH, self.text)

    @property
    def carrier(self) -> Carrier:
        """What kind of file holds these commands."""
        return shell_carriers.carrier_of(self.path) or Carrier.SCRIPT

    @property
    def instructs(self) -> bool:
        """Whether people read these commands and nothing runs them."""
        return self.carrier is Carrier.INSTRUCTIONS

    @property
    def elsewhere(self) -> bool:
        """Whether no Mac of the user's runs these commands: they are for readers, or for CI."""
        return self.carrier in (Carrier.INSTRUCTIONS, Carrier.WORKFLOW)

    def commands(self, words: re.Pattern[bytes]) -> tuple[Command, ...]:
        """The simple commands in which a match of ``words`` stands, in order.

        One that another command runs is named by itself, too.
        """
        return self.remember(
            ("commands", words),
            lambda: tuple(
                one for node in self._around(words, "command") for one in self._commands(node)
            ),
        )

    def assignments(self, words: re.Pattern[bytes]) -> tuple[Assignment, ...]:
        """The variables that are set where a match of ``words`` stands, in order."""
        return self.remember(
            ("assignments", words),
            lambda: tuple(
                one
                for node in self._around(words, "variable_assignment")
                for one in self._assignments(node)
            ),
        )

    def _around(self, words: re.Pattern[bytes], kind: str) -> list[Node]:
        """The nearest nodes of a kind around the matches of ``words``, each once."""
        found: dict[int, Node] = {}
        for hit in islice(words.finditer(self.text), _HITS):
            node = self.root.descendant_for_byte_range(hit.start(), hit.start() + 1)
            for _level in range(_BLOCKS):
                if node is None or node.type == kind:
                    break
                node = node.parent
            if node is not None and node.type == kind:
                found[node.start_byte] = node
        return [found[start] for start in sorted(found)]

    def guarded(self, start: int, end: int) -> bool:
        """Whether a command runs only after a test for the GPU, its tools or the system.

        That is a branch of such a test, the test itself, or a command whose failure is caught.
        """
        child = self.root.descendant_for_byte_range(start, end)
        node = child.parent if child is not None else None
        for _level in range(_BLOCKS):
            if node is None or child is None:
                return False
            if node.type == "if_statement":
                condition = node.child_by_field_name("condition")
                if condition is not None and (
                    condition.start_byte <= start < condition.end_byte
                    or _CHOICE.search(condition.text or b"")
                ):
                    return True
            elif node.type == "case_item":
                value = node.child_by_field_name("value")
                if value is not None and _CHOICE.search(value.text or b""):
                    return True
            elif node.type == "list":
                left = node.child(0)
                operator = node.child(1)
                if left is not None and operator is not None:
                    caught = operator.type == "||" and left == child
                    tested = operator.type == "&&" and left != child
                    if caught or (tested and _is_test(left)):
                        return True
            child, node = node, node.parent
        return False

    def _commands(self, node: Node) -> Iterator[Command]:
        words = [
            child
            for child in node.named_children
            if child.type not in ("variable_assignment", "comment") and "redirect" not in child.type
        ]
        for _depth in range(_DEEPEST):
            if not words:
                return
            name = self.slice(words[0]).strip("\"'").rpartition("/")[2]
            arguments = words[1:]
            yield Command(
                name,
                tuple(self.slice(word).strip("\"'") for word in arguments),
                words[0].start_byte,
                words[-1].end_byte,
                tuple((word.start_byte, word.end_byte) for word in arguments),
            )
            if name not in _RUNNERS:
                return
            while arguments and re.match(rb"-|\w+=|\d", arguments[0].text or b""):
                arguments = arguments[1:]
            words = arguments

    def _assignments(self, node: Node) -> Iterator[Assignment]:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name is not None:
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


def _is_test(node: Node) -> bool:
    """Whether the last command of a chain tests for the GPU, its tools or the system."""
    last = node.named_children[-1] if node.type == "list" and node.named_children else node
    text = last.text or b""
    return bool(_TEST.match(text) and _CHOICE.search(text))
