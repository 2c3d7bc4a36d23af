"""ELF: the programs and libraries of Linux, and the code that nvcc makes for a GPU.

pyelftools reads the headers. It trusts what they say, so it reads through a :class:`Bounded`.
"""

from collections.abc import Iterator
from itertools import islice
from typing import IO, Any, cast

from analyzers.binaries.bounded import Bounded
from analyzers.binaries.document import Fact

#: Headers and entries of tables that are looked at.
_MOST = 4096
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
    from elftools.elf.dynamic import DynamicSegment
    from elftools.elf.elffile import ELFFile
    from elftools.elf.segments import InterpSegment

    elf = ELFFile(cast("IO[bytes]", file))
    yield "type", _TYPES.get(str(elf["e_type"]), "other")
    yield "machine", _MACHINES.get(str(elf["e_machine"]), "other")
    system = str(elf["e_ident"]["EI_OSABI"])
    yield "system", "linux" if system in ("ELFOSABI_SYSV", "ELFOSABI_LINUX") else "other"
    for segment in islice(elf.iter_segments(), _MOST):
        if isinstance(segment, InterpSegment):
            yield "loader", str(segment.get_interp_name())
        elif isinstance(segment, DynamicSegment):
            tag: Any  # has what its kind calls for as attributes
            for tag in islice(segment.iter_tags(), _MOST):
                if tag.entry.d_tag == "DT_NEEDED":
                    yield "needs", str(tag.needed)
                elif tag.entry.d_tag == "DT_SONAME":
                    yield "name", str(tag.soname)
    for section in islice(elf.iter_sections(), _MOST):
        if section.name in _DEVICE_CODE:
            yield "device-code", section.name
        elif section.name == ".note.android.ident":
            yield "system", "android"
