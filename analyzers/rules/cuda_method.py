"""D103: ``.cuda()`` on a tensor or module."""

from collections.abc import Iterator

from analyzers.devices import calls_of, guard_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls of a method named ``cuda``, except under a test for CUDA."""
    for call, receiver, name in calls_of(document, "cuda"):
        start = call.start_byte
        if receiver.start_point.row != receiver.end_point.row:
            start = name.start_byte
        if guard_of(document, call) is not None:
            yield Match(
                start,
                call.end_byte,
                _(
                    "Runs only where CUDA is available: on a Mac this stays on the CPU "
                    "instead of moving to the Apple GPU."
                ),
                severity=Severity.DEGRADES,
                fix=Fix.MANUAL,
            )
        else:
            yield Match(
                start,
                call.end_byte,
                _(
                    'On a Mac this raises "Torch not compiled with CUDA enabled", unless it is '
                    "a module without parameters and buffers."
                ),
            )


RULE = Rule(
    code="D103",
    name="cuda-method",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"\.\s*cuda\s*\(",),
    what=N_("A tensor or module is moved with .cuda(), which names CUDA and nothing else."),
    why=N_(
        'A PyTorch built without CUDA raises "Torch not compiled with CUDA enabled". '
        ".to(device) does the same on a CUDA machine and works on any other."
    ),
    advice=N_("Use .to(device) with the device that the code around it already has."),
    source="https://docs.pytorch.org/docs/stable/generated/torch.Tensor.cuda.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                model = build().cuda()
                batch = batch.cuda(non_blocking=True)
                """,
            finds=("build().cuda()", "batch.cuda(non_blocking=True)"),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                model = build().to(device)
                batch = batch.to(device, non_blocking=True)
                """,
        ),
        Example(
            text="""\
                import torch
                x = torch.ones(3).cuda()
                """,
            finds=("torch.ones(3).cuda()",),
            after="""\
                import torch
                x = torch.ones(3).to("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                import torch
                if torch.cuda.is_available():
                    model.cuda()
                """,
            finds=("model.cuda()",),
        ),
        Example(
            text="""\
                import cupy as cp
                import numba
                cp.cuda.Device(0).use()
                stream = cp.cuda.Stream()
                kernel = numba.cuda.jit(f)
                """,
        ),
        Example(text="""# model.cuda()\n"""),
        Example(text="""note = "call model.cuda() first"\n"""),
        Example(text="""import torch\ntorch.cuda.is_available\nmodel.cudas()\n"""),
    ),
)
