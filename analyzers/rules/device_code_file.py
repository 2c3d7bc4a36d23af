"""E324: a file of code for NVIDIA's GPUs."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import listed
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """The file, once, with the GPU that it is for or the members that hold the code."""
    if document.kind in ("ptx", "fatbin", "checkpoint-zip"):
        evidence = document.all("device-code")
    elif document.kind == "elf" and "cuda" in document.all("machine"):
        evidence = ("cubin",)
    else:
        return
    if evidence:
        text = listed(evidence)
        message = _(
            "Code for an NVIDIA GPU ({evidence}): it runs nowhere else, and nothing translates it "
            "to Metal. Start from the source that it was compiled from."
        )
        yield Match(0, 0, message.format(evidence=text), text=text)


RULE = Rule(
    code="E324",
    name="device-code-file",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=BinaryDocument,
    triggers=(b"device-code", b"machine cuda"),
    what=N_("A file holds code that was compiled for NVIDIA's GPUs: PTX, a cubin or a fat binary."),
    why=N_("Only the CUDA driver can load it, and a Mac has none."),
    advice=N_(
        "Look at what launches it. The kernel's source can be replaced by operators of PyTorch or "
        "rewritten for Metal (torch.mps.compile_shader); a model that was compiled ahead of time "
        "has to be exported again."
    ),
    source="https://docs.nvidia.com/cuda/parallel-thread-execution/",
    find=find,
    examples=(
        Example(path="kernels/scan.ptx", text="kind ptx\ndevice-code sm_80\n", finds=("sm_80",)),
        Example(
            path="kernels/scan.cubin",
            text="kind elf\ntype program\nmachine cuda\nsystem other\n",
            finds=("cubin",),
        ),
        Example(path="k.fatbin", text="kind fatbin\ndevice-code fatbin\n", finds=("fatbin",)),
        Example(
            path="model.pt2",
            text="kind checkpoint-zip\nform checkpoint\ndevice-code cgrfk5.cubin\n",
            finds=("cgrfk5.cubin",),
        ),
        Example(path="notes.ptx", text="kind ptx\n"),
        Example(path="lib.so", text="kind elf\nmachine x86-64\ndevice-code .nv_fatbin\n"),
        Example(path="model.pt", text="kind checkpoint-zip\nform checkpoint\nstorage cpu\n"),
    ),
)
