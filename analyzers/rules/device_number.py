"""D118: a device that is a bare number."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument, enclosing, nth
from analyzers.guards import Standing, standing
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_KEYWORD = re.compile(
    rb"\b(?:device|map_location)[ \t]*=[ \t]*(?:\d|(?:self\.|args\.)?(?:local_)?rank\b)"
)
_RANK = re.compile(r"(?:(?:self|args|opt)\.)?(?:local_)?rank\Z")
#: Libraries outside of PyTorch whose ``device=0`` is a GPU.
_TAKE_A_NUMBER = ("torch", "transformers", "ultralytics", "sentence_transformers")


def find(document: PythonDocument) -> Iterator[Match]:
    """Numbers, and ranks of processes, given to ``.to()``, ``torch.device`` or ``device=``."""
    for call, _receiver, _name in calls_of(document, "to"):
        arguments = call.child_by_field_name("arguments")
        first = nth(arguments, 0) if arguments is not None else None
        if first is not None and first.type != "keyword_argument":
            yield from _judged(document, first, first)
    for reference in document.references("torch.device"):
        made = reference.node.parent
        arguments = made.child_by_field_name("arguments") if made is not None else None
        first = nth(arguments, 0) if arguments is not None else None
        if first is not None and reference.name == "torch.device":
            yield from _judged(document, first, first)
    for _match, node in document.hits(_KEYWORD):
        keyword = (
            node if node.type == "keyword_argument" else enclosing(node, ("keyword_argument",))
        )
        if keyword is None or keyword.start_byte != _match.start():
            continue
        value = keyword.child_by_field_name("value")
        if value is not None and _is_of_torch(document, keyword):
            yield from _judged(document, keyword, value)


def _judged(document: PythonDocument, place: Node, value: Node) -> Iterator[Match]:
    text = document.slice(value)
    start, end = place.start_byte, place.end_byte
    if value.type == "integer" and text.isdigit() and len(text) < 3:
        number = int(text)
    elif value.type in ("identifier", "attribute") and _RANK.match(text):
        number = -1
    else:
        return
    if standing(document, value) is not Standing.BARE:
        message = _("Runs only where CUDA is available, and is skipped on a Mac.")
        yield Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
    elif number > 0:
        message = _("GPU number {index} has no counterpart on a Mac, which has one MPS device.")
        yield Match(start, end, message.format(index=number), severity=Severity.BLOCKS)
    elif number < 0:
        message = _(
            "The number of a process is used as the number of a GPU: a Mac has one MPS device, so "
            "only process 0 finds one."
        )
        yield Match(start, end, message)
    else:
        message = _(
            "A bare number is a CUDA device before PyTorch 2.5 and raises an error on a Mac; from "
            "then on 0 is the machine's own accelerator."
        )
        yield Match(start, end, message, severity=Severity.COSMETIC)


def _is_of_torch(document: PythonDocument, keyword: Node) -> bool:
    """Whether a call is one of PyTorch, or of a library that numbers GPUs as it does."""
    call = enclosing(keyword, ("call",))
    function = call.child_by_field_name("function") if call is not None else None
    if function is None:
        return False
    if function.type == "attribute" and (function.text or b"").endswith(b".to"):
        return True
    name = document.dotted(function)
    return (
        name is not None
        and name.split(".")[0] in _TAKE_A_NUMBER
        and not name.startswith("torch.cuda.")
    )


def _triggers() -> Iterator[bytes]:
    ranks = [who + what for who in (b"", b"self.", b"args.") for what in (b"rank", b"local_rank")]
    for before in (b".to(", b"device(", b"device=", b"device = ", b"_location=", b"_location = "):
        yield from (before + value for value in (*b"0 1 2 3 4 5 6 7 8 9".split(), *ranks))


RULE = Rule(
    code="D118",
    name="device-number",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=tuple(_triggers()),
    what=N_("A device is given as a bare number."),
    why=N_(
        "The number counts the GPUs of one machine. Which kind of GPU is meant depends on the "
        "release of PyTorch, and a Mac has one alone."
    ),
    advice=N_("Pass a device that was chosen once; keep numbers for a machine with several cards."),
    source="https://github.com/pytorch/pytorch/pull/129119",
    since="a number is the current accelerator: PyTorch 2.5",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from transformers import pipeline
                a = x.to(0)
                b = torch.device(1)
                c = torch.zeros(3, device=0)
                d = model.to(local_rank)
                e = pipeline("text-generation", device=0)
                """,
            finds=("0", "1", "device=0", "local_rank", "device=0"),
        ),
        Example(text="""import cv2\ncamera = cv2.VideoCapture(device=0)\n"""),
        Example(text="""stream = open_stream(device=1)\nx = y.to(device)\n"""),
        Example(text="""# x.to(0)\ntext = "x.to(0)"\n"""),
    ),
)
