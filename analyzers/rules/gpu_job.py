"""E305: a script that asks a machine for NVIDIA GPUs."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import Command, ShellDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_REQUESTS = {
    "SBATCH": re.compile(
        r"(?:^|\s)(?:--gres(?:=|\s+)\S*gpu|--gpus\S*(?:=|\s+)|-G\s*\d|--gpu-bind|"
        r"--(?:cpus|mem)-per-gpu|--constraint(?:=|\s+)\S*(?:gpu|a100|h100|v100)|"
        r"(?:--partition(?:=|\s+)|-p\s*)\S*gpu)",
        re.IGNORECASE,
    ),
    "PBS": re.compile(r"\bn?gpus\b|(?:^|\s)-q\s+\S*gpu", re.IGNORECASE),
    "BSUB": re.compile(r"(?:^|\s)-gpu\b|\bngpus|(?:^|\s)-q\s+\S*gpu", re.IGNORECASE),
}
_SUBMITS = {"srun": "SBATCH", "sbatch": "SBATCH", "salloc": "SBATCH", "qsub": "PBS", "bsub": "BSUB"}
_MODULE = re.compile(r"(?:^|/)(?:cuda|cudnn|nccl|cudatoolkit|nvhpc)\b", re.IGNORECASE)
_WORDS = re.compile(rb"\bnvidia-|\bnvcc\b|\b(?:module|ml|srun|sbatch|salloc|qsub|bsub)\b")
_CUDA_FILE = re.compile(r"\.cu\Z")
_TOOLS = ("nvidia-smi", "nvcc", "nvidia-settings", "nvidia-modprobe", "nvidia-persistenced")


def find(document: ShellDocument) -> Iterator[Match]:
    """Requests to a batch system, modules, and the tools of NVIDIA's driver and toolkit."""
    matches = [*_requests(document)]
    for command in document.commands(_WORDS):
        found = _command(document, command)
        if found is not None:
            matches.append(found)
    yield from sorted(matches, key=lambda match: match.start)


def _requests(document: ShellDocument) -> Iterator[Match]:
    for directive in document.directives():
        if _REQUESTS[directive.system].search(directive.content):
            yield Match(directive.start, directive.end, _request(), Severity.COSMETIC)


def _request() -> str:
    return _(
        "The batch system is asked for NVIDIA GPUs: this job belongs to the CUDA machine, and a "
        "Mac needs a way of its own to start the same program."
    )


def _command(document: ShellDocument, command: Command) -> Match | None:
    if command.name in _SUBMITS:
        # Options end where the program begins.
        options = " ".join(command.arguments[:40])
        if _REQUESTS[_SUBMITS[command.name]].search(options):
            return Match(command.start, command.end, _request(), Severity.BLOCKS)
        return None
    if command.name in _TOOLS:
        if document.guarded(command.start, command.end):
            return None
        message = _("{name} does not exist on macOS: make this step optional.").format(
            name=command.name
        )
        severity = Severity.COSMETIC if document.elsewhere else None
        if command.name == "nvcc" and any(_CUDA_FILE.search(one) for one in command.arguments):
            message = _("nvcc does not exist on macOS: what it compiles here is missing on a Mac.")
            severity = severity or Severity.BLOCKS
        return Match(command.start, command.end, message, severity)
    if command.name in ("module", "ml"):
        wanted = command.arguments
        if command.name == "module" and wanted[:1] not in (("load",), ("add",), ("switch",)):
            return None
        if any(_MODULE.search(argument) for argument in wanted):
            message = _("A cluster's module for CUDA is loaded; a Mac has neither.")
            severity = Severity.COSMETIC if document.elsewhere else None
            return Match(command.start, command.end, message, severity)
    return None


RULE = Rule(
    code="E305",
    name="gpu-job",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(
        b"gpu",
        b"cuda",
        b"cudnn",
        b"nccl",
        b"nvhpc",
        b"a100",
        b"h100",
        b"v100",
        b"nvidia",
        b"nvcc",
    ),
    what=N_("A shell script asks for NVIDIA GPUs, or calls tools that come with them."),
    why=N_(
        "The commands do not exist on macOS, where a script with `set -e` stops at the first one, "
        "and no batch system there reads the directives."
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
                srun --gres=gpu:1 python train.py
                srun nvidia-smi -L
                """,
            finds=(
                "#SBATCH --gres=gpu:a100:4",
                "module load cuda/12.1 gcc",
                "nvidia-smi",
                "srun --gres=gpu:1 python train.py",
                "nvidia-smi -L",
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
        Example(
            path="README.md",
            text="Check with `nvidia-smi`:\n\n```bash\n$ nvidia-smi\nFri\n```\n",
            finds=("nvidia-smi",),
        ),
        Example(
            path="maybe.sh",
            text="""\
                if command -v nvidia-smi; then nvidia-smi -L; fi
                nvidia-smi || true
                [ "$(uname)" = Linux ] && nvcc --version
                case "$1" in cuda) nvcc a.cu;; esac
                """,
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
