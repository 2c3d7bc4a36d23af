"""E321: a compiled program or library for Linux, whatever it needs."""

import re
from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import cuda_evidence
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: Libraries with these names are those of a Linux system; Android's have no number.
_LINUX = re.compile(r"(?:lib(?:c|m|dl|rt|pthread|gcc_s|stdc\+\+)\.so\.\d|libc\.musl-|ld-linux)")


def find(document: BinaryDocument) -> Iterator[Match]:
    """The binary, once, when it is certain to be for Linux and needs no CUDA."""
    kinds = [kind for kind in document.all("type") if kind in ("program", "shared object")]
    machines = [machine for machine in document.all("machine") if machine not in ("other", "cuda")]
    systems = document.all("system")
    if not kinds or not machines or "linux" not in systems or "android" in systems:
        return
    if not any(_LINUX.match(name) for name in document.all("needs")) or cuda_evidence(document):
        return
    yield Match(
        0,
        0,
        _(
            "Built for Linux, so that a Mac cannot load it. It names no library of CUDA: building "
            "it from its source may be all that is missing."
        ),
        text=f"{kinds[0]} for Linux on {machines[0]}",
    )


RULE = Rule(
    code="E321",
    name="linux-binary",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=BinaryDocument,
    triggers=(b"kind elf",),
    what=N_("A compiled program or library for Linux lies in the project."),
    why=N_("macOS loads Mach-O files alone: an import of it, or a call, fails at once."),
    advice=N_(
        "Build it on the Mac from its source, or install a package that has a macOS wheel; a "
        "library that a program opens at run time may need another file name there (.dylib)."
    ),
    source="https://developer.apple.com/library/archive/documentation/DeveloperTools/Conceptual/"
    "MachOTopics/0-Introduction/introduction.html",
    find=find,
    examples=(
        Example(
            path="ops/_ext.cpython-311-x86_64-linux-gnu.so",
            text="""\
                kind elf
                type shared object
                machine x86-64
                system linux
                needs libtorch_cpu.so
                needs libstdc++.so.6
                needs libc.so.6
                """,
            finds=("shared object for Linux on x86-64",),
        ),
        Example(
            path="tools/encode",
            text="""\
                kind elf
                type program
                machine arm64
                system linux
                loader /lib/ld-linux-aarch64.so.1
                needs libc.so.6
                """,
            finds=("program for Linux on arm64",),
        ),
        Example(
            path="app/jniLibs/libmodel.so",
            text="kind elf\ntype shared object\nmachine arm64\nsystem linux\nneeds liblog.so\nneeds libc.so\n",
        ),
        Example(
            path="build/op.o", text="kind elf\ntype object file\nmachine x86-64\nsystem linux\n"
        ),
        Example(path="firmware.elf", text="kind elf\ntype program\nmachine other\nsystem linux\n"),
        Example(
            path="cuda.so",
            text="kind elf\ntype shared object\nmachine x86-64\nsystem linux\nneeds libcudart.so.12\nneeds libc.so.6\n",
        ),
    ),
)
