"""D112: a setting that is a CUDA device."""

import re
from collections.abc import Iterator

from analyzers.documents.config import ConfigDocument, Setting
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_DEVICE_KEY = re.compile(r"(?:.*[._-])?(?:devices?|device_type|map_location|accelerator)\Z")
_SWITCH_KEY = re.compile(r"(?:use|with|enable)[._-]?(?:cuda|gpu)\Z|cuda\Z")
_BACKEND_KEY = re.compile(r"(?:.*[._-])?backend\Z")
_NUMBERED = re.compile(r"cuda:(\d+)\Z")


def find(document: ConfigDocument) -> Iterator[Match]:
    """Settings whose value is CUDA, or that turn it on."""
    for setting in document.settings():
        message = _message(setting)
        if message is not None:
            yield Match(setting.value.start, setting.value.end, message)


def _message(setting: Setting) -> str | None:
    key, value = setting.key.lower(), setting.value.value.strip().lower()
    numbered = _NUMBERED.match(value)
    if numbered is not None and numbered[1] != "0":
        return _(
            "CUDA device number {index} has no counterpart on a Mac, which has exactly one MPS "
            "device."
        ).format(index=numbered[1])
    if numbered is not None or (value == "cuda" and _DEVICE_KEY.match(key)):
        return _("The setting is CUDA: a Mac needs another value, or the program's own choice.")
    if value == "gpu" and _DEVICE_KEY.match(key):
        return _(
            "Whether gpu means MPS too depends on what reads this: Lightning takes it so, others "
            "mean CUDA."
        )
    if value == "nccl" and _BACKEND_KEY.match(key):
        return _("NCCL is NVIDIA's: a Mac has gloo, and no second device to talk to.")
    if value in ("true", "yes", "on") and _SWITCH_KEY.match(key):
        return _("CUDA is turned on by this setting: look what the program does without it.")
    return None


RULE = Rule(
    code="D112",
    name="config-device",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=ConfigDocument,
    triggers=(rb"(?i:cuda|gpu|nccl)",),
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
