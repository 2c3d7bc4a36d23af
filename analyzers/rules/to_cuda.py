"""D104: ``.to("cuda")``."""

from collections.abc import Iterator

from analyzers.cuda_only import handed_over
from analyzers.devices import Role, device_strings
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, standing
from analyzers.messages import (
    device_message,
    handled_message,
    is_test_file,
    needs_a_look,
    skipped_message,
)
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls of ``.to`` with a CUDA device in words."""
    for string in device_strings(document):
        if string.role is not Role.TO:
            continue
        call = string.holder
        receiver = call.child_by_field_name("function")
        start = call.start_byte
        if receiver is not None and receiver.start_point.row != receiver.end_point.row:
            start = string.node.start_byte
        found = standing(document, call)
        if found is Standing.GUARDED and is_test_file(document):
            found = Standing.SKIPPED
        if found in (Standing.HANDLED, Standing.SKIPPED):
            message = handled_message() if found is Standing.HANDLED else skipped_message()
            end = call.end_byte
            yield Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
            continue
        if found is Standing.BARE and (reason := handed_over(document, call)) is not None:
            yield Match(start, call.end_byte, reason, fix=Fix.NONE)
            continue
        guarded = found is Standing.GUARDED
        yield Match(
            start,
            call.end_byte,
            _(
                "Runs only where CUDA is available: on a Mac this stays on the CPU "
                "instead of moving to the Apple GPU."
            )
            if guarded
            else device_message(document, string, guarded),
            severity=Severity.DEGRADES if guarded else None,
            fix=Fix.MANUAL if guarded or needs_a_look(document, string) else None,
        )


RULE = Rule(
    code="D104",
    name="to-cuda",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A tensor or module is moved to a device that is written into the code as CUDA."),
    why=N_('A PyTorch built without CUDA raises "Torch not compiled with CUDA enabled".'),
    advice=N_("Use the device that the code around it already has."),
    source="https://docs.pytorch.org/docs/stable/generated/torch.Tensor.to.html",
    find=find,
    examples=(
        Example(
            text="""\
                def run(model, x, device):
                    return model.to("cuda")(x.to("cuda:0", non_blocking=True))
                """,
            finds=('model.to("cuda")', 'x.to("cuda:0", non_blocking=True)'),
            after="""\
                def run(model, x, device):
                    return model.to(device)(x.to(device, non_blocking=True))
                """,
        ),
        Example(
            text="""\
                import torch
                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                    def forward(self, x):
                        return x.to('cuda')
                """,
            finds=("x.to('cuda')",),
            after="""\
                import torch
                class Net(torch.nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                    def forward(self, x):
                        return x.to(self.device)
                """,
        ),
        Example(
            text="""\
                a = x.to("cuda:1")
                b = x.to(f"cuda:{rank}")
                """,
            finds=('x.to("cuda:1")', 'x.to(f"cuda:{rank}")'),
        ),
        Example(text="""x.to("cpu")\nx.to(device)\nx.to(other)\n"""),
        Example(text="""path.to("cuda-samples")\n"""),
        Example(
            text="""\
                import oneflow as flow
                net = Net().to("cuda")
                """,
            finds=('Net().to("cuda")',),
        ),
        Example(text="""# x.to("cuda")\n"""),
    ),
)
