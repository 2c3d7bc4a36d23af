"""What a command that installs packages asks for, and which of it a Mac has not."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from analyzers.documents.requirements import Option, Unreadable, parse_line
from analyzers.documents.shell import Command
from analyzers.environment import Trouble, conda_trouble, index_trouble, line_trouble
from project.translation import _
from project.vocabulary import Severity

_PIP = re.compile(r"(?:pip|pip\d(?:\.\d+)?|pipx|\$\{?PIP\}?|\$\(PIP\))\Z")
_PYTHON = re.compile(r"(?:python|python\d(?:\.\d+)?|py|\$\{?PYTHON\}?|\$\(PYTHON\))\Z")
_CONDA = ("conda", "mamba", "micromamba")
_INDEX_OPTIONS = (
    "-i", "--index-url", "--extra-index-url", "-f", "--find-links", "--index", "--default-index",
)  # fmt: skip
_PIP_VALUES = (
    *_INDEX_OPTIONS,
    "-r", "--requirement", "-c", "--constraint", "-t", "--target", "--platform", "--prefix",
    "--python-version", "--abi", "--root", "--src", "--python", "-p", "--no-binary",
    "--only-binary", "--cache-dir", "--timeout", "--retries", "--proxy", "--trusted-host",
    "--group", "-G", "--extra", "--source", "--config-settings", "--global-option",
)  # fmt: skip
_CONDA_VALUES = ("-n", "--name", "-p", "--prefix", "--file", "-f", "--solver", "--override")
_EDITABLE = ("-e", "--editable")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of a command, and why a Mac cannot take it."""

    start: int
    end: int
    trouble: Trouble


Words = list[tuple[str, int, int]]


def troubles(command: Command) -> Iterator[Wanted]:
    """Everything that pip, uv, poetry or conda is told to install and a Mac has not."""
    words: Words = [
        (text, *span) for text, span in zip(command.arguments, command.spans, strict=True)
    ]
    if _PYTHON.match(command.name):
        if [word[0] for word in words[:2]] != ["-m", "pip"]:
            return
        yield from _pip(words[2:])
    elif _PIP.match(command.name):
        yield from _pip(words)
    elif command.name == "uv":
        yield from _pip(words[1:] if words[:1] and words[0][0] == "pip" else words)
    elif command.name in ("poetry", "pdm", "pipenv"):
        yield from _pip(words)
    elif command.name in _CONDA:
        yield from _conda(words)


def _pip(words: Words) -> Iterator[Wanted]:
    if not words or words[0][0] not in ("install", "add"):
        return
    for name, value, start, end in _read(words[1:], _PIP_VALUES):
        if name in _INDEX_OPTIONS:
            trouble = index_trouble(Option(name, value, start, end))
            if trouble is not None:
                yield Wanted(start, end, trouble)
        elif not name or name in _EDITABLE:
            for line in parse_line(value, start):
                trouble = None if isinstance(line, Option) else line_trouble(line)
                if isinstance(line, Unreadable) and "+" not in value:
                    continue
                if trouble is not None:
                    yield Wanted(start, end, trouble)


def _conda(words: Words) -> Iterator[Wanted]:
    if not words or words[0][0] not in ("install", "create", "update"):
        return
    for name, value, start, end in _read(words[1:], (*_CONDA_VALUES, "-c", "--channel")):
        if name in ("-c", "--channel"):
            if value.rpartition("/")[2].lower() == "nvidia":
                message = _("The channel nvidia serves CUDA's own packages: a Mac needs none.")
                yield Wanted(start, end, Trouble(message, Severity.COSMETIC))
        elif not name:
            trouble = conda_trouble(value)
            if trouble is not None:
                yield Wanted(start, end, trouble)


def _read(words: Words, valued: tuple[str, ...]) -> Iterator[tuple[str, str, int, int]]:
    """Options with their values, and under an empty name everything else."""
    index = 0
    while index < len(words):
        text, start, end = words[index]
        index += 1
        if not text.startswith("-"):
            yield "", text, start, end
            continue
        name, sign, value = text.partition("=")
        if not sign and (name in valued or name in _EDITABLE) and index < len(words):
            value, end = words[index][0], words[index][2]
            index += 1
        yield name, value, start, end
