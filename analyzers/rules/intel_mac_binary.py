"""E322: a compiled program or library for Intel Macs alone."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import cuda_evidence
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """The binary, once, when nothing in it is for Apple silicon."""
    machines = document.all("machine")
    loaded = {"program", "shared object", "bundle"} & set(document.all("type"))
    if not loaded or "x86_64" not in machines or not set(machines) <= {"x86_64", "x86", "ppc"}:
        return
    if "other" in document.all("system") or cuda_evidence(document):
        return
    yield Match(
        0,
        0,
        _(
            "Built for Intel Macs: a Python for arm64 cannot load it. An Intel Python under "
            "Rosetta would, but PyTorch has had no wheels for it since 2.2."
        ),
        text=", ".join(machines),
    )


RULE = Rule(
    code="E322",
    name="intel-mac-binary",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"kind macho",),
    what=N_("A compiled program or library for macOS has no code for Apple silicon."),
    why=N_(
        "A process of one architecture loads libraries of that architecture alone, and macOS "
        "wheels of PyTorch for x86_64 end with 2.2.2."
    ),
    advice=N_("Build it for arm64, or for both (lipo), and keep the whole environment native."),
    source="https://developer.apple.com/documentation/apple-silicon/"
    "about-the-rosetta-translation-environment",
    find=find,
    examples=(
        Example(
            path="lib/libfast.dylib",
            text="kind macho\nmachine x86_64\ntype shared object\nsystem macos\nneeds /usr/lib/libSystem.B.dylib\n",
            finds=("x86_64",),
        ),
        Example(
            path="lib/universal.so",
            text="kind macho\nmachine x86_64\ntype bundle\nmachine arm64\n",
        ),
        Example(path="lib/arm.dylib", text="kind macho\nmachine arm64\ntype shared object\n"),
        Example(
            path="Simulator/app",
            text="kind macho\nmachine x86_64\ntype program\nsystem other\n",
        ),
        Example(path="a.o", text="kind macho\nmachine x86_64\ntype object file\n"),
    ),
)
