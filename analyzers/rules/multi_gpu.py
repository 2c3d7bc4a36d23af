"""D129: several GPUs in one program."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, keyword
from analyzers.documents.python import PythonDocument
from analyzers.guards import is_guarded
from analyzers.reach import under_condition
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_ONE_PROCESS = (
    "torch.nn.DataParallel",
    "torch.nn.parallel.DataParallel",
    "torch.nn.parallel.data_parallel",
)
_PROCESSES = (
    "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel",
    "torch.distributed.fsdp.fully_shard",
)
#: Conditions that let a program be distributed or not.
_OPTIONAL = re.compile(rb"(?i)dist|ddp|fsdp|rank|world|parallel|multi|gpu|device_count|local")


def find(document: PythonDocument) -> Iterator[Match]:
    """Wrappers that spread a model over several GPUs."""
    for name in _ONE_PROCESS:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or reference.name != name:
                continue
            if is_guarded(document, call) or under_condition(document, call, _OPTIONAL):
                yield _match(
                    call,
                    _("Runs with CUDA cards alone; a Mac has one GPU, which needs no wrapper."),
                    Severity.COSMETIC,
                )
            else:
                yield _match(
                    call,
                    _(
                        "A Mac has one GPU, and there DataParallel passes everything through to the "
                        "model as it is: move the model to the device yourself. state_dict keys keep "
                        'their "module." all the same.'
                    ),
                    Severity.COSMETIC,
                )
    for name in _PROCESSES:
        for reference in document.references(name):
            call = call_of(reference.node)
            # Their class methods work on models that were wrapped elsewhere.
            if call is None or reference.name != name:
                continue
            if is_guarded(document, call):
                yield _match(
                    call,
                    _("Runs only where CUDA is available, and is skipped on a Mac."),
                    Severity.COSMETIC,
                )
            elif under_condition(document, call, _OPTIONAL):
                yield _match(
                    call,
                    _(
                        "Not for a Mac: it has one GPU and no NCCL, and gloo does not take MPS "
                        "tensors. Start the program there as one process, which leaves this out."
                    ),
                    Severity.DEGRADES,
                )
            else:
                yield _match(
                    call,
                    _(
                        "Needs a group of processes that exchange tensors: a Mac has one GPU and no "
                        "NCCL, and gloo does not take MPS tensors. Wrap the model only when there "
                        "is more than one process."
                    ),
                    Severity.BLOCKS if _has_list(call) else Severity.DEGRADES,
                )


def _has_list(call: Node) -> bool:
    """Whether the call names the card of this process, as it is done for CUDA alone."""
    devices = keyword(call, "device_ids")
    return devices is not None and devices.type == "list"


def _match(call: Node, message: str, severity: Severity) -> Match:
    fix = Fix.NONE if severity is Severity.COSMETIC else None
    return Match(call.start_byte, call.end_byte, message, severity=severity, fix=fix)


RULE = Rule(
    code="D129",
    name="multi-gpu",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        b"DataParallel",
        b"DistributedDataParallel",
        b"FullyShardedDataParallel",
        b"fully_shard",
        b"data_parallel",
    ),
    what=N_("A model is spread over several GPUs."),
    why=N_(
        "A Mac has exactly one MPS device, PyTorch for macOS has no NCCL, and gloo moves CPU tensors "
        "alone, so that no wrapper that exchanges gradients works on MPS."
    ),
    advice=N_(
        "Keep a way through the program for one process and one device, without the wrapper."
    ),
    source=(
        "torch/nn/parallel/data_parallel.py of PyTorch 2.13.0, read; "
        "https://docs.pytorch.org/docs/stable/distributed.html#backends"
    ),
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.nn.parallel import DistributedDataParallel as DDP
                model = torch.nn.DataParallel(model)
                model = DDP(model, device_ids=[local_rank])
                if torch.cuda.device_count() > 1:
                    model = torch.nn.DataParallel(model)
                if distributed:
                    model = DDP(model)
                """,
            finds=(
                "torch.nn.DataParallel(model)",
                "DDP(model, device_ids=[local_rank])",
                "torch.nn.DataParallel(model)",
                "DDP(model)",
            ),
        ),
        Example(text="""from torch.nn.parallel import DistributedDataParallel as DDP\n"""),
        Example(text="""import torch\nplain = isinstance(model, torch.nn.DataParallel)\n"""),
        Example(text="""# model = torch.nn.DataParallel(model)\n"""),
        Example(text="""model = paddle.DataParallel(model)\n"""),
    ),
)
