"""PE: the programs and libraries of Windows, of which only the import tables are read.

Source: https://learn.microsoft.com/en-us/windows/win32/debug/pe-format
"""

import struct
from collections.abc import Callable, Iterator

from analyzers.binaries.bounded import Bounded
from analyzers.binaries.document import Fact

_IMPORTS, _DELAYED = 1, 13
#: Sections, and entries of an import table, that are looked at.
_MOST = 512


def facts(file: Bounded) -> Iterator[Fact]:
    """The libraries that it needs."""
    file.seek(0x3C)
    (start,) = struct.unpack("<I", file.exactly(4))
    file.seek(start)
    if file.exactly(4) != b"PE\0\0":
        return  # a program for DOS
    _machine, count, _time, _symbols, _number, size, _flags = struct.unpack(
        "<HHIIIHH", file.exactly(20)
    )
    header = file.exactly(size)
    sections = [struct.unpack("<8sIIII16s", file.exactly(40)) for _each in range(min(count, _MOST))]
    tables = 112 if header[:2] == b"\x0b\x02" else 96

    def place(address: int) -> int:
        for _name, extent, begin, length, offset, _rest in sections:
            if begin <= address < begin + max(extent, length):
                return int(offset + address - begin)
        raise ValueError("an address outside the file")

    for table, width, field in ((_IMPORTS, 20, 12), (_DELAYED, 32, 4)):
        if len(header) >= tables + 8 * (table + 1):
            (address,) = struct.unpack_from("<I", header, tables + 8 * table)
            if address:
                yield from _imports(file, place, place(address), width, field)


def _imports(
    file: Bounded, place: Callable[[int], int], start: int, width: int, field: int
) -> Iterator[Fact]:
    for number in range(_MOST):
        file.seek(start + number * width)
        (name,) = struct.unpack_from("<I", file.exactly(width), field)
        if not name:
            return
        file.seek(place(name))
        yield "needs", file.read(256).partition(b"\0")[0].decode("ascii", "replace")
