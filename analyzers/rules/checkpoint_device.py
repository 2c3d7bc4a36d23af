"""D133: checkpoints and the device that they were saved on."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import argument, call_of, keyword, passed, string_of
from analyzers.devices import calls_of, device_strings
from analyzers.documents.python import PythonDocument, nth, statement_of
from analyzers.reach import moves, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

#: What people call a file that holds a model.
_CHECKPOINT = re.compile(
    rb"(?i)ckpt|checkpoint|weight|state_?dict|pretrain|resume|\.pth\b|model_?(?:path|file|name)|snapshot"
)

_IN_MEMORY = re.compile(rb"(?i)BytesIO|buf|bytes|stream")


def find(document: PythonDocument) -> Iterator[Match]:
    """Loads that fail on another machine than the one that saved."""
    for reference in document.references("torch.jit.load"):
        call = call_of(reference.node)
        target = argument(call, "map_location", 1) if call is not None else None
        if call is not None and target is not None and _names_mps(document, target):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Before PyTorch 2.1 torch.jit.load takes no MPS as map_location. Loading to the "
                    "CPU and then moving works in every release."
                ),
                until="2.1",
            )
    for call, receiver, _name in calls_of(document, "load_state_dict"):
        value = keyword(call, "map_location")
        # On what was imported it is a function of that module, with arguments of its own.
        if value is not None and document.dotted(receiver) is None:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "load_state_dict takes no map_location and raises a TypeError: it belongs to "
                    "torch.load, whether the checkpoint comes from CUDA or from a Mac."
                ),
            )
    yield from _unmapped(document)


def _names_mps(document: PythonDocument, target: Node) -> bool:
    if target.type == "call":
        given = passed(target)
        return bool(given) and (string_of(document, given[0]) or "").startswith("mps")
    return (string_of(document, target) or "").startswith("mps")


def _unmapped(document: PythonDocument) -> Iterator[Match]:
    """Checkpoints that a program with devices loads without saying where to."""
    for reference in document.references("torch.load"):
        call = call_of(reference.node)
        if call is None or len(passed(call)) == 0:
            continue
        if argument(call, "map_location", 1) is not None or _has_splat(call):
            continue
        if not (moves(document) or device_strings(document)) or settled(document, call):
            continue
        if _is_model(document, call):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "A checkpoint that was saved on CUDA does not load on a Mac without "
                    "map_location, nor one from a Mac on the CUDA machine: load it with "
                    'map_location="cpu", and move the model then.'
                ),
                severity=Severity.DEGRADES,
            )


def _is_model(document: PythonDocument, call: Node) -> bool:
    """Whether the file that is loaded holds a model, by its name and by what is done with it."""
    file = document.text[call.start_byte : call.end_byte]
    if _IN_MEMORY.search(file):
        return False
    inner = nth(statement_of(call), 0)
    start = inner.start_byte if inner is not None else call.start_byte
    before = document.text[max(start, call.start_byte - 200) : call.start_byte]
    said = (file + b" " + before).replace(b"weights_only", b"")
    return _CHECKPOINT.search(said) is not None


def _has_splat(call: Node) -> bool:
    return any(one.type in ("list_splat", "dictionary_splat") for one in passed(call))


RULE = Rule(
    code="D133",
    name="checkpoint-device",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"torch.load", b"jit.load", b"map_location", b"torch import load"),
    what=N_("A checkpoint is loaded without minding the device that it was saved on."),
    why=N_(
        "Tensors are saved with their device, and go back to it when they are loaded. From CUDA to a "
        "Mac and from a Mac to CUDA, both fail without map_location."
    ),
    advice=N_(
        'torch.load(path, map_location="cpu"), then model.to(device). It is the same on CUDA.'
    ),
    source=(
        "https://docs.pytorch.org/docs/stable/generated/torch.load.html; "
        "https://github.com/pytorch/pytorch/pull/102204"
    ),
    since="torch.jit.load to MPS: PyTorch 2.1",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                net = Net().to(device)
                scripted = torch.jit.load("net.ts", map_location=torch.device("mps"))
                net.load_state_dict(torch.load("net.pth"), map_location="cuda")
                net.load_state_dict(torch.load(args.resume)["state_dict"])
                """,
            finds=(
                'torch.jit.load("net.ts", map_location=torch.device("mps"))',
                'net.load_state_dict(torch.load("net.pth"), map_location="cuda")',
                'torch.load("net.pth")',
                "torch.load(args.resume)",
            ),
        ),
        Example(
            text="""\
                import torch
                state = torch.load("net.pth", map_location={"cuda:0": "cpu"})
                net.to(device).load_state_dict(state)
                """,
        ),
        Example(text="""import torch\nstate = torch.load("net.pth")\nprint(state.keys())\n"""),
        Example(
            text="""\
                from . import dist_util
                model.load_state_dict(dist_util.load_state_dict(path, map_location="cpu"))
                """,
        ),
        Example(
            text="""import torch\nrows = torch.load("rows.pt", weights_only=True).to(device)\n"""
        ),
        Example(
            text="""import torch\nnet = torch.jit.load("net.ts", map_location="cpu").to(device)\n"""
        ),
    ),
)
