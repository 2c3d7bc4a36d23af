"""Files of device code, and engines that TensorRT has built."""

import json
import re
from collections.abc import Iterator
from typing import IO

from analyzers.binaries.document import Fact

_HEAD = 8192
_TARGET = re.compile(rb"^\.target[ \t]+(sm_\w+)", re.MULTILINE)
_VERSION = re.compile(rb"^\.version[ \t]+\d", re.MULTILINE)
#: Bytes of the description that some exporters write before an engine.
_DESCRIPTION = 1 << 20


def ptx_facts(file: IO[bytes]) -> Iterator[Fact]:
    """Which GPU the text of a PTX program is for."""
    head = file.read(_HEAD)
    target = _TARGET.search(head)
    if target and _VERSION.search(head):
        yield "device-code", target.group(1).decode()


def tensorrt_facts(file: IO[bytes]) -> Iterator[Fact]:
    """Whether a plan of TensorRT begins the file, or follows a description in JSON."""
    start = file.read(4)
    if start not in (b"ftrt", b"ptrt"):
        length = int.from_bytes(start, "little")
        if not 0 < length < _DESCRIPTION:
            return
        try:
            json.loads(file.read(length))
        except (ValueError, RecursionError):
            return
        if file.read(4) not in (b"ftrt", b"ptrt"):
            return
    yield "engine", "TensorRT"
