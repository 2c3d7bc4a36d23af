"""Files that ask for Python packages, in whichever format."""

from collections.abc import Sequence
from functools import cached_property

from analyzers.documents import manifests
from analyzers.documents.base import name_of
from analyzers.documents.requirements import Line, RequirementsDocument
from project.translation import _

_NAMES = ("pyproject.toml", "pipfile", "setup.cfg", "setup.py", "tox.ini")


class PackagesDocument(RequirementsDocument):
    """A requirements file, or a manifest of a project."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Requirements files, and manifests by their names."""
        return name_of(path) in _NAMES or RequirementsDocument.accepts(path)

    @cached_property
    def _manifest(self) -> manifests.Manifest:
        return manifests.read(name_of(self.path), self.text)

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """Everything that the file asks for, in order."""
        return self._manifest.lines

    def extra(self, line: Line) -> str:
        """The optional group that a line belongs to; an empty string for what is always wanted."""
        return self._manifest.extras.get(line.start, "")

    def problems(self) -> Sequence[str]:
        """What of the file is not valid, or not a requirement."""
        if not self._manifest.valid:
            return (_("It is not valid TOML, or longer than such a file is."),)
        return super().problems()
