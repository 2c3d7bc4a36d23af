"""D126: environment variables of MPS that a program sets for itself."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import method_of, passed, string_of
from analyzers.documents.python import PythonDocument, statement_of
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

FALLBACK = "PYTORCH_ENABLE_MPS_FALLBACK"
HIGH = "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
LOW = b"PYTORCH_MPS_LOW_WATERMARK_RATIO"

_NAME = re.compile(rb"(?:PYTORCH_ENABLE_MPS_FALLBACK|PYTORCH_MPS_HIGH_WATERMARK_RATIO)")
_NUMBER = re.compile(r"\s*[+-]?(\d+)")
#: Packages that import torch when they are imported.
_BRING_TORCH = re.compile(
    r"(?:torch\w*|pytorch_lightning|lightning|transformers|accelerate|diffusers|timm|ultralytics|"
    r"fastai|peft|trl|kornia|monai|open_clip|sentence_transformers|whisper)(?:\.|\Z)"
)


def find(document: PythonDocument) -> Iterator[Match]:
    """Places that set the fallback or the memory limit of MPS."""
    for match, node in document.hits(_NAME):
        setting = _setting(document, node)
        if setting is None:
            continue
        place, value = setting
        text = string_of(document, value)
        if match[0].decode() == FALLBACK:
            yield from _fallback(document, place, text)
        elif text is not None:
            yield from _limit(document, place, text)


def _setting(document: PythonDocument, node: Node) -> tuple[Node, Node] | None:
    """The assignment or call that sets the variable named by ``node``, and the value."""
    while node.type in ("string_content", "string_start", "string_end") and node.parent is not None:
        node = node.parent
    parent = node.parent
    if node.type != "string" or parent is None:
        return None
    if parent.type == "subscript":
        holder = parent.parent
        owner = parent.child_by_field_name("value")
        if holder is None or holder.type != "assignment" or owner is None:
            return None
        value = holder.child_by_field_name("right")
        is_target = holder.child_by_field_name("left") == parent
        if is_target and value is not None and document.slice(owner).endswith("environ"):
            return holder, value
        return None
    call = parent.parent
    if parent.type != "argument_list" or call is None or call.type != "call":
        return None
    arguments = passed(call)
    if method_of(document, call) in ("setdefault", "putenv") and len(arguments) == 2:
        return (call, arguments[1]) if arguments[0] == node else None
    return None


def _fallback(document: PythonDocument, place: Node, value: str | None) -> Iterator[Match]:
    number = _NUMBER.match(value) if value is not None else None
    if value is not None and number is None:
        yield Match(
            place.start_byte,
            place.end_byte,
            _(
                "PyTorch reads the value of {name} as a whole number; {value} stops the program "
                "when torch is loaded."
            ).format(name=FALLBACK, value=repr(value)),
            severity=Severity.BLOCKS,
        )
    elif number is not None and not number[1].strip("0"):
        return
    elif _after_torch(document, place):
        yield Match(
            place.start_byte,
            place.end_byte,
            _(
                "Too late: PyTorch reads {name} once, when it is loaded, and an import above has "
                "loaded it. Set it in the shell, or before the first import that brings torch."
            ).format(name=FALLBACK),
            severity=Severity.BLOCKS,
        )
    else:
        yield Match(
            place.start_byte,
            place.end_byte,
            _(
                "Set for good, this hides which operators MPS lacks: each of them copies its data "
                "to the CPU and back, with one warning a process at most. Set it for single runs, "
                "and record what falls back."
            ),
        )


def _after_torch(document: PythonDocument, place: Node) -> bool:
    """Whether an import that stands above, at the top of the file, has loaded torch."""
    return any(
        one.statement.start_byte < place.start_byte
        and one.scope.type == "module"
        and _BRING_TORCH.match(one.target) is not None
        and statement_of(one.statement).parent == document.root
        for one in document.imports
    )


def _limit(document: PythonDocument, place: Node, value: str) -> Iterator[Match]:
    try:
        ratio = float(value)
    except ValueError:
        return
    if ratio == 0:
        yield Match(
            place.start_byte,
            place.end_byte,
            _(
                "0.0 takes away the limit on memory: a program that needs too much then takes the "
                "whole machine down instead of raising. Use a smaller batch."
            ),
        )
    elif 0 < ratio < 1.4 and LOW not in document.text:
        yield Match(
            place.start_byte,
            place.end_byte,
            _(
                "The low mark, 1.4 unless it is set, must not lie above the high one: set "
                "PYTORCH_MPS_LOW_WATERMARK_RATIO lower as well, or the first tensor on MPS raises."
            ),
            severity=Severity.BLOCKS,
        )


RULE = Rule(
    code="D126",
    name="mps-setting",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"PYTORCH_ENABLE_MPS_FALLBACK", b"PYTORCH_MPS_HIGH_WATERMARK_RATIO"),
    what=N_("The program sets a variable that PyTorch reads for MPS."),
    why=N_(
        "PyTorch reads these once, so that it matters when they are set and to what. The CPU "
        "fallback is no support: it hides missing operators and costs two copies each time. It does "
        "not help with types that MPS does not have."
    ),
    advice=N_(
        "Set the fallback in the shell, to 1 and no word, for a run that counts what falls back, and "
        "leave the limit on memory as it is."
    ),
    source=(
        "https://docs.pytorch.org/docs/stable/mps_environment_variables.html; "
        "aten/src/ATen/mps/MPSFallback.mm of PyTorch, read"
    ),
    find=find,
    examples=(
        Example(
            text="""\
                import os
                os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")
                import torch
                os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"
                os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "true"
                os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.0"
                os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.7"
                """,
            finds=(
                'os.environ.setdefault("PYTORCH_ENABLE_MPS_FALLBACK", "1")',
                'os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"',
                'os.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "true"',
                'os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.0"',
                'os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.7"',
            ),
        ),
        Example(text="""import os\nprint(os.environ.get("PYTORCH_ENABLE_MPS_FALLBACK", "0"))\n"""),
        Example(text="""import os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "0"\n"""),
        Example(text="""print("set PYTORCH_ENABLE_MPS_FALLBACK=1 for this model")\n"""),
        Example(
            text="""\
                import os
                os.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.7"
                os.environ["PYTORCH_MPS_LOW_WATERMARK_RATIO"] = "0.6"
                """,
        ),
    ),
)
