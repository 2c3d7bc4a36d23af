"""D142: maps from parts of a model to numbered CUDA cards."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument
from analyzers.reach import settled
from analyzers.rule import Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_SET = re.compile(rb"\s*=\s*[{0-9]")
_KEYWORD = re.compile(rb"\b(?:device_map|max_memory)(?=" + _SET.pattern + rb")")


def find(document: PythonDocument) -> Iterator[Match]:
    """``device_map={"": 0}`` and ``max_memory={0: "40GiB"}``."""
    for match, node in document.hits(_KEYWORD):
        holder = node.parent if node.type == "identifier" else None
        if holder is None or holder.type not in ("keyword_argument", "assignment"):
            continue
        value = holder.child_by_field_name("value") or holder.child_by_field_name("right")
        if value is None or (holder.type == "assignment" and value.type != "dictionary"):
            continue
        if settled(document, holder):
            continue
        if match[0] == b"max_memory":
            if any(key.type == "integer" for key, _value in _pairs(value)):
                yield Match(
                    holder.start_byte,
                    holder.end_byte,
                    _(
                        'The number means a CUDA card. On a Mac the key is "mps", the CPU shares '
                        "that memory and must not be counted again, and what does not fit goes to "
                        "disk."
                    ),
                )
        else:
            yield from _cards(holder, [held for _key, held in _pairs(value)] or [value])


def _cards(holder: Node, places: list[Node]) -> Iterator[Match]:
    """What the numbers among the places mean."""
    numbers = [place for place in places if place.type == "integer"]
    if any(place.text != b"0" for place in numbers):
        yield Match(
            holder.start_byte,
            holder.end_byte,
            _("A number above 0 means a second CUDA card, and a Mac has one GPU."),
        )
    elif numbers:
        yield Match(
            holder.start_byte,
            holder.end_byte,
            _("Before PyTorch 2.5 the number means a CUDA card: this raises on a Mac."),
            severity=Severity.BLOCKS,
            until="2.5",
        )
        yield Match(
            holder.start_byte,
            holder.end_byte,
            _(
                "The number was for the first CUDA card; from PyTorch 2.5 on it means the "
                'accelerator of the machine. Name the device, as in {"": str(device)}, so that older '
                "releases and a machine without one work too."
            ),
            severity=Severity.COSMETIC,
            since="2.5",
        )


def _pairs(value: Node) -> Iterator[tuple[Node, Node]]:
    if value.type != "dictionary":
        return
    for pair in value.named_children:
        key, held = pair.child_by_field_name("key"), pair.child_by_field_name("value")
        if pair.type == "pair" and key is not None and held is not None:
            yield key, held


RULE = Rule(
    code="D142",
    name="device-map",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(Word(b"device_map", after=_SET), Word(b"max_memory", after=_SET)),
    what=N_("A model's parts, or its memory, are laid out over numbered CUDA cards."),
    why=N_(
        "A Mac has one GPU that shares the memory of the CPU. Accelerate places a model on mps and "
        "then on disk; there is no offload from GPU to CPU."
    ),
    advice=N_("Give a map and memory limits where CUDA is available, and elsewhere one device."),
    source="accelerate 1.15.0, utils/modeling.py, read; https://github.com/pytorch/pytorch/pull/129119",
    find=find,
    examples=(
        Example(
            text="""\
                from transformers import AutoModelForCausalLM
                a = AutoModelForCausalLM.from_pretrained("org/m", device_map={"": 0})
                b = AutoModelForCausalLM.from_pretrained(
                    "org/m", device_map="auto", max_memory={0: "40GiB", "cpu": "100GiB"}
                )
                """,
            finds=(
                'device_map={"": 0}',
                'device_map={"": 0}',
                'max_memory={0: "40GiB", "cpu": "100GiB"}',
            ),
        ),
        Example(text="""model = load("org/m", device_map="auto")\n"""),
        Example(text="""model = load("org/m", device_map={"": device})\n"""),
        Example(text="""model = load("org/m", max_memory={"cpu": "100GiB"})\n"""),
        Example(
            text="""model = load("org/m", device_map={"": 0} if torch.cuda.is_available() else "auto")\n"""
        ),
        Example(text="""model = load("org/m", device_map={"": "mps"})\n"""),
    ),
)
