"""Binaries, examined by their content: nothing of one is run, imported or unpickled.

:func:`kind_of` says what a file is. A reader per kind turns it into facts, reading no more than a
bounded part, and the rules that read a :class:`~analyzers.binaries.document.BinaryDocument` find
in these what depends on CUDA.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from analyzers.binaries import archive, elf, gpu, macho, onnx, pe, pickled
from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import MOST, BinaryDocument, Fact, source_of
from analyzers.binaries.kinds import HEAD, kind_of
from analyzers.examine import FileReport, findings_in
from analyzers.rule import Rule
from project import files
from project.translation import N_, _
from project.vocabulary import Skipped

__all__ = ["examine", "kind_of", "look"]

#: Bytes that are read of a program's headers.
_HEADERS = 4 << 20


def _bounded(read: Callable[[Bounded], Iterator[Fact]]) -> Callable[[IO[bytes]], Iterator[Fact]]:
    return lambda file: read(Bounded(file, _HEADERS))


def _fatbin(file: IO[bytes]) -> Iterator[Fact]:
    yield "device-code", "fatbin"


_READERS: dict[str, Callable[[IO[bytes]], Iterator[Fact]]] = {
    "elf": _bounded(elf.facts),
    "macho": _bounded(macho.facts),
    "pe": _bounded(pe.facts),
    "wheel": archive.wheel_facts,
    "checkpoint-zip": archive.checkpoint_facts,
    "checkpoint": pickled.facts,
    "pickle": pickled.facts,
    "onnx": onnx.facts,
    "ptx": gpu.ptx_facts,
    "fatbin": _fatbin,
    "tensorrt": gpu.tensorrt_facts,
}
#: Kinds that hold something which nobody looks into.
_UNREAD = {
    "archive": N_("an archive, which is not looked into"),
    "zip": N_("an archive, which is not looked into"),
    "static-library": N_("a static library, which is not looked into"),
    "git-lfs": N_("a pointer of Git LFS: the content is not here"),
}


def look(root: Path, path: str, chosen: Sequence[Rule[Any]]) -> FileReport | None:
    """What can be said of a file that is no text: None when it is nothing of interest.

    Args:
        root: the project's directory.
        path: the file, relative to it.
        chosen: the rules to apply; those for other documents are passed over.
    """
    with files.opened(root, path) as file:
        if isinstance(file, Skipped):
            return FileReport(path, skipped=(file,), read=False)
        try:
            kind = kind_of(file.read(HEAD), path)
            if kind is None:
                return None
            file.seek(0)
            return examine(path, file, os.fstat(file.fileno()).st_size, chosen)
        except OSError as error:
            reason = _("unreadable: {reason}").format(reason=error.strerror)
            return FileReport(path, skipped=(Skipped(path, reason),), read=False)


def examine(path: str, file: IO[bytes], size: int, chosen: Sequence[Rule[Any]]) -> FileReport:
    """The findings of one binary.

    Args:
        path: its path in the project.
        file: the file, at its beginning.
        size: its length in bytes.
        chosen: the rules to apply; those for other documents are passed over.
    """
    kind = kind_of(file.read(HEAD), path)
    file.seek(0)
    if kind in _UNREAD:
        return FileReport(path, skipped=(Skipped(path, _(_UNREAD[kind])),), read=False)
    reader = _READERS.get(kind or "")
    if reader is None:
        return FileReport(path)
    facts: dict[Fact, None] = {("kind", str(kind)): None}
    problem = ""
    try:
        for fact in reader(file):
            facts[fact] = None
            if len(facts) > MOST:
                raise TooMuch
    except TooMuch:
        problem = _("Only a part of it was read: it is too large, or has too many parts.")
    except OSError:
        raise
    except Exception:
        # What a parser raises on a damaged file is anybody's guess, and all mean the same.
        problem = _("It is damaged, or not what it seems: only a part of it was read.")
    document = BinaryDocument(source_of(path, facts))
    mine = [one for one in chosen if one.reads is BinaryDocument]
    return FileReport(
        path,
        tuple(findings_in(document, mine)),
        (Skipped(path, problem),) if problem else (),
    )
