"""E319: a container that is to use MPS."""

import re
from collections.abc import Iterator

from analyzers.documents.shell import ShellDocument
from analyzers.documents.shell_carriers import Carrier
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_WORDS = re.compile(rb"\bmps\b")
_OPTION = re.compile(r"-{1,2}(?:[\w-]*[-_])?(?:device|accelerator|backend)(?:=(.*))?\Z")
_PAIR = re.compile(r"(?:[\w.]+[._])?device=mps(?::0)?\Z")


def find(document: ShellDocument) -> Iterator[Match]:
    """Commands of a Dockerfile that ask the program for MPS."""
    if document.carrier is not Carrier.CONTAINER:
        return
    for command in document.commands(_WORDS):
        following = (*command.arguments[1:], "")
        for argument, value in zip(command.arguments, following, strict=False):
            option = _OPTION.match(argument)
            asked = option is not None and (option[1] or value) in ("mps", "mps:0")
            if asked or _PAIR.match(argument):
                yield Match(
                    command.start,
                    command.end,
                    _(
                        "The program is told to use MPS, which no container has: on macOS it is a "
                        "Linux virtual machine, and torch.backends.mps.is_available() is False "
                        "there, whatever the image. Run natively on a Mac, or on the CPU in here."
                    ),
                )
                break


RULE = Rule(
    code="E319",
    name="mps-in-container",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=ShellDocument,
    triggers=(b"mps",),
    what=N_("A container starts the program with MPS as its device."),
    why=N_("Metal is not passed into the Linux virtual machine that containers on macOS run in."),
    advice=N_(
        "Use a virtual environment on the Mac itself; in a container take a CPU image for "
        "linux/arm64 and --device cpu. Another base image brings no MPS."
    ),
    source="https://github.com/pytorch/pytorch/issues/81224",
    find=find,
    examples=(
        Example(
            path="Dockerfile",
            text="""\
                FROM python:3.11
                CMD ["python", "serve.py", "--device", "mps"]
                """,
            finds=('"python", "serve.py", "--device", "mps"',),
        ),
        Example(
            path="Dockerfile",
            text="FROM a\nENTRYPOINT python a.py --device=mps\n",
            finds=("python a.py --device=mps",),
        ),
        Example(path="Dockerfile", text='FROM a\nCMD ["python", "a.py", "--device", "cpu"]\n'),
        Example(path="Dockerfile", text="FROM a\nRUN echo mps\n# --device mps\n"),
        Example(path="run.sh", text="python a.py --device mps\n"),
    ),
)
