"""E314: a launcher that starts one process for each of several GPUs."""

import re
from collections.abc import Iterator, Sequence

from analyzers.documents.shell import Command, ShellDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(
    rb"\b(?:torchrun|accelerate|deepspeed|horovodrun)\b|torch\.distributed\.(?:launch|run)\b"
)
_PYTHON = re.compile(r"python[\d.]*\Z")
_NODES = ("--nproc_per_node", "--nproc-per-node", "--nnodes")
_PROCESSES = ("--num_processes", "--num-processes", "--num_machines", "--num-machines")
_MODULES = ("torch.distributed.launch", "torch.distributed.run", "deepspeed.launcher.runner")


def find(document: ShellDocument) -> Iterator[Match]:
    """Launchers of PyTorch, Accelerate, DeepSpeed and Horovod with more than one process."""
    for command in document.commands(_WORDS):
        found = _message(command)
        if found is None or document.guarded(command.start, command.end):
            continue
        message, severity = found
        if document.elsewhere:
            severity = Severity.COSMETIC
        yield Match(command.start, command.end, message, severity)


def _message(command: Command) -> tuple[str, Severity] | None:
    name, arguments = command.name, command.arguments
    if _PYTHON.match(name) and "-m" in arguments[:4]:
        at = arguments.index("-m")
        name, arguments = "".join(arguments[at + 1 : at + 2]), arguments[at + 2 :]
    if name in ("torchrun", *_MODULES[:2]):
        return _several(arguments, _NODES)
    if name == "accelerate" and arguments[:1] == ("launch",):
        if "--use_deepspeed" in arguments or "--use-deepspeed" in arguments:
            return _deepspeed()
        if "--multi_gpu" in arguments or "--multi-gpu" in arguments:
            return _one_device()
        return _several(arguments, _PROCESSES)
    if name in ("deepspeed", _MODULES[2]) and any(one.endswith(".py") for one in arguments):
        return _deepspeed()
    if name == "horovodrun":
        return _several(arguments, ("-np", "--num-proc"))
    return None


def _several(arguments: Sequence[str], options: Sequence[str]) -> tuple[str, Severity] | None:
    for index, argument in enumerate(arguments):
        if argument.endswith(".py"):
            return None
        option, sign, value = argument.partition("=")
        if option in options:
            following = arguments[index + 1] if index + 1 < len(arguments) else ""
            value = value if sign else following
            if value == "gpu" or "gpu" in value.lower() or _is_several(value):
                return _one_device()
    return None


def _is_several(value: str) -> bool:
    last = value.rpartition(":")[2]
    return last.isdecimal() and int(last[:6]) > 1


def _one_device() -> tuple[str, Severity]:
    return _(
        "Several processes are started, as for several GPUs. A Mac has one MPS device, and PyTorch "
        "no backend between processes for it: start a single process there."
    ), Severity.DEGRADES


def _deepspeed() -> tuple[str, Severity]:
    return _(
        "The launch needs DeepSpeed, which knows MPS as a device but has no communication between "
        "processes there, so that ZeRO is not available: start the program without it, as a "
        "single process, or keep this on CUDA."
    ), Severity.BLOCKS


RULE = Rule(
    code="E314",
    name="distributed-launch",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(
        b"torchrun",
        b"accelerate",
        b"deepspeed",
        b"horovodrun",
        b"torch.distributed.launch",
        b"torch.distributed.run",
    ),
    what=N_("A command starts the program once for each of several GPUs."),
    why=N_(
        "NCCL, which such a start mostly uses, is for NVIDIA GPUs; gloo works on the CPU, and a "
        "Mac has no second GPU."
    ),
    advice=N_(
        "Start a single process on a Mac (no launcher, or --nproc_per_node=1, --num_processes=1) "
        "and raise gradient accumulation to keep the size of a batch."
    ),
    source="https://docs.pytorch.org/docs/stable/distributed.html#backends",
    find=find,
    examples=(
        Example(
            path="launch.sh",
            text="""\
                torchrun --standalone --nproc_per_node=8 train.py --lr 1
                python -m torch.distributed.launch --nproc_per_node 4 train.py
                accelerate launch --use_deepspeed --num_processes=8 train.py
                accelerate launch --multi_gpu train.py
                deepspeed --num_gpus=2 train.py
                torchrun --nproc-per-node=$NUM_GPUS train.py
                """,
            finds=(
                "torchrun --standalone --nproc_per_node=8 train.py --lr 1",
                "python -m torch.distributed.launch --nproc_per_node 4 train.py",
                "accelerate launch --use_deepspeed --num_processes=8 train.py",
                "accelerate launch --multi_gpu train.py",
                "deepspeed --num_gpus=2 train.py",
                "torchrun --nproc-per-node=$NUM_GPUS train.py",
            ),
        ),
        Example(
            path="one.sh",
            text="torchrun --nproc_per_node=1 train.py\naccelerate launch --num_processes 1 a.py\n",
        ),
        Example(path="a.sh", text="accelerate config\naccelerate launch train.py\n"),
        Example(path="b.sh", text="pip install deepspeed\n# torchrun --nproc_per_node=8 a.py\n"),
        Example(path="c.sh", text="torchrun train.py --nproc_per_node=8\n"),
    ),
)
