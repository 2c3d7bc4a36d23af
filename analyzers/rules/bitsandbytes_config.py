"""E341: models that are quantised by bitsandbytes as they are loaded."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of, is_true, keyword
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from analyzers.reach import may_fail, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_OPTIONS = ("load_in_4bit", "load_in_8bit")


def find(document: PythonDocument) -> Iterator[Match]:
    """``BitsAndBytesConfig(load_in_4bit=True)`` and the same options of a loader."""
    message = _(
        "bitsandbytes was for CUDA alone until 2026: 0.50.2 has a wheel for macOS 14 with kernels "
        "for MPS, older ones fail when they are used, also where they install. Ask for the version, "
        "and load without quantisation elsewhere."
    )
    for name in ("transformers.BitsAndBytesConfig", "diffusers.BitsAndBytesConfig"):
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is None or settled(document, call) or may_fail(call):
                continue
            if any(is_true(keyword(call, option)) for option in _OPTIONS):
                yield _match(call, message)
    for call, _receiver, _name in calls_of(document, "from_pretrained"):
        for option in _OPTIONS:
            value = keyword(call, option)
            if value is None or not is_true(value) or settled(document, call):
                continue
            place = value.parent if value.parent is not None else value
            yield _match(place, message)


def _match(place: Node, message: str) -> Match:
    return Match(place.start_byte, place.end_byte, message)


RULE = Rule(
    code="E341",
    name="bitsandbytes-config",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"load_in_4bit", b"load_in_8bit"),
    what=N_("A model is loaded in 4 or 8 bits by bitsandbytes."),
    why=N_(
        "Whether that works on a Mac depends on the version of bitsandbytes, and on the library that "
        "calls it, which asked for a CUDA card until mid-2026."
    ),
    advice=N_(
        "Pass quantization_config only where CUDA is available or the version is known to do, and a "
        "device_map that names the device."
    ),
    source="https://github.com/huggingface/diffusers/pull/13915; wheels of bitsandbytes on the package index",
    since="bitsandbytes 0.50",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from transformers import AutoModelForCausalLM, BitsAndBytesConfig
                config = BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)
                model = AutoModelForCausalLM.from_pretrained("org/m", load_in_8bit=True)
                """,
            finds=(
                "BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_compute_dtype=torch.bfloat16)",
                "load_in_8bit=True",
            ),
        ),
        Example(
            text="""from transformers import BitsAndBytesConfig\nc = BitsAndBytesConfig(load_in_4bit=args.quantize)\n"""
        ),
        Example(text="""model = load(load_in_8bit=True)\n"""),
        Example(text="""# BitsAndBytesConfig(load_in_4bit=True)\n"""),
        Example(
            text="""\
                import torch
                from transformers import BitsAndBytesConfig
                c = BitsAndBytesConfig(load_in_4bit=True) if torch.cuda.is_available() else None
                """,
        ),
    ),
)
