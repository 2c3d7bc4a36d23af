"""E305: a script that asks a machine for NVIDIA GPUs."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import Assignment, Command, ShellDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_REQUESTS = {
    "SBATCH": re.compile(
        r"(?:^|\s)(?:--gres(?:=|\s+)\S*gpu|--gpus\S*(?:=|\s+)|-G\s*\d|--gpu-bind|"
        r"--(?:cpus|mem)-per-gpu|--constraint(?:=|\s+)\S*(?:gpu|a100|h100|v100))",
        re.IGNORECASE,
    ),
    "PBS": re.compile(r"\bn?gpus\b", re.IGNORECASE),
    "BSUB": re.compile(r"(?:^|\s)-gpu\b|\bngpus", re.IGNORECASE),
}
_MODULE = re.compile(r"(?:^|/)(?:cuda|cudnn|nccl|cudatoolkit|nvhpc)\b", re.IGNORECASE)


def find(document: ShellDocument) -> Iterator[Match]:
    """Requests to a batch system, modules, NVIDIA's tools, and CUDA's variables."""
    matches = [*_requests(document)]
    for command in document.commands():
        found = _command(command)
        if found is not None:
            matches.append(found)
    for assignment in document.assignments():
        found = _assignment(assignment)
        if found is not None:
            matches.append(found)
    yield from sorted(matches, key=lambda match: match.start)


def _requests(document: ShellDocument) -> Iterator[Match]:
    message = _(
        "The batch system is asked for NVIDIA GPUs: this job belongs to the CUDA machine, and a "
        "Mac needs a way of its own to start the same program."
    )
    for directive in document.directives():
        if _REQUESTS[directive.system].search(directive.content):
            yield Match(directive.start, directive.end, message, Severity.COSMETIC)


def _command(command: Command) -> Match | None:
    if command.name in ("nvidia-smi", "nvcc", "cuda-gdb", "nsys", "ncu", "nvprof"):
        message = _("{name} does not exist on macOS: make this step optional.").format(
            name=command.name
        )
        return Match(command.start, command.end, message)
    if command.name in ("module", "ml"):
        wanted = command.arguments
        if command.name == "module" and wanted[:1] not in (("load",), ("add",), ("switch",)):
            return None
        if any(_MODULE.search(argument) for argument in wanted):
            message = _("A cluster's module for CUDA is loaded; a Mac has neither.")
            return Match(command.start, command.end, message)
    return None


def _assignment(assignment: Assignment) -> Match | None:
    if assignment.name != "CUDA_VISIBLE_DEVICES":
        return None
    if len(re.findall(r"\d+", assignment.value)) > 1:
        message = _("Several CUDA devices are chosen; a Mac has one MPS device and no numbers.")
        return Match(assignment.start, assignment.end, message)
    message = _("CUDA_VISIBLE_DEVICES chooses among CUDA devices and means nothing on a Mac.")
    return Match(assignment.start, assignment.end, message, Severity.COSMETIC)


RULE = Rule(
    code="E305",
    name="gpu-job",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(
        rb"(?i:gpu|cuda|cudnn|nccl|nvhpc|a100|h100|v100)",
        rb"nvidia|nvcc|nvprof|\bnsys\b|\bncu\b",
        rb"#SBATCH",
    ),
    what=N_("A shell script asks for NVIDIA GPUs, or calls tools that come with them."),
    why=N_(
        "The commands do not exist on macOS, where a script with `set -e` stops at the first one; "
        "the variables and directives are ignored, so that the program runs without what they ask."
    ),
    advice=N_(
        "Keep the script for the CUDA machine, and start the same program on a Mac by a script of "
        "its own, or put a test such as `command -v nvidia-smi` around the step."
    ),
    source="https://slurm.schedmd.com/gres.html",
    find=find,
    examples=(
        Example(
            path="train.slurm",
            text="""\
                #!/bin/bash
                #SBATCH --job-name=train
                #SBATCH --gres=gpu:a100:4
                module load cuda/12.1 gcc
                nvidia-smi
                export CUDA_VISIBLE_DEVICES=0,1
                srun nvidia-smi -L
                CUDA_VISIBLE_DEVICES=0 python train.py
                """,
            finds=(
                "#SBATCH --gres=gpu:a100:4",
                "module load cuda/12.1 gcc",
                "nvidia-smi",
                "CUDA_VISIBLE_DEVICES=0,1",
                "nvidia-smi -L",
                "CUDA_VISIBLE_DEVICES=0",
            ),
        ),
        Example(
            path="count.sh",
            text="""\
                gpus=$(nvidia-smi -L | wc -l)
                nvcc --version
                """,
            finds=("nvidia-smi -L", "nvcc --version"),
        ),
        Example(path="a.sh", text="# nvidia-smi\n# CUDA_VISIBLE_DEVICES=0 python x.py\n"),
        Example(path="b.sh", text='echo "see nvidia-smi"\necho $CUDA_VISIBLE_DEVICES\n'),
        Example(path="c.sh", text="#!/bin/bash\n#SBATCH --time=1:00:00\nmodule list\nls cuda\n"),
        Example(
            path="late.sh",
            text="python prepare.py\n#SBATCH --gres=gpu:1\n",
        ),
    ),
)
