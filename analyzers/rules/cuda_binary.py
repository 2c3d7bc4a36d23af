"""E320: a compiled program or library that needs CUDA."""

from collections.abc import Iterator

from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.evidence import cuda_evidence, listed
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: BinaryDocument) -> Iterator[Match]:
    """The binary, once, with what it needs or holds of CUDA."""
    evidence = cuda_evidence(document)
    if not evidence or "cuda" in document.all("machine"):
        return
    if document.kind == "macho":
        message = _(
            "It was built for CUDA on macOS ({evidence}), which NVIDIA ended with release 10.2: no "
            "Mac with Apple silicon loads it."
        )
    elif document.kind == "pe":
        message = _("A Windows binary that belongs to CUDA ({evidence}): a Mac has no use for it.")
    else:
        message = _(
            "A Linux binary that needs CUDA ({evidence}): a Mac loads neither it nor the libraries "
            "of NVIDIA, and building it again needs another implementation of its kernels."
        )
    text = listed(evidence)
    yield Match(0, 0, message.format(evidence=text), text=text)


RULE = Rule(
    code="E320",
    name="cuda-binary",
    severity=Severity.BLOCKS,
    fix=Fix.NONE,
    reads=BinaryDocument,
    triggers=(b"kind elf", b"kind macho", b"kind pe"),
    what=N_(
        "A compiled program or library needs NVIDIA's libraries, or holds code for their GPUs."
    ),
    why=N_(
        "The loader stops at the first library that is missing, and no Mac has a CUDA driver since "
        "macOS 10.14; the code for the GPU in it has no Metal counterpart."
    ),
    advice=N_(
        "Find its source: a CPU path, an operator of PyTorch or a package with a macOS wheel may "
        "take its place. Otherwise this part stays on the CUDA machine."
    ),
    source="https://docs.nvidia.com/cuda/archive/10.2/cuda-toolkit-release-notes/index.html",
    find=find,
    examples=(
        Example(
            path="ext/_C.cpython-310-x86_64-linux-gnu.so",
            text="""\
                kind elf
                type shared object
                machine x86-64
                system linux
                needs libc10_cuda.so
                needs libcudart.so.12
                needs libc.so.6
                device-code .nv_fatbin
                """,
            finds=("libc10_cuda.so, libcudart.so.12, .nv_fatbin",),
        ),
        Example(
            path="lib/libcudart.so.11.0",
            text="kind elf\ntype shared object\nmachine x86-64\nname libcudart.so.11.0\n",
            finds=("libcudart.so.11.0",),
        ),
        Example(
            path="lib/old.dylib",
            text="kind macho\nmachine x86_64\nneeds /usr/local/cuda/lib/libcudart.10.2.dylib\n",
            finds=("/usr/local/cuda/lib/libcudart.10.2.dylib",),
        ),
        Example(
            path="bin/op.pyd",
            text="kind pe\nneeds cudart64_110.dll\nneeds KERNEL32.dll\n",
            finds=("cudart64_110.dll",),
        ),
        Example(
            path="bin/_ext.so",
            text="kind elf\ntype shared object\nmachine x86-64\nneeds libtorch_cpu.so\nneeds libc.so.6\n",
        ),
        Example(
            path="lib/libbarracuda.so",
            text="kind elf\nmachine x86-64\nname libbarracuda.so\nneeds libcudf_free_words.txt\n",
        ),
        Example(
            path="a.dylib", text="kind macho\nmachine arm64\nneeds /usr/lib/libSystem.B.dylib\n"
        ),
    ),
)
