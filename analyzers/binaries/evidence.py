"""What in the facts of a binary speaks of CUDA, for the rules that ask."""

from collections.abc import Sequence

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.nvidia import is_cuda_library

_SHOWN = 5


def cuda_evidence(document: BinaryDocument) -> list[str]:
    """NVIDIA's libraries that a program needs or is, and the code for a GPU that it holds."""
    if document.kind not in ("elf", "macho", "pe"):
        return []
    named = (*document.all("name"), *document.all("needs"))
    libraries = dict.fromkeys(name for name in named if is_cuda_library(name))
    return [*libraries, *document.all("device-code")[:1]]


def listed(values: Sequence[str]) -> str:
    """The first few of some names, and how many more there are."""
    more = len(values) - _SHOWN
    return ", ".join(values[:_SHOWN]) + (f", +{more}" if more > 0 else "")
