"""Requirement and constraint files, as pip reads them.

Every offset counts in the file's bytes: continuation lines are joined by blanks of the same
length, so that nothing has to be mapped back.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import PurePosixPath

from packaging.requirements import InvalidRequirement, Requirement

from analyzers.documents.base import Document
from project.translation import _

_NAME = re.compile(r"(?:.*[-_.])?(?:requirements?|constraints?|reqs)(?:[-_.].*)?\.(?:txt|in)\Z")
_FOLDERS = ("requirements", "requirement", "reqs")
_PHYSICAL = re.compile(rb"([^\r\n]*)(\r\n|\r|\n|\Z)")
_COMMENT = re.compile(rb"(?:^|\s)#")
_COMMENT_LINE = re.compile(rb"\s*#")
_TOKEN = re.compile(r"\"[^\"]*\"|'[^']*'|\S+")
_LINE_OPTIONS = re.compile(r"\s(?=--?[A-Za-z])")
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*://|file:|[./~\\]|[A-Za-z]:[\\/]|\$\{")
_ARCHIVE = re.compile(r"\S+\.(?:whl|zip|tar\.gz|tar\.bz2|tgz)\Z", re.IGNORECASE)
#: Options that stand alone; every other one takes a value.
_SWITCHES = ("--no-index", "--pre", "--prefer-binary", "--require-hashes")
#: Longer than any line that a person or pip writes for one requirement.
_LONGEST = 20_000
#: Python refuses to read a number with more than 4,300 digits.
_NO_NUMBER = re.compile(r"\d{1000}")


@dataclass(frozen=True, slots=True)
class Entry:
    """A requirement by name: ``torch==2.1; sys_platform == "linux"`` without hashes or comment."""

    requirement: Requirement
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Option:
    """An option of the file: ``-r``, ``-c``, ``-e``, ``--index-url``, and the like."""

    name: str
    value: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Address:
    """A requirement by URL or path alone."""

    url: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A line that is none of these, such as a version that the standard does not allow."""

    content: str
    start: int
    end: int


Line = Entry | Option | Address | Unreadable


def parse_line(content: str, start: int) -> Iterator[Line]:
    """Read one logical line without its comment; ``start`` is the offset of its first byte.

    ``content`` has one character for each byte, as Latin-1 does.
    """
    stripped = content.strip()
    start += len(content) - len(content.lstrip())
    if not stripped:
        return
    if stripped.startswith("-"):
        yield from _options(stripped, start)
        return
    cut = _LINE_OPTIONS.search(stripped)
    body = stripped[: cut.start()].rstrip() if cut is not None else stripped
    end = start + len(body)
    if _ADDRESS.match(body) or _ARCHIVE.match(body):
        yield Address(body, start, end)
        return
    wanted = requirement(body)
    if wanted is not None:
        yield Entry(wanted, start, end)
        return
    yield Unreadable(body, start, end)


@lru_cache(maxsize=4096)
def requirement(text: str) -> Requirement | None:
    """A requirement as the standard reads it, or None where it is none, or is longer than any."""
    if len(text) > _LONGEST or _NO_NUMBER.search(text):
        return None
    try:
        return Requirement(text)
    except (InvalidRequirement, RecursionError):
        return None


def _options(content: str, start: int) -> Iterator[Option]:
    tokens = list(_TOKEN.finditer(content))
    index = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        name, value, end = token[0], "", token.end()
        if name.startswith("--"):
            name, _sign, value = name.partition("=")
        elif len(name) > 2:
            name, value = name[:2], name[2:].lstrip("=")
        if not value and name not in _SWITCHES and index < len(tokens):
            value, end = tokens[index][0], tokens[index].end()
            index += 1
        yield Option(name, value.strip("\"'"), start + token.start(), start + end)


def parse(text: bytes) -> Iterator[Line]:
    """Read a whole file."""
    for start, line in _logical(text):
        comment = _COMMENT.search(line)
        content = line[: comment.start()] if comment is not None else line
        yield from parse_line(content.decode("latin-1"), start)


def _logical(text: bytes) -> Iterator[tuple[int, bytes]]:
    begin = 3 if text.startswith(b"\xef\xbb\xbf") else 0
    parts: list[bytes] = []
    for match in _PHYSICAL.finditer(text, begin):
        line, end = match[1], match[2]
        # A comment ends a continuation, and its own backslash means nothing.
        if line.endswith(b"\\") and not _COMMENT_LINE.match(line):
            parts.append(line[:-1] + b" " * (1 + len(end)))
            if end:
                continue
        else:
            parts.append(line)
        yield begin, b"".join(parts)
        parts.clear()
        begin = match.end()


class RequirementsDocument(Document):
    """A requirements or constraints file."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """By the usual names: ``requirements-dev.txt``, ``requirements/cuda.txt``, ``*.in``."""
        pure = PurePosixPath(path.lower())
        if _NAME.fullmatch(pure.name):
            return True
        return pure.suffix in (".txt", ".in") and pure.parent.name in _FOLDERS

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Everything that the file asks for, in order."""
        return tuple(parse(self.text))

    def problems(self) -> Sequence[str]:
        """The first line that is no requirement, and how many there are."""
        bad = [line for line in self.lines if isinstance(line, Unreadable)]
        if not bad:
            return ()
        number, _column = self.source.position(bad[0].start)
        message = _("{count} lines are no requirements that pip reads, the first is line {line}.")
        return (message.format(count=len(bad), line=number),)
