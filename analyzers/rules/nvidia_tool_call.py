"""E340: NVIDIA's command-line tools, started from Python."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument
from analyzers.reach import may_fail, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_TOOL = re.compile(
    rb"""["'](?:/usr/bin/)?(nvidia-smi|nvidia-settings|nvprof|nsys|ncu|cuda-gdb|cuda-memcheck|compute-sanitizer)"""
    rb"""(?=["' |])"""
)
_RUN = (
    *(
        f"subprocess.{name}"
        for name in ("run", "call", "check_call", "check_output", "Popen", "getoutput")
    ),
    *("subprocess.getstatusoutput", "os.system", "os.popen", "commands.getoutput"),
    *("asyncio.create_subprocess_exec", "asyncio.create_subprocess_shell"),
)
#: Calls that give what a shell gives, so that a missing tool is an empty answer and no exception.
_QUIET = ("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput")


def find(document: PythonDocument) -> Iterator[Match]:
    """Calls that start one of the tools, where its absence is not handled."""
    for match, node in document.hits(_TOOL):
        call = _starting(document, node)
        if call is None or settled(document, call):
            continue
        function = call.child_by_field_name("function")
        name = document.dotted(function) if function is not None else None
        tool = match[1].decode()
        if _is_handled(document, call, tool):
            continue
        if name in _QUIET:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "macOS has no {tool}: the shell says so, and the answer is empty or an error "
                    "status. Ask only where CUDA is available."
                ).format(tool=tool),
                severity=Severity.DEGRADES,
            )
        else:
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "macOS has no {tool}: this raises a FileNotFoundError. Ask only where CUDA is "
                    "available; torch.mps.driver_allocated_memory() tells what MPS holds, and "
                    "torch.cuda.memory_allocated() only says 0 there."
                ).format(tool=tool),
            )


def _starting(document: PythonDocument, node: Node) -> Node | None:
    """The call that starts a program, with the string ``node`` as its command or the first of it."""
    while node.type in ("string_start", "string_content", "string_end") and node.parent is not None:
        node = node.parent
    if node.type != "string":
        return None
    parent = node.parent
    if parent is not None and parent.type in ("list", "tuple"):
        if parent.named_children[0] != node:
            return None
        parent = parent.parent
    if parent is None or parent.type != "argument_list" or parent.parent is None:
        return None
    call = parent.parent
    function = call.child_by_field_name("function")
    if function is None or document.dotted(function) not in _RUN:
        return None
    return call


def _is_handled(document: PythonDocument, call: Node, tool: str) -> bool:
    """Whether the call stands in a ``try`` that lets it fail, or where the tool was looked for."""
    if may_fail(call):
        return True
    looked_for = re.compile(rb"""which\(\s*["']""" + re.escape(tool.encode()) + rb"""["']""")
    return document.says(looked_for)


RULE = Rule(
    code="E340",
    name="nvidia-tool-call",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(
        *(
            rb"nvidia-smi",
            rb"nvidia-settings",
            rb"nvprof",
            rb"nsys",
            b'"ncu',
            b"'ncu",
            rb"cuda-gdb",
        ),
        *(rb"cuda-memcheck", rb"compute-sanitizer"),
    ),
    what=N_("The program starts one of NVIDIA's command-line tools."),
    why=N_("They come with NVIDIA's driver or toolkit, and neither exists for a Mac of today."),
    advice=N_(
        "It is mostly there to show something: make it optional. For profiles use Instruments and "
        "torch.mps.profiler."
    ),
    source="https://docs.nvidia.com/deploy/nvidia-smi/; https://docs.python.org/3/library/subprocess.html",
    find=find,
    examples=(
        Example(
            text="""\
                import os
                import subprocess
                used = subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv"])
                os.system("nvidia-smi")
                """,
            finds=(
                'subprocess.check_output(["nvidia-smi", "--query-gpu=memory.used", "--format=csv"])',
                'os.system("nvidia-smi")',
            ),
        ),
        Example(text="""print("run nvidia-smi to see the cards")\n"""),
        Example(
            text="""\
                import subprocess
                try:
                    used = subprocess.check_output(["nvidia-smi"])
                except FileNotFoundError:
                    used = None
                """,
        ),
        Example(
            text="""\
                import shutil
                import subprocess
                if shutil.which("nvidia-smi"):
                    subprocess.run(["nvidia-smi"])
                """,
        ),
        Example(text="""import subprocess\nsubprocess.run(["grep", "nvidia-smi", "log.txt"])\n"""),
    ),
)
