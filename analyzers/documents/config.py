"""Settings in YAML: the configuration files of Hydra, Lightning, Accelerate and of the project."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from tree_sitter import Query, QueryCursor

from analyzers.documents.base import Document
from analyzers.documents.conda import CondaDocument
from analyzers.documents.yaml import YAML, Scalar, items, key_of, scalar

_PAIRS = Query(YAML, "[(block_mapping_pair) (flow_pair)] @pair")
#: Folders and names whose YAML speaks to a service and not to the program.
_SERVICE_FOLDERS = (".github", ".circleci", ".gitlab", ".azure-pipelines", ".buildkite")
_SERVICE_NAMES = (
    "docker-compose", "compose", ".gitlab-ci", ".travis", "appveyor", "azure-pipelines",
    ".pre-commit", "pnpm-lock", "mkdocs", "codecov", ".codecov", ".readthedocs", "meta", "cog",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """One value and the key that it, or the list that holds it, belongs to."""

    key: str
    value: Scalar


class ConfigDocument(Document):
    """A YAML file that is neither an environment nor written for a service."""

    language = YAML

    @classmethod
    def accepts(cls, path: str) -> bool:
        """YAML by its suffix, without environments, Compose files and CI workflows."""
        pure = PurePosixPath(path.lower())
        if pure.suffix not in (".yml", ".yaml") or CondaDocument.accepts(path):
            return False
        if any(folder in pure.parts for folder in _SERVICE_FOLDERS):
            return False
        stem = pure.name[: -len(pure.suffix)]
        return stem.split(".", 1)[0] not in _SERVICE_NAMES and not stem.startswith(
            tuple(name for name in _SERVICE_NAMES if name.startswith(".") or "-" in name)
        )

    def settings(self) -> Iterator[Setting]:
        """Every scalar that has a key, in the order of the text."""
        nodes = QueryCursor(_PAIRS).captures(self.root).get("pair", [])
        for pair in sorted(nodes, key=lambda node: node.start_byte):
            key, value = key_of(pair), pair.child_by_field_name("value")
            one = scalar(value)
            if one is not None:
                yield Setting(key, one)
                continue
            for item in items(value):
                member = scalar(item)
                if member is not None:
                    yield Setting(key, member)
