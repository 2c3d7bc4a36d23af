"""D112: a setting that is a CUDA device."""

import re
from collections.abc import Iterator

from analyzers.documents.config import ConfigDocument
from analyzers.documents.settings import Setting
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"(?i:cuda|gpu|nccl|zero_optimization|\bstage\b|deepspeed)")
_DEVICE_KEY = re.compile(r"(?:.*[._-])?(?:devices?|device_type|map_location|accelerator)\Z")
_SWITCH_KEY = re.compile(r"(?:use|with|enable)[._-]?(?:cuda|gpu)\Z|cuda\Z")
_BACKEND_KEY = re.compile(r"(?:.*[._-])?backend\Z")
_COUNT_KEY = re.compile(r"(?:num|n)?[._-]?gpus?\Z")
_SPREAD = re.compile(
    rb"""(?m)^[ \t]*["']?strategy["']?[ \t]*[:=][ \t]*["']?(?:ddp|fsdp|deepspeed)"""
)
_NUMBERED = re.compile(r"cuda:(\d+)\Z")


def find(document: ConfigDocument) -> Iterator[Match]:
    """Settings whose value is CUDA, or that turn it on."""
    for setting in document.settings(_WORDS):
        found = _trouble(setting, document.says(_SPREAD))
        if found is not None:
            yield Match(setting.value.start, setting.value.end, *found)


def _trouble(setting: Setting, spread: bool) -> tuple[str, Severity] | None:
    key, value = setting.key.lower(), setting.value.value.strip().lower()
    numbered = _NUMBERED.match(value)
    if numbered is not None and numbered[1] != "0":
        return _(
            "CUDA device number {index} has no counterpart on a Mac, which has exactly one MPS "
            "device."
        ).format(index=numbered[1]), Severity.BLOCKS
    if numbered is not None or (value == "cuda" and _is_device(setting)):
        message = _("The setting is CUDA: a Mac needs another value, or the program's own choice.")
        return message, Severity.BLOCKS
    if value == "gpu" and key == "accelerator" and spread:
        return _(
            "Lightning takes gpu as MPS on a Mac, and refuses MPS together with the strategy for "
            "several devices that this file names."
        ), Severity.BLOCKS
    if value == "gpu" and key == "accelerator":
        return _(
            "Lightning takes gpu as MPS on a Mac; another reader may mean CUDA by it."
        ), Severity.COSMETIC
    if value == "gpu" and _DEVICE_KEY.match(key):
        return _(
            "Whether gpu means MPS too depends on what reads this: look there."
        ), Severity.DEGRADES
    if value == "nccl" and _BACKEND_KEY.match(key):
        return _(
            "NCCL is NVIDIA's: a Mac has gloo, and no second device to talk to."
        ), Severity.BLOCKS
    if value in ("true", "yes", "on") and _SWITCH_KEY.match(key):
        return _(
            "CUDA is turned on by this setting: look what the program does without it."
        ), Severity.DEGRADES
    return _several(setting, key, value)


def _is_device(setting: Setting) -> bool:
    return bool(_DEVICE_KEY.match(setting.key.lower())) or setting.key == "_args_"


def _several(setting: Setting, key: str, value: str) -> tuple[str, Severity] | None:
    """Settings of more than one GPU."""
    if _COUNT_KEY.match(key) and value.isdecimal() and 1 < int(value[:6]) < 1025:
        return _("Several GPUs are asked for; a Mac has one MPS device."), Severity.BLOCKS
    if key == "distributed_type" and value in ("multi_gpu", "deepspeed", "fsdp", "megatron_lm"):
        return _(
            "Accelerate is told to use several GPUs: a Mac needs distributed_type: 'NO' and one "
            "process."
        ), Severity.BLOCKS
    if key == "stage" and setting.above[:1] == ("zero_optimization",) and value in ("1", "2", "3"):
        return _(
            "ZeRO spreads a model over several GPUs; DeepSpeed has no communication between "
            "processes on MPS."
        ), Severity.BLOCKS
    return None


RULE = Rule(
    code="D112",
    name="config-device",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=ConfigDocument,
    triggers=(b"cuda", b"gpu", b"nccl", b"zero_optimization", b"deepspeed"),
    what=N_("A configuration file chooses CUDA."),
    why=N_("The value reaches the program at run time, where no search of its code finds it."),
    advice=N_(
        "Let the file say nothing, or auto, and let the program choose from what the machine has; "
        "or keep one configuration for each machine."
    ),
    source="https://lightning.ai/docs/pytorch/stable/accelerators/mps_basic.html",
    find=find,
    examples=(
        Example(
            path="configs/train.yaml",
            text="""\
                trainer:
                  accelerator: gpu
                  devices: [0]
                model: {device: "cuda:1", use_cuda: true}
                device: cuda
                eval_devices:
                  - cuda:0
                dist_backend: nccl
                """,
            finds=("gpu", "cuda:1", "true", "cuda", "cuda:0", "nccl"),
        ),
        Example(
            path="configs/ddp.yaml",
            text="strategy: ddp\naccelerator: gpu\ndevices: auto\n",
            finds=("gpu",),
        ),
        Example(
            path="accelerate.yaml",
            text="distributed_type: MULTI_GPU\nnum_processes: 8\ngpus: 8\n",
            finds=("MULTI_GPU", "8"),
        ),
        Example(
            path="configs/train.json",
            text='{"device": "cuda", "model": {"gpus": 1, "use_cuda": true}, "name": "cuda"}\n',
            finds=("cuda", "true"),
        ),
        Example(
            path="ds_config.json",
            text='{"zero_optimization": {"stage": 2}, "fp16": {"enabled": "auto"}}\n',
            finds=("2",),
        ),
        Example(path="train.toml", text='[run]\ndevice = "cuda:0"  # one\n', finds=("cuda:0",)),
        Example(path="train.ini", text="[run]\ndevice = cuda ; the server\n", finds=("cuda",)),
        Example(path="results/run.json", text='{"device": "cuda"}\n'),
        Example(path="pyproject.toml", text='[tool.x]\ndevice = "cuda"\n'),
        Example(
            path="configs/mac.yaml",
            text="""\
                device: mps
                accelerator: auto
                use_cuda: false
                name: cuda
                backend: gloo
                """,
        ),
        Example(path="a.yaml", text="# device: cuda\nnote: set device to cuda\n"),
        Example(path=".github/workflows/test.yml", text="env:\n  device: cuda\n"),
        Example(path="docker-compose.yml", text="device: cuda\n"),
    ),
)
