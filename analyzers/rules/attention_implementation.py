"""D143: attention that is asked for in a form that CUDA alone has."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument
from analyzers.reach import may_fail, settled, under_condition
from analyzers.rule import NOT_COMPARED, Example, Match, Rule, Word
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_NAME = re.compile(rb"""["']flash_attention_[234]["']""")
_TRUE = re.compile(rb"\s*=\s*True\b")
_FLAG = re.compile(rb"\buse_flash_attention_2(?=" + _TRUE.pattern + rb")")
_OPTION = re.compile(rb"(?i)flash|attn|attention")
_HOLDERS = (
    "keyword_argument",
    "assignment",
    "default_parameter",
    "typed_default_parameter",
    "pair",
)


def find(document: PythonDocument) -> Iterator[Match]:
    """Settings that choose flash-attention without a condition."""
    message = _(
        "flash-attn has no build for macOS: loading the model raises an ImportError. Ask for it where "
        'CUDA is available, and for "sdpa" elsewhere, or "eager" where the model has no sdpa.'
    )
    for _found, node in document.hits(_NAME):
        while node.type in ("string_start", "string_content", "string_end") and node.parent:
            node = node.parent
        holder = node.parent
        if node.type != "string" or holder is None or holder.type not in _HOLDERS:
            continue
        if holder.type == "pair" and holder.child_by_field_name("key") == node:
            continue
        if _is_about_attention(document, holder, node) and not _is_safe(document, holder):
            yield _match(document, holder, message)
    for _found, node in document.hits(_FLAG):
        holder = node.parent
        if (
            holder is not None
            and holder.type == "keyword_argument"
            and not _is_safe(document, holder)
        ):
            yield _match(document, holder, message)


def _is_safe(document: PythonDocument, place: Node) -> bool:
    return settled(document, place) or may_fail(place)


def _match(document: PythonDocument, place: Node, message: str) -> Match:
    """The setting, milder where the program has an option for it."""
    asked = under_condition(document, place, _OPTION)
    return Match(
        place.start_byte, place.end_byte, message, severity=Severity.DEGRADES if asked else None
    )


def _is_about_attention(document: PythonDocument, holder: Node, value: Node) -> bool:
    """Whether the name that is given the value is one for a kind of attention."""
    name = document.text[holder.start_byte : value.start_byte]
    return b"attn_implementation" in name or b"attention_implementation" in name


RULE = Rule(
    code="D143",
    name="attention-implementation",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        Word(b'"flash_attention_', before=NOT_COMPARED),
        Word(b"'flash_attention_", before=NOT_COMPARED),
        Word(b"use_flash_attention_2", after=_TRUE),
    ),
    what=N_("A model is loaded with flash-attention by name."),
    why=N_("The package is compiled with nvcc and has no wheel for macOS in any release."),
    advice=N_(
        'attn_implementation="flash_attention_2" where CUDA is available and is_flash_attn_2_available(), '
        '"sdpa" else; compare the results, since PyTorch\'s own attention on MPS had faults in some releases.'
    ),
    source="https://github.com/Dao-AILab/flash-attention#installation-and-features; transformers 5.24.0, read",
    find=find,
    examples=(
        Example(
            text="""\
                from transformers import AutoModel
                a = AutoModel.from_pretrained("org/m", attn_implementation="flash_attention_2")
                b = AutoModel.from_pretrained("org/m", use_flash_attention_2=True)
                config._attn_implementation = "flash_attention_2"
                """,
            finds=(
                'attn_implementation="flash_attention_2"',
                "use_flash_attention_2=True",
                'config._attn_implementation = "flash_attention_2"',
            ),
        ),
        Example(text="""a = load("org/m", attn_implementation="sdpa")\n"""),
        Example(
            text="""\
                import torch
                kind = "flash_attention_2" if torch.cuda.is_available() else "sdpa"
                a = load("org/m", attn_implementation=kind)
                """,
        ),
        Example(text="""if config._attn_implementation == "flash_attention_2":\n    pass\n"""),
        Example(
            text="""\
                try:
                    import flash_attn
                    options["attn_implementation"] = "flash_attention_2"
                except ImportError:
                    options["attn_implementation"] = "sdpa"
                """,
        ),
        Example(text="""KINDS = {"flash_attention_2": FlashAttention}\n"""),
        Example(text="""a = load("org/m", use_flash_attn=True)\n"""),
    ),
)
