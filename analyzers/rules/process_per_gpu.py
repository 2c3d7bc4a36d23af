"""D130: one process for each CUDA card."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import argument, call_of
from analyzers.documents.python import PythonDocument, enclosing
from analyzers.reach import may_fail, settled, under_condition
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_LOCAL_RANK = re.compile(rb"""environ\s*\[\s*["']LOCAL_RANK["']\s*\]""")
#: What a condition, or a file, says when it knows a start without torchrun.
_KNOWS = re.compile(rb"(?i)rank|world|dist|ddp|torchrun|slurm")
_SPAWN = ("torch.multiprocessing.spawn", "torch.multiprocessing.spawn.spawn")


def find(document: PythonDocument) -> Iterator[Match]:
    """Processes by the number of cards, and ranks that torchrun alone sets."""
    for name in _SPAWN:
        for reference in document.references(name):
            call = call_of(reference.node)
            count = argument(call, "nprocs", 2) if call is not None else None
            if call is None or count is None or settled(document, call):
                continue
            if _is_card_count(document, count):
                yield Match(
                    call.start_byte,
                    call.end_byte,
                    _(
                        "Without CUDA the number of cards is 0: no process is started, and the "
                        "program ends without having done anything. Call the function once, in "
                        "this process, where there is one device or none."
                    ),
                    severity=Severity.BLOCKS,
                )
    for _match, node in document.hits(_LOCAL_RANK):
        read = node if node.type == "subscript" else enclosing(node, ("subscript", "block"))
        if read is None or read.type != "subscript" or _is_target(read):
            continue
        if under_condition(document, read, _KNOWS) or may_fail(read) or settled(document, read):
            continue
        yield Match(
            read.start_byte,
            read.end_byte,
            _(
                "Only torchrun sets LOCAL_RANK; started plainly, as on a Mac with its one GPU, "
                "this raises a KeyError. Read it with a default of 0."
            ),
        )


def _is_card_count(document: PythonDocument, count: Node) -> bool:
    """Whether a number of processes is the number of CUDA cards, said here or just above."""
    if count.type == "call":
        function = count.child_by_field_name("function")
        return function is not None and document.dotted(function) == "torch.cuda.device_count"
    if count.type != "identifier":
        return False
    name = re.escape(document.text[count.start_byte : count.end_byte])
    above = document.text[max(0, count.start_byte - 4_000) : count.start_byte]
    set_to = re.findall(rb"(?m)^[ \t]*" + name + rb"[ \t]*=[ \t]*([^\r\n#]{1,80})", above)
    return bool(set_to) and set_to[-1].strip() == b"torch.cuda.device_count()"


def _is_target(read: Node) -> bool:
    parent = read.parent
    if parent is None:
        return False
    if parent.type == "delete_statement":
        return True
    return parent.type == "assignment" and parent.child_by_field_name("left") == read


RULE = Rule(
    code="D130",
    name="process-per-gpu",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"LOCAL_RANK", b"spawn"),
    what=N_("The program expects one process for each CUDA card."),
    why=N_(
        "A Mac has one GPU that no PyTorch call counts as a card. A program that is started plainly "
        "there needs a way for one process."
    ),
    advice=N_(
        "Read ranks with defaults, and start processes only when there is more than one device."
    ),
    source="torch/multiprocessing/spawn.py of PyTorch 2.13.0, read; https://docs.pytorch.org/docs/stable/elastic/run.html",
    find=find,
    examples=(
        Example(
            text="""\
                import os
                import torch
                import torch.multiprocessing as mp
                rank = int(os.environ["LOCAL_RANK"])
                mp.spawn(main, nprocs=torch.cuda.device_count(), args=(1,))
                count = torch.cuda.device_count()
                mp.spawn(main, nprocs=count)
                """,
            finds=(
                'os.environ["LOCAL_RANK"]',
                "mp.spawn(main, nprocs=torch.cuda.device_count(), args=(1,))",
                "mp.spawn(main, nprocs=count)",
            ),
        ),
        Example(text="""import os\nrank = int(os.environ.get("LOCAL_RANK", 0))\n"""),
        Example(
            text="""\
                import os
                if "LOCAL_RANK" in os.environ:
                    rank = int(os.environ["LOCAL_RANK"])
                if distributed:
                    rank = int(os.environ["LOCAL_RANK"])
                """,
        ),
        Example(text="""import os\nos.environ["LOCAL_RANK"] = "0"\n"""),
        Example(text="""import torch.multiprocessing as mp\nmp.spawn(main, nprocs=2)\n"""),
    ),
)
