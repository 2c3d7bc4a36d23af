"""Definition files of Apptainer and Singularity."""

import re
from collections.abc import Iterator

from analyzers.documents.base import Document
from analyzers.documents.dockerfile import Image

_HEADER = re.compile(rb"(?m)^[ \t]*(?i:from)[ \t]*:[ \t]*(\S+)[ \t]*\r?$")
_BOOTSTRAP = re.compile(rb"(?mi)^[ \t]*bootstrap[ \t]*:")


class ApptainerDocument(Document):
    """A definition of a container image for clusters."""

    @classmethod
    def accepts(cls, path: str) -> bool:
        """``*.def``, and files that are called Singularity."""
        name = path.lower().rpartition("/")[2]
        return name.endswith(".def") or name == "singularity" or name.startswith("singularity.")

    def images(self) -> Iterator[Image]:
        """The image of each stage; none in a file that is something else."""
        if not self.says(_BOOTSTRAP):
            return
        for match in _HEADER.finditer(self.text):
            name = match[1].decode("utf-8", "replace")
            yield Image(name, name, match.start(1), match.end(1))
