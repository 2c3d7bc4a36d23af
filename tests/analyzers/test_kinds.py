"""Which documents a file is read as, by its name."""

import pytest

from analyzers.documents.kinds import document_for


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("train.py", {"PythonDocument"}),
        ("lib/dockerfile.py", {"PythonDocument"}),
        ("requirements/base.py", {"PythonDocument"}),
        ("ext/setup.py", {"PythonDocument", "PackagesDocument"}),
        ("notes.md", {"ProseDocument", "ShellDocument"}),
        ("data.bin", set()),
    ],
)
def test_a_file_is_read_as_what_its_name_says(path: str, names: set[str]) -> None:
    assert {kind.__name__ for kind in document_for(path)} == names
