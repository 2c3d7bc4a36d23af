"""What checks saw: records addressed by their content, which nothing changes afterwards."""

from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from project import blobs, records
from project.translation import _
from project.vocabulary import Evidence, On, Result

_FIELDS = frozenset(one.name for one in fields(Evidence))


def identity(evidence: Evidence) -> str:
    """The id of a piece of evidence: the SHA-256 of the canonical JSON of everything else."""
    return blobs.digest(records.canonical(_content(evidence)).encode("ascii"))


class EvidenceStore:
    """The evidence on a project.

    ``damaged`` names, after :meth:`all`, the records that were left out and why. Reading writes
    nothing.
    """

    def __init__(self, state: Path) -> None:
        self._file = state / "evidence.jsonl"
        self._folder = state / "evidence"
        self.damaged: list[str] = []

    def add(self, evidence: Evidence, files: Mapping[str, bytes] | None = None) -> Evidence:
        """Keep one piece of evidence; the same one twice is kept once.

        Args:
            evidence: what was seen; its id is ignored.
            files: what goes with it, by name.

        Returns the evidence with its id and the hashes of its files.

        Raises:
            UserError: the state cannot be written.
        """
        hashes = {name: blobs.keep(self._folder, data) for name, data in (files or {}).items()}
        evidence = replace(evidence, files={**evidence.files, **hashes})
        evidence = replace(evidence, id=identity(evidence))
        if all(record.get("id") != evidence.id for record in records.read(self._file).records):
            records.append(self._file, [{"id": evidence.id, **_content(evidence)}])
        return evidence

    def all(self) -> list[Evidence]:
        """All evidence that is whole, in the order in which it came."""
        lines = records.read(self._file)
        self.damaged = [
            _("Line {line} of evidence.jsonl is damaged.").format(line=line)
            for line in lines.damaged
        ]
        found: dict[str, Evidence] = {}
        for record in lines.records:
            evidence = _evidence(record)
            if evidence is None:
                self.damaged.append(
                    _("The evidence {id} is damaged.").format(id=str(record.get("id"))[:12])
                )
            elif not all((self._folder / name).is_file() for name in evidence.files.values()):
                self.damaged.append(
                    _("The evidence {id} has lost a file.").format(id=evidence.id[:12])
                )
            else:
                found.setdefault(evidence.id, evidence)
        return list(found.values())

    def file(self, sha256: str) -> bytes:
        """The content of a file that evidence names by its hash.

        Raises:
            UserError: it is not there, or is not what it was.
        """
        return blobs.load(self._folder, sha256)


def _content(evidence: Evidence) -> dict[str, Any]:
    content = asdict(evidence)
    del content["id"]
    return content


def _evidence(record: dict[str, Any]) -> Evidence | None:
    """Evidence from its JSON form; None when it is not what its id says."""
    try:
        evidence = Evidence(
            **{
                **record,
                "on": On(record["on"]),
                "result": Result(record["result"]),
                "command": tuple(record["command"]),
            }
        )
        whole = identity(evidence) == record["id"] and record.keys() == _FIELDS
    except (KeyError, TypeError, ValueError):
        return None
    # A forged record may have a right id; its files must still be names, not paths.
    named = isinstance(evidence.files, dict) and all(map(blobs.is_digest, evidence.files.values()))
    return evidence if whole and named else None
