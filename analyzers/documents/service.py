"""YAML and JSON that tell a service how to run the program: Compose, CI, Kubernetes, Cog."""

import re
from collections.abc import Iterator
from enum import Enum

from tree_sitter import Node

from analyzers.documents.base import Document, Source, name_of
from analyzers.documents.conda import CondaDocument
from analyzers.documents.settings import Setting, language_of, settings_around
from analyzers.documents.shell_carriers import is_workflow
from analyzers.documents.syntax import parse


class Service(Enum):
    """Who reads a file."""

    COMPOSE = "compose"
    WORKFLOW = "workflow"
    COG = "cog"
    DEV_CONTAINER = "dev container"
    OTHER = "other"


class ServiceDocument(Document):
    """A file that a service reads; YAML of other names may be for Kubernetes."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.language = language_of(source.path)

    @classmethod
    def accepts(cls, path: str) -> bool:
        """YAML that is no conda environment, and the settings of dev containers."""
        name = name_of(path)
        if name.endswith((".yml", ".yaml")):
            return not CondaDocument.accepts(path)
        return name in ("devcontainer.json", ".devcontainer.json")

    def parsed(self) -> Node:
        """Parse the text, which may be nested without end."""
        assert self.language is not None
        return parse(self.language, self.text)

    @property
    def service(self) -> Service:
        """Who reads this file, by its name."""
        name = name_of(self.path)
        if name.endswith(".json"):
            return Service.DEV_CONTAINER
        if name.startswith(("docker-compose", "compose")):
            return Service.COMPOSE
        if name in ("cog.yaml", "cog.yml"):
            return Service.COG
        return Service.WORKFLOW if is_workflow(self.path) else Service.OTHER

    def settings(self, words: re.Pattern[bytes]) -> Iterator[Setting]:
        """The settings whose key or value holds one of the words, in the order of the text."""
        return settings_around(self.root, self.text, words)
