"""What a rewrite rule gets and gives."""

from collections.abc import Callable
from dataclasses import dataclass

from packaging.version import Version

from analyzers.documents.python import PythonDocument
from project.vocabulary import NEWEST, Edit, Finding, Fix


@dataclass(frozen=True, slots=True)
class Draft:
    """The edits that fix one finding, in offsets of the document's text.

    ``why`` is one translated sentence that says what was chosen and for which reason.
    """

    edits: tuple[Edit, ...]
    fix: Fix
    why: str


@dataclass(frozen=True, slots=True)
class Context:
    """One finding in its document, and whether a new helper may be added to the file.

    ``style`` is ``inline`` or ``helper``: what to write where no device is in scope. ``torch`` is
    the PyTorch release asked about: what is written may use nothing newer.
    """

    finding: Finding
    document: PythonDocument
    style: str
    torch: str = NEWEST

    def has(self, release: str) -> bool:
        """Whether the release asked about is at least ``release`` (``"2.5"``)."""
        return Version(self.torch) >= Version(release)


#: A rewrite: ``rewrite`` in ``rewriters/rules/NAME.py``; None where the place has no good answer.
Rewrite = Callable[[Context], Draft | None]
