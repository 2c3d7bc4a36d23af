"""Which documents a file is read as."""

import importlib
import pkgutil
from functools import cache

from analyzers import documents
from analyzers.documents.base import Document
from analyzers.documents.packages import PackagesDocument
from analyzers.documents.python import PythonDocument

_PYTHON = (PythonDocument,)


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
    if path.endswith(".py") and not PackagesDocument.accepts(path):
        # Most files of a project: to ask each class for each of them takes longer than to read one.
        return _PYTHON
    return tuple(kind for kind in kinds() if kind.accepts(path))
