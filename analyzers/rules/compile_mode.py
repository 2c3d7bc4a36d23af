"""D132: torch.compile, and modes of it that were made for CUDA."""

from collections.abc import Iterator

from analyzers.arguments import call_of, is_true, keyword, string_of
from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import WHOLE, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MODES = ("max-autotune", "reduce-overhead", "max-autotune-no-cudagraphs")
_CUDA_BACKENDS = ("cudagraphs", "tensorrt", "torch_tensorrt")
_EAGER = ("eager", "aot_eager", "aot_eager_decomp_partition")


def find(document: PythonDocument) -> Iterator[Match]:
    """Compiled models, by what their release and mode mean for MPS."""
    for reference in document.references("torch.compile"):
        call = call_of(reference.node)
        if call is None or is_true(keyword(call, "disable")) or settled(document, call):
            continue
        backend = string_of(document, keyword(call, "backend"))
        mode = string_of(document, keyword(call, "mode"))
        if backend in _CUDA_BACKENDS:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "This backend of torch.compile is for CUDA: leave the model uncompiled elsewhere."
                ),
                severity=Severity.DEGRADES if backend == "cudagraphs" else None,
            )
        elif backend in _EAGER:
            continue
        else:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Inductor has a code generator for MPS from PyTorch 2.7 on, announced for 2.8; "
                    "before, compiling for MPS fails, at times with a text about CUDA. Compile only "
                    "on CUDA there."
                ),
                until="2.8",
            )
            if mode in _MODES:
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "This mode tunes Triton kernels and CUDA graphs, which a Mac does not have. "
                        "Inductor for MPS is young, failures in training were reported: leave the "
                        "model uncompiled there until a comparison with the CPU agrees."
                    ),
                    severity=Severity.DEGRADES,
                    since="2.8",
                )


RULE = Rule(
    code="D132",
    name="compile-mode",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(Word(b"torch.compile", after=WHOLE), Word(b"import compile", after=WHOLE)),
    what=N_("A model is compiled with torch.compile."),
    why=N_(
        "The compiler came to MPS late and in part; its modes for speed are made of CUDA graphs and "
        "Triton kernels."
    ),
    advice=N_(
        "Compile where the device is CUDA; elsewhere run the model as it is, or try and compare."
    ),
    source=(
        "torch/_inductor/codegen in the macOS arm64 wheels 2.6 to 2.8, read; "
        "https://github.com/pytorch/pytorch/issues/157957; https://github.com/pytorch/pytorch/issues/161905"
    ),
    since="PyTorch 2.7",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                net = torch.compile(net)
                net = torch.compile(net, backend="cudagraphs")
                """,
            finds=("torch.compile(net)", 'torch.compile(net, backend="cudagraphs")'),
        ),
        Example(
            text="""\
                import torch
                net = torch.compile(net, mode="max-autotune")
                """,
            finds=(
                'torch.compile(net, mode="max-autotune")',
                'torch.compile(net, mode="max-autotune")',
            ),
        ),
        Example(text="""import torch\nnet = torch.compile(net, backend="eager")\n"""),
        Example(text="""import re\npattern = re.compile("cuda")\n"""),
        Example(text="""import torch\nif device.type == "cuda":\n    net = torch.compile(net)\n"""),
        Example(text="""model.compile(optimizer="adam")\n"""),
        Example(text="""import torch\nif not torch.compiler.is_compiling():\n    check(x)\n"""),
    ),
)
