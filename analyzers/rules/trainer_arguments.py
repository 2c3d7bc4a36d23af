"""D141: arguments of Transformers' and Accelerate's training that MPS takes late or never."""

from collections.abc import Iterator
from dataclasses import replace

from tree_sitter import Node

from analyzers.arguments import call_of, is_true, keyword, string_of
from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_ARGUMENTS = (
    *(f"transformers.{name}" for name in ("TrainingArguments", "Seq2SeqTrainingArguments")),
    *(
        f"trl.{name}"
        for name in ("SFTConfig", "DPOConfig", "GRPOConfig", "PPOConfig", "RewardConfig")
    ),
)


def find(document: PythonDocument) -> Iterator[Match]:
    """Literal settings of precision and of parts that need CUDA."""
    for name in _ARGUMENTS:
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is not None and not settled(document, call):
                yield from _of_arguments(document, call)
    for name in ("accelerate.Accelerator", "accelerate.accelerator.Accelerator"):
        for reference in document.references(name):
            call = call_of(reference.node)
            value = keyword(call, "mixed_precision") if call is not None else None
            if value is None or settled(document, reference.node):
                continue
            if string_of(document, value) in ("fp16", "bf16"):
                yield from _halves(value, string_of(document, value) == "fp16")


def _of_arguments(document: PythonDocument, call: Node) -> Iterator[Match]:
    for option in ("fp16", "bf16"):
        value = keyword(call, option)
        if value is not None and is_true(value):
            yield from _halves(value, option == "fp16")
    tf32 = keyword(call, "tf32")
    if tf32 is not None and is_true(tf32):
        yield _named(
            tf32, _("tf32=True raises a ValueError where there is no Ampere card or newer.")
        )
    for option in ("no_cuda", "use_cpu"):
        value = keyword(call, option)
        if value is not None and is_true(value):
            yield _named(
                value,
                _("Keeps the training on the CPU on a Mac as well, MPS stays unused."),
                Severity.DEGRADES,
            )
    deepspeed = keyword(call, "deepspeed")
    if deepspeed is not None and deepspeed.type in ("string", "dictionary"):
        yield _named(
            deepspeed,
            _(
                "DeepSpeed has no communication for MPS: no ZeRO and no second process on a Mac. "
                "Train there without it, in one process."
            ),
        )


def _halves(value: Node, fp16: bool) -> Iterator[Match]:
    """An error before PyTorch has what it takes; then it is a matter of the other versions."""
    since = "2.8" if fp16 else "2.6"
    yield replace(_named(value, _half(fp16)), until=since)
    yield replace(_named(value, _half(fp16), Severity.DEGRADES), since=since)


def _half(fp16: bool) -> str:
    if fp16:
        return _(
            "Accelerate takes fp16 on MPS since early 2025 and with PyTorch 2.5 or newer, its scaler "
            "with 2.8; older ones raise a ValueError. Ask for it where CUDA is available, or raise "
            "the lowest versions."
        )
    return _(
        "bf16 on MPS needs PyTorch 2.6, macOS 14 and an Accelerate of 2025 or newer; else a "
        "ValueError is raised. Ask for it where the device has it."
    )


def _named(value: Node, message: str, severity: Severity | None = None) -> Match:
    """The keyword and its value."""
    place = value.parent if value.parent is not None else value
    return Match(place.start_byte, place.end_byte, message, severity=severity)


RULE = Rule(
    code="D141",
    name="trainer-arguments",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        b"TrainingArguments",
        b"SFTConfig",
        b"DPOConfig",
        b"GRPOConfig",
        b"PPOConfig",
        b"RewardConfig",
        b"Accelerator",
    ),
    what=N_("A training library is set to a precision or to a part that was for CUDA."),
    why=N_(
        "It is a value of a configuration and no call for a device, and the library checks it: fp16 "
        "and bf16 work on MPS by versions of three things, tf32 and DeepSpeed do not."
    ),
    advice=N_("Let the value depend on the device, for example fp16=torch.cuda.is_available()."),
    source=(
        "accelerate 1.15.0, accelerator.py, and transformers 5.24.0, training_args.py, read; "
        "https://github.com/huggingface/accelerate/pull/3373"
    ),
    since="fp16: PyTorch 2.5; bf16: PyTorch 2.6 with macOS 14",
    find=find,
    examples=(
        Example(
            text="""\
                from accelerate import Accelerator
                from transformers import TrainingArguments
                a = TrainingArguments(output_dir="out", fp16=True, tf32=True)
                b = TrainingArguments(output_dir="out", bf16=True, no_cuda=True, deepspeed="zero3.json")
                c = Accelerator(mixed_precision="fp16")
                """,
            finds=(
                "fp16=True",
                "fp16=True",
                "tf32=True",
                "bf16=True",
                "bf16=True",
                "no_cuda=True",
                'deepspeed="zero3.json"',
                'mixed_precision="fp16"',
                'mixed_precision="fp16"',
            ),
        ),
        Example(
            text="""from transformers import TrainingArguments\na = TrainingArguments(fp16=torch.cuda.is_available())\n"""
        ),
        Example(
            text="""from transformers import TrainingArguments\na = TrainingArguments(fp16=False, tf32=False)\n"""
        ),
        Example(text="""a = Accelerator(mixed_precision="no")\n"""),
        Example(
            text="""class TrainingArguments:\n    fp16: bool = True\n\n\na = TrainingArguments(fp16=True)\n"""
        ),
    ),
)
