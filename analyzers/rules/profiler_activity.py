"""D131: profiling that records CUDA."""

from collections.abc import Iterator

from analyzers.arguments import call_of, is_true, keyword
from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Activities of CUDA in PyTorch's profilers, and ranges for NVIDIA's tools."""
    message = _(
        "Without CUDA the profiler warns and records the CPU alone: the Apple GPU is not in the "
        "result. torch.mps.profiler.profile() makes it visible in Instruments."
    )
    for reference in document.references("torch.profiler.ProfilerActivity.CUDA"):
        node = reference.node
        if settled(document, node):
            continue
        around = node.parent
        if around is not None and around.type == "list" and len(around.named_children) == 1:
            yield Match(
                node.start_byte,
                node.end_byte,
                _(
                    "Without CUDA no activity is left to record, and the profiler raises: add "
                    "ProfilerActivity.CPU. For MPS there is torch.mps.profiler."
                ),
            )
        else:
            yield Match(node.start_byte, node.end_byte, message, severity=Severity.DEGRADES)
    for name in ("torch.autograd.profiler.profile", "torch.profiler.profile"):
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or not is_true(keyword(call, "use_cuda")) or settled(document, call):
                continue
            yield Match(call.start_byte, call.end_byte, message, severity=Severity.DEGRADES)
    for reference in document.references("torch.autograd.profiler.emit_nvtx"):
        call = call_of(reference.node)
        if call is not None and keyword(call, "enabled") is None and not settled(document, call):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Marks ranges for NVIDIA's profilers, and raises when it is entered without "
                    "CUDA. torch.mps.profiler.profile() marks them for Instruments on a Mac."
                ),
            )


RULE = Rule(
    code="D131",
    name="profiler-activity",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"ProfilerActivity", b"use_cuda", b"emit_nvtx"),
    what=N_("A profile is taken of CUDA."),
    why=N_(
        "The profiler of PyTorch does not record MPS; Metal has signposts and Instruments for that."
    ),
    advice=N_("On a Mac use torch.mps.profiler, and synchronize before you read a clock."),
    source="Called in PyTorch 2.13.0 built without CUDA, on Linux; torch/mps/profiler.py, read",
    since="torch.mps.profiler: PyTorch 2.1",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.profiler import ProfilerActivity, profile
                with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as run:
                    step()
                with profile(activities=[ProfilerActivity.CUDA]):
                    step()
                with torch.autograd.profiler.profile(use_cuda=True):
                    step()
                with torch.autograd.profiler.emit_nvtx():
                    step()
                """,
            finds=(
                "ProfilerActivity.CUDA",
                "ProfilerActivity.CUDA",
                "torch.autograd.profiler.profile(use_cuda=True)",
                "torch.autograd.profiler.emit_nvtx()",
            ),
        ),
        Example(
            text="""from torch.profiler import ProfilerActivity\nkinds = [ProfilerActivity.CPU]\n"""
        ),
        Example(
            text="""\
                import torch
                kinds = [torch.profiler.ProfilerActivity.CPU]
                if torch.cuda.is_available():
                    kinds.append(torch.profiler.ProfilerActivity.CUDA)
                """,
        ),
        Example(text="""train(use_cuda=True)\n"""),
        Example(
            text="""import torch\nwith torch.autograd.profiler.profile(use_cuda=False):\n    pass\n"""
        ),
    ),
)
