"""E317: a CI job that tests MPS on a hosted Mac."""

import re
from collections.abc import Iterator

from analyzers.documents.service import Service, ServiceDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_RUNNERS = re.compile(rb"\bmacos-[\w.]+")
_MPS = re.compile(rb"(?i:(?<![a-z])mps(?![a-z]))")


def find(document: ServiceDocument) -> Iterator[Match]:
    """Hosted Macs in a workflow that speaks of MPS."""
    if document.service is not Service.WORKFLOW or not document.says(_MPS):
        return
    for setting in document.settings(_RUNNERS):
        value = setting.value.value
        if setting.key not in ("runs-on", "os", "vmImage") or not value.startswith("macos-"):
            continue
        message = _(
            "A hosted Mac is a virtual machine: it may report MPS and refuse every allocation, so "
            "let the test try a tensor first."
        )
        severity = Severity.COSMETIC
        if value.endswith("-latest"):
            severity = Severity.DEGRADES
            message += " " + _(
                "Its macOS changes under this name, and Metal's mathematics comes with macOS, so that "
                "the same wheel gives other numbers: name a release such as macos-15, and keep "
                "results with the macOS build that gave them."
            )
        yield Match(setting.value.start, setting.value.end, message, severity)


RULE = Rule(
    code="E317",
    name="mac-runner",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=ServiceDocument,
    triggers=(rb"macos-",),
    what=N_("A CI job tests MPS on a hosted Mac."),
    why=N_(
        "The operators of MPS run in a library that ships with macOS, so that the same wheel gives "
        "other numbers on another release; and in a virtual machine MPS can be available and not "
        "usable."
    ),
    advice=N_(
        "Pin the release of macOS, run the comparison again for each, and skip with a reason "
        "where a first small tensor fails."
    ),
    source="https://github.com/actions/runner-images#available-images",
    find=find,
    examples=(
        Example(
            path=".github/workflows/test.yml",
            text="""\
                jobs:
                  test:
                    runs-on: macos-latest
                    steps:
                      - run: pytest tests/test_sam_mps.py
                """,
            finds=("macos-latest",),
        ),
        Example(
            path=".github/workflows/test.yml",
            text="jobs:\n  t:\n    runs-on: macos-latest\n    steps:\n      - run: pytest\n",
        ),
        Example(
            path=".github/workflows/test.yml",
            text="jobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n      - run: pytest -k mps\n",
        ),
        Example(path="configs/a.yaml", text="runs-on: macos-latest\ndevice: mps\n"),
        Example(path=".github/workflows/a.yml", text="# macos-latest\ndevice: mps\n"),
    ),
)
