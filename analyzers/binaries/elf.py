"""ELF: the programs and libraries of Linux, and the code that nvcc makes for a GPU.

pyelftools reads the headers, one at a time and through a :class:`Bounded`, since it trusts them.
"""

from collections.abc import Iterator, Sequence
from typing import IO, Any, cast

from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import Fact

#: Headers and entries of tables that are looked at, and bytes of a name.
_MOST, _LONGEST = 4096, 256
_NAMES = {"DT_NEEDED": "needs", "DT_SONAME": "name"}
_TYPES = {"ET_REL": "object file", "ET_EXEC": "program", "ET_DYN": "shared object"}
_MACHINES = {
    "EM_X86_64": "x86-64",
    "EM_386": "x86",
    "EM_AARCH64": "arm64",
    "EM_PPC64": "ppc64",
    "EM_CUDA": "cuda",
}
#: Sections in which nvcc puts device code into a host's object.
_DEVICE_CODE = frozenset({".nv_fatbin", ".nvFatBinSegment", "__nv_relfatbin"})


def facts(file: Bounded) -> Iterator[Fact]:
    """What it is, for which machine, what it needs, and whether it holds code for a GPU."""
    from elftools.elf.elffile import ELFFile

    elf = ELFFile(cast("IO[bytes]", file))
    yield "type", _TYPES.get(str(elf["e_type"]), "other")
    yield "machine", _MACHINES.get(str(elf["e_machine"]), "other")
    system = str(elf["e_ident"]["EI_OSABI"])
    yield "system", "linux" if system in ("ELFOSABI_SYSV", "ELFOSABI_LINUX") else "other"
    segments = list(_table(elf, elf.structs.Elf_Phdr, "e_phoff", "e_phnum", "e_phentsize"))
    for segment in segments:
        if segment["p_type"] == "PT_INTERP":
            yield "loader", _string(file, segment["p_offset"])
        elif segment["p_type"] == "PT_DYNAMIC":
            yield from _dynamic(elf, file, segment, segments)
    sections = list(_table(elf, elf.structs.Elf_Shdr, "e_shoff", "e_shnum", "e_shentsize"))
    names = sections[elf["e_shstrndx"]]["sh_offset"] if sections else 0
    for section in sections:
        name = _string(file, names + section["sh_name"])
        if name in _DEVICE_CODE:
            yield "device-code", name
        elif name == ".note.android.ident":
            yield "system", "android"


def _table(elf: Any, structure: Any, offset: str, count: str, size: str) -> Iterator[Any]:
    """The headers of a table. Its objects would read hash tables as large as they say they are."""
    from elftools.common.utils import struct_parse

    if elf[offset] and elf[count] > _MOST:
        raise TooMuch
    for number in range(elf[count] if elf[offset] else 0):
        yield struct_parse(structure, elf.stream, elf[offset] + number * elf[size])


def _dynamic(elf: Any, file: Bounded, segment: Any, segments: Sequence[Any]) -> Iterator[Fact]:
    """The libraries that a dynamic segment names."""
    from elftools.common.utils import struct_parse

    file.seek(segment["p_offset"])
    entries = []
    for _each in range(_MOST):
        entry = struct_parse(elf.structs.Elf_Dyn, elf.stream)
        if entry["d_tag"] == "DT_NULL":
            break
        entries.append((entry["d_tag"], entry["d_val"]))
    address = dict(entries).get("DT_STRTAB", 0)
    for load in segments:
        if load["p_type"] == "PT_LOAD" and 0 <= address - load["p_vaddr"] < load["p_filesz"]:
            table = load["p_offset"] + address - load["p_vaddr"]
            break
    else:
        return
    for tag, value in entries:
        if tag in _NAMES:
            yield _NAMES[tag], _string(file, table + value)


def _string(file: Bounded, place: int) -> str:
    file.seek(place)
    return file.read(_LONGEST).partition(b"\0")[0].decode("utf-8", "replace")
