"""Which documents a file is read as."""

import importlib
import pkgutil
from functools import cache

from analyzers import documents
from analyzers.documents.base import Document


@cache
def kinds() -> tuple[type[Document], ...]:
    """Every document class, found by walking the package."""
    found: list[type[Document]] = []
    for info in sorted(pkgutil.iter_modules(documents.__path__), key=lambda one: one.name):
        module = importlib.import_module(f"{documents.__name__}.{info.name}")
        found.extend(
            value
            for value in vars(module).values()
            if isinstance(value, type)
            and issubclass(value, Document)
            and value is not Document
            and value.__module__ == module.__name__
        )
    return tuple(found)


def document_for(path: str) -> tuple[type[Document], ...]:
    """The classes that read this file, by its name alone."""
    if path.endswith(".py"):
        # Most files of a project; for these the folder does not matter.
        return _for_python(path.rpartition("/")[2])
    return tuple(kind for kind in kinds() if kind.accepts(path))


@cache
def _for_python(name: str) -> tuple[type[Document], ...]:
    return tuple(kind for kind in kinds() if kind.accepts(name))
