"""What people read: README and other documentation, and the scripts that it tells them to run."""

from pathlib import PurePosixPath

from analyzers.documents.base import Document

_SUFFIXES = (".md", ".markdown", ".rst", ".sh", ".bash", ".zsh", ".command")
_TEXTS = ("readme", "install", "setup", "building", "build", "faq", "getting")


class ProseDocument(Document):
    """Text, read as it stands."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """Markdown, reStructuredText, scripts, and plain texts that tell how to install."""
        pure = PurePosixPath(path.lower())
        if pure.suffix in _SUFFIXES:
            return True
        return pure.suffix in ("", ".txt") and pure.name.startswith(_TEXTS)
