"""E315: a profiler or debugger for CUDA."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import ShellDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(
    rb"\b(?:nsys|nvprof|nvvp|ncu|nv-nsight-cu-cli|cuda-gdb|compute-sanitizer|cuda-memcheck|nvtop|"
    rb"gpustat|nvitop|dcgmi)\b"
)
_PROFILERS = ("nsys", "nsys-ui", "nvprof", "nvvp")
_KERNEL_PROFILERS = ("ncu", "ncu-ui", "nv-nsight-cu-cli")
_DEBUGGERS = ("cuda-gdb", "compute-sanitizer", "cuda-memcheck")
_METERS = ("nvtop", "gpustat", "nvitop", "dcgmi")


def find(document: ShellDocument) -> Iterator[Match]:
    """NVIDIA's tools that look at a running program, with their counterparts on a Mac."""
    for command in document.commands(_WORDS):
        message = _message(command.name)
        if message is None or document.guarded(command.start, command.end):
            continue
        severity = Severity.COSMETIC if document.elsewhere else None
        yield Match(command.start, command.end, message.format(name=command.name), severity)


def _message(name: str) -> str | None:
    if name in _PROFILERS:
        return _(
            "{name} records CUDA alone. On a Mac torch.mps.profiler writes signposts that "
            "Instruments shows (Metal System Trace)."
        )
    if name in _KERNEL_PROFILERS:
        return _(
            "{name} looks into CUDA kernels alone. On a Mac capture the work with "
            "torch.mps.profiler.metal_capture and open it in Xcode's Metal debugger."
        )
    if name in _DEBUGGERS:
        return _(
            "{name} debugs CUDA kernels alone. On a Mac there is Xcode's Metal debugger, with "
            "Metal's API and shader validation."
        )
    if name in _METERS:
        return _(
            "{name} asks NVIDIA's driver. On a Mac look at Activity Monitor or powermetrics, and "
            "in the program at torch.mps.driver_allocated_memory()."
        )
    return None


RULE = Rule(
    code="E315",
    name="cuda-profiler",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(
        b"nsys",
        b"nvprof",
        b"nvvp",
        b"ncu",
        b"nv-nsight-cu-cli",
        b"cuda-gdb",
        b"compute-sanitizer",
        b"cuda-memcheck",
        b"nvtop",
        b"gpustat",
        b"nvitop",
        b"dcgmi",
    ),
    what=N_("A script profiles, debugs or watches the program with NVIDIA's tools."),
    why=N_("They do not exist on macOS, and see nothing of Metal."),
    advice=N_(
        "Use torch.profiler for what happens in PyTorch, torch.mps.profiler with Instruments for "
        "the GPU, and Xcode's Metal debugger for kernels."
    ),
    source="https://docs.pytorch.org/docs/stable/generated/torch.mps.profiler.start.html",
    find=find,
    examples=(
        Example(
            path="profile.sh",
            text="""\
                nsys profile -o out python train.py
                /usr/local/cuda/bin/ncu --set full python bench.py
                srun compute-sanitizer ./run
                """,
            finds=(
                "nsys profile -o out python train.py",
                "/usr/local/cuda/bin/ncu --set full python bench.py",
                "compute-sanitizer ./run",
            ),
        ),
        Example(path="a.sh", text="# nsys profile python a.py\necho nvprof\n"),
        Example(path="b.sh", text="ls out/nsys\npython -m ncu\n"),
        Example(path="c.sh", text="if command -v nvtop; then nvtop; fi\n"),
    ),
)
