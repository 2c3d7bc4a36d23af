"""Libraries that need CUDA, or are taken to need it: what each does on a Mac.

A dated table, because it rots: bitsandbytes was CUDA only and is no more. ``basis`` says how far a
row can be trusted. For ``index`` rows the package index was asked for macOS arm64 wheels on the
date of the row (``benchmarks/check_libraries.py`` asks again); ``documentation`` rows repeat what
the project's own installation notes or build script said on that date. Nothing here was run on
a Mac.

A name alone decides, so the table lists what is taken from a library and not what it could do:
``numba`` works on a Mac, ``numba.cuda`` does not.
"""

import re
from functools import cache

from analyzers.libraries import arrays, language, monitoring, spatial, training, vision
from analyzers.libraries.row import CHECKED, Backend, Basis, Library, OnMac, Wheel

__all__ = [
    "CHECKED",
    "LIBRARIES",
    "Backend",
    "Basis",
    "Library",
    "OnMac",
    "Wheel",
    "distribution",
    "has_suffix",
    "import_names",
    "imported",
    "rows",
    "without_suffix",
]

LIBRARIES: tuple[Library, ...] = (
    *language.ROWS,
    *arrays.ROWS,
    *training.ROWS,
    *spatial.ROWS,
    *vision.ROWS,
    *monitoring.ROWS,
)

#: What is appended to a name to say which CUDA a wheel is built for.
_SUFFIX = re.compile(r"-?(?:cu|cuda)\d+x?\Z")


def rows() -> tuple[Library, ...]:
    """The whole table, by name."""
    return tuple(sorted(LIBRARIES, key=lambda row: row.name.lower()))


def without_suffix(distribution: str) -> str:
    """A canonical name without its CUDA suffix: ``cupy-cuda12x`` is ``cupy``."""
    return _SUFFIX.sub("", distribution)


def has_suffix(distribution: str) -> bool:
    """Whether a canonical name says which CUDA it is built for."""
    return _SUFFIX.search(distribution) is not None


@cache
def _by_distribution() -> dict[str, Library]:
    return {name: row for row in LIBRARIES for name in row.distributions}


@cache
def _by_import() -> dict[str, Library]:
    return {name: row for row in LIBRARIES for name in row.imports}


def distribution(name: str) -> Library | None:
    """The row of a canonical distribution name, with or without a CUDA suffix.

    A build for CUDA of a library that works on a Mac is not that library: it has no row.
    """
    row = _by_distribution().get(name)
    if row is not None:
        return row
    row = _by_distribution().get(without_suffix(name))
    return row if row is not None and row.on_mac is not OnMac.WORKS else None


def imported(module: str) -> tuple[str, Library] | None:
    """The row of an imported module, or of the package that it lies in, and the name in it."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        name = ".".join(parts[:length])
        row = _by_import().get(name)
        if row is not None:
            return name, row
    return None


def import_names() -> tuple[str, ...]:
    """The first part of the name of every module in the table that gives a Mac trouble."""
    return tuple(
        sorted(
            {
                name.split(".")[0]
                for name, row in _by_import().items()
                if row.on_mac is not OnMac.WORKS
            }
        )
    )
