"""What a row of the table of libraries is."""

from dataclasses import dataclass
from enum import Enum

#: The day on which the index and the projects' own pages were last read.
CHECKED = "2026-11-30"


class OnMac(Enum):
    """What a library is good for on a Mac with Apple Silicon."""

    CUDA_ONLY = "needs CUDA"
    PARTIAL = "installs, without what CUDA gives it"
    WORKS = "works"


class Backend(Enum):
    """What of a Mac a library computes on."""

    NONE = "nothing"
    CPU = "the CPU"
    MPS = "MPS, through PyTorch"
    OWN = "the GPU, through a backend of its own"


class Wheel(Enum):
    """What the package index offers to a Mac with arm64."""

    NATIVE = "a wheel for macOS arm64"
    ANY = "a wheel for any platform"
    NONE = "no wheel"
    NOTHING = "neither a wheel nor a source"


class Basis(Enum):
    """Where a row's state comes from."""

    INDEX = "package index"
    DOCUMENTATION = "documentation"


@dataclass(frozen=True, slots=True)
class Library:
    """One row: names to install and to import, and the state on a Mac.

    ``distributions`` are canonical names without a CUDA suffix such as ``-cu12``, and ``imports``
    the modules that need what the row says. ``state`` and ``instead`` are marked for translation.
    ``source`` is where the state is described; ``index`` what the package index answered for the
    first of the distributions, where it was asked. ``since`` is the first version that works on
    a Mac.
    """

    distributions: tuple[str, ...]
    imports: tuple[str, ...]
    on_mac: OnMac
    backend: Backend
    state: str
    instead: str
    source: str
    index: Wheel | None = None
    since: str = ""
    checked: str = CHECKED

    @property
    def name(self) -> str:
        """What people call it: the name to install, or the module where there is none."""
        return (*self.distributions, *self.imports)[0]

    @property
    def basis(self) -> Basis:
        """Whether the index was asked, or the documentation read alone."""
        return Basis.DOCUMENTATION if self.index is None else Basis.INDEX
