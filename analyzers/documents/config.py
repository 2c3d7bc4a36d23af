"""Settings of the program: the configuration files of Hydra, Lightning, Accelerate and its own."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from tree_sitter import Node

from analyzers.documents.base import Document, Source
from analyzers.documents.conda import CondaDocument
from analyzers.documents.settings import Setting, ini_settings, language_of, settings_around
from analyzers.documents.syntax import parse

#: Folders and names whose YAML speaks to a service and not to the program.
_SERVICE_FOLDERS = (".github", ".circleci", ".gitlab", ".azure-pipelines", ".buildkite")
_SERVICE_NAMES = (
    "docker-compose", "compose", ".gitlab-ci", ".travis", "appveyor", "azure-pipelines",
    ".pre-commit", "pnpm-lock", "mkdocs", "codecov", ".codecov", ".readthedocs", "meta", "cog",
)  # fmt: skip
#: What speaks to a packager or an editor.
_TOOLS = ("pyproject", "cargo", "pipfile", "setup", "tox", "package", "tsconfig", "devcontainer")
#: Most JSON is data, and a record of a run names its device too: only what is called settings.
_JSON_NAME = re.compile(r"conf|cfg|setting|param|args?\b|deepspeed|\bds_|accelerate|options?\b")


class ConfigDocument(Document):
    """A file of settings in YAML, JSON, TOML or INI that the program itself reads."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.language = language_of(source.path)

    @classmethod
    def accepts(cls, path: str) -> bool:
        """By its suffix, without environments, lock files, and what a service or tool reads."""
        pure = PurePosixPath(path.lower())
        stem = pure.name[: -len(pure.suffix)] if pure.suffix else pure.name
        if any(folder in pure.parts for folder in _SERVICE_FOLDERS):
            return False
        if pure.suffix in (".yml", ".yaml"):
            return not CondaDocument.accepts(path) and not _for_a_service(stem)
        if stem.split(".", 1)[0].split("-", 1)[0] in _TOOLS or ".vscode" in pure.parts:
            return False
        if pure.suffix in (".json", ".jsonc"):
            return bool(_JSON_NAME.search("/".join(pure.parts[-2:]))) and "vocab" not in stem
        return pure.suffix in (".toml", ".ini", ".cfg", ".conf")

    def parsed(self) -> Node:
        """Parse the text, which may be nested without end."""
        assert self.language is not None
        return parse(self.language, self.text)

    def settings(self, words: re.Pattern[bytes]) -> Iterator[Setting]:
        """Every setting whose key or value holds one of the words, in the order of the text."""
        if self.language is not None:
            return settings_around(self.root, self.text, words)
        found = ini_settings(self.text)
        return (
            one
            for one in found
            if words.search(self.text, one.at_key[0], one.value.end) is not None
        )


def _for_a_service(stem: str) -> bool:
    return stem.split(".", 1)[0] in _SERVICE_NAMES or stem.startswith(
        tuple(name for name in _SERVICE_NAMES if name.startswith(".") or "-" in name)
    )
