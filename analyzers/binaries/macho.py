"""Mach-O: the programs and libraries of macOS.

Only the load commands are read. macholib would do that too, and reads every section's data with
them: as much memory as the file says, several times over if its sections overlap.

Source: ``mach-o/loader.h`` and ``mach-o/fat.h`` of macOS.
"""

import struct
from collections.abc import Iterator

from analyzers.binaries.bounded import Bounded
from analyzers.binaries.document import Fact

_MACHINES = {7: "x86", 0x01000007: "x86_64", 12: "arm", 0x0100000C: "arm64", 18: "ppc"}
_TYPES = {1: "object file", 2: "program", 6: "shared object", 8: "bundle"}
_LOADS = frozenset({0xC, 0x18, 0x1F, 0x20, 0x23})
_ID = 0xD
_PLATFORM, _MACOS_MINIMUM = 0x32, 0x24
_OTHER_MINIMUM = frozenset({0x25, 0x2F, 0x30})
_COMMANDS = 1 << 20


def facts(file: Bounded) -> Iterator[Fact]:
    """What it is, for which machines, and which libraries it loads."""
    for start in _slices(file):
        file.seek(start)
        yield from _slice(file)


def _slices(file: Bounded) -> list[int]:
    """Where the file for each machine begins."""
    magic, count = struct.unpack(">II", file.exactly(8))
    if magic == 0xCAFEBABE:
        return [
            int(struct.unpack(">IIIII", file.exactly(20))[2]) for _each in range(min(count, 32))
        ]
    if magic == 0xCAFEBABF:
        return [
            int(struct.unpack(">IIQQII", file.exactly(32))[2]) for _each in range(min(count, 32))
        ]
    return [0]


def _slice(file: Bounded) -> Iterator[Fact]:
    magic = file.exactly(4)
    order = "<" if magic in (b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe") else ">"
    if magic not in (b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf") and order == ">":
        raise ValueError("no Mach-O header")
    machine, _subtype, kind, _count, size, _flags = struct.unpack(
        order + "IIIIII", file.exactly(24)
    )
    if b"\xcf" in magic:
        file.exactly(4)
    yield "machine", _MACHINES.get(machine, "other")
    yield "type", _TYPES.get(kind, "other")
    commands = file.read(min(size, _COMMANDS))
    at = 0
    while at + 8 <= len(commands):
        command, length = struct.unpack_from(order + "II", commands, at)
        if length < 8:
            break
        yield from _command(order, command & 0x7FFFFFFF, commands[at : at + length])
        at += length


def _command(order: str, command: int, data: bytes) -> Iterator[Fact]:
    if command in _LOADS or command == _ID:
        (start,) = struct.unpack_from(order + "I", data, 8)
        name = data[start:].partition(b"\0")[0].decode("utf-8", "replace")
        yield "name" if command == _ID else "needs", name
    elif command == _PLATFORM:
        (platform,) = struct.unpack_from(order + "I", data, 8)
        yield "system", "macos" if platform == 1 else "other"
    elif command == _MACOS_MINIMUM:
        yield "system", "macos"
    elif command in _OTHER_MINIMUM:
        yield "system", "other"
