"""D140: settings of Lightning's Trainer that MPS does not take."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, is_true, keyword, number_of, string_of
from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TRAINERS = (
    "pytorch_lightning.Trainer",
    "pytorch_lightning.trainer.Trainer",
    "lightning.Trainer",
    "lightning.pytorch.Trainer",
    "lightning.Fabric",
    "lightning.fabric.Fabric",
)
_PARALLEL = ("ddp", "fsdp", "deepspeed", "dp", "horovod", "bagua", "colossalai")
_OTHER_DEVICES = ("cpu", "tpu", "xla", "hpu", "ipu")


def find(document: PythonDocument) -> Iterator[Match]:
    """Strategies, numbers of devices and options that are for CUDA."""
    for name in _TRAINERS:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or reference.name != name or settled(document, call):
                continue
            if string_of(document, keyword(call, "accelerator")) in _OTHER_DEVICES:
                continue
            yield from _settings(document, call)


def _settings(document: PythonDocument, call: Node) -> Iterator[Match]:
    strategy = keyword(call, "strategy")
    text = string_of(document, strategy) or ""
    if strategy is not None and text.split("_")[0] in _PARALLEL:
        yield _named(
            strategy,
            _(
                "Lightning refuses this strategy where the accelerator is MPS, which auto and gpu "
                "mean on a Mac. The accelerator can stay; ask for the strategy only with several "
                "CUDA cards."
            ),
            Severity.BLOCKS,
        )
    devices = keyword(call, "devices")
    if devices is not None and ((number_of(document, devices) or 0) > 1 or _is_longer(devices)):
        yield _named(
            devices,
            _("A Mac has one MPS device: Lightning refuses more than one there."),
            Severity.BLOCKS,
        )
    gpus = keyword(call, "gpus")
    if gpus is not None and gpus.type in ("integer", "list", "unary_operator"):
        yield _named(
            gpus,
            _(
                "gpus= means CUDA cards, and Lightning 2.0 took it away. Write accelerator='auto' "
                "and devices=1."
            ),
            Severity.BLOCKS,
        )
    if is_true(keyword(call, "sync_batchnorm")):
        value = keyword(call, "sync_batchnorm")
        assert value is not None
        yield _named(value, _("Has no effect with the one GPU of a Mac."), Severity.COSMETIC)


def _is_longer(devices: Node) -> bool:
    return devices.type == "list" and devices.named_child_count > 1


def _named(value: Node, message: str, severity: Severity) -> Match:
    """The keyword and its value."""
    place = value.parent if value.parent is not None else value
    return Match(place.start_byte, place.end_byte, message, severity=severity)


RULE = Rule(
    code="D140",
    name="lightning-trainer",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"lightning",),
    what=N_("Lightning's Trainer is told to use several CUDA cards."),
    why=N_(
        "accelerator='gpu' and 'auto' take MPS on a Mac and need no change. What Lightning does not "
        "take there is DDP and its relatives, and more than one device."
    ),
    advice=N_('Choose strategy and devices by torch.cuda.device_count(), with "auto" and 1 else.'),
    source=(
        "pytorch_lightning 2.6.6, trainer/connectors/accelerator_connector.py, read; "
        "https://github.com/Lightning-AI/pytorch-lightning/issues/16148"
    ),
    since="Lightning 1.9",
    find=find,
    examples=(
        Example(
            text="""\
                import lightning as L
                from pytorch_lightning import Trainer
                a = L.Trainer(accelerator="auto", devices="auto", strategy="ddp")
                b = Trainer(accelerator="gpu", devices=4)
                c = Trainer(gpus=1)
                """,
            finds=('strategy="ddp"', "devices=4", "gpus=1"),
        ),
        Example(
            text="""import lightning as L\nt = L.Trainer(accelerator="gpu", devices=1, strategy="auto")\n"""
        ),
        Example(
            text="""import lightning as L\nt = L.Trainer(accelerator="cpu", devices=4, strategy="ddp")\n"""
        ),
        Example(
            text="""from transformers import Trainer\nt = Trainer(strategy="ddp")\n# lightning\n"""
        ),
        Example(
            text="""\
                import lightning as L
                import torch
                t = L.Trainer(strategy="ddp" if torch.cuda.device_count() > 1 else "auto")
                """,
        ),
    ),
)
