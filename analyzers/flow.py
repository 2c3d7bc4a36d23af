"""Where values go in one Python file: flags that speak of CUDA, names that become devices.

Names are followed by their spelling and by the few forms in which people set and use them, across
functions. That is enough for scripts, and what it does not know it leaves open.
"""

import re
from collections.abc import Iterator
from itertools import islice

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing

#: Names of flags that people give to "CUDA is there and wanted".
CUDA_FLAG = re.compile(
    r"(?i)_*(?:(?:torch|args|opt)_)?"
    r"(?:(?:use|using|has|have|with|is|on|to|no|not|non|enable|enabled|disable|try|want|allow|"
    r"force|require|requires|run)_?)*"
    r"(?:torch_)?cuda(?:_?(?:is_?)?(?:available|avail|enabled|flag|ok|on))?_*\Z"
)
_MOST = 12


def values_of(document: PythonDocument, name: str) -> tuple[Node, ...]:
    """The expressions that are assigned to a name, or to an attribute of that name, in a file.

    The first dozen: a file that sets a name more often sets it to anything.
    """
    return document.remember(
        ("values", name), lambda: tuple(islice(_values(document, name), _MOST))
    )


def _values(document: PythonDocument, name: str) -> Iterator[Node]:
    pattern = re.compile(
        rb"(?<!\w)" + re.escape(name.encode()) + rb"[ \t]*(?::[ \t]*\w+[ \t]*)?=(?!=)"
    )
    for match, _node in document.anywhere(pattern, name.encode()):
        place = document.root.descendant_for_byte_range(match.start(), match.start() + len(name))
        holder = place
        while holder is not None and holder.type in ("identifier", "attribute"):
            holder = holder.parent
        if holder is not None and holder.type == "assignment":
            right = holder.child_by_field_name("right")
            if right is not None:
                yield right


_NOT_CPU = re.compile(rb"!=\s*(?:torch\.device\(\s*)?[\"']cpu[\"']")


def is_all_but_cpu(document: PythonDocument, name: str) -> bool:
    """Whether a flag is on for whatever is not the CPU, as ``cuda = device != "cpu"`` is."""
    values = values_of(document, name)
    return any(_NOT_CPU.search(document.text, one.start_byte, one.end_byte) for one in values) and (
        not any(b"cuda" in document.text[one.start_byte : one.end_byte] for one in values)
    )


def is_on(document: PythonDocument, name: str) -> bool:
    """Whether a flag is on unless somebody turns it off: a default, a setting, an option."""
    return document.remember(("on", name), lambda: _is_on(document, name))


def _is_on(document: PythonDocument, name: str) -> bool:
    set_to_true = re.compile(
        rb"(?<!\w)"
        + re.escape(name.encode())
        + rb"[\"']?[ \t]*(?::[ \t]*bool[ \t]*)?[=:][ \t]*True\b"
    )
    if document.says(set_to_true):
        return True
    if any(_is_the_opposite_of_off(document, value) for value in values_of(document, name)):
        return True
    return any(
        re.search(rb"default\s*=\s*True|store_false", option.text or b"")
        for option in _options(document, name)
    )


def _is_the_opposite_of_off(document: PythonDocument, value: Node) -> bool:
    """Whether a value is ``not args.no_cuda``, where nobody sets that by default."""
    inner = value.child_by_field_name("argument") if value.type == "not_operator" else None
    if inner is None or inner.type not in ("identifier", "attribute"):
        return False
    return is_off(document, document.slice(inner).rpartition(".")[2])


def is_off(document: PythonDocument, name: str) -> bool:
    """Whether a flag is an option that is off unless somebody turns it on."""
    return any(
        re.search(rb"default\s*=\s*False|store_true", option.text or b"")
        for option in _options(document, name)
    )


def _options(document: PythonDocument, name: str) -> Iterator[Node]:
    """The calls that define a command-line option of this name."""
    spelled = re.escape(name.encode()).replace(b"_", b"[-_]")
    for _match, node in document.anywhere(
        re.compile(rb"[\"']--?" + spelled + rb"[\"'/]"), b"'-", b'"-'
    ):
        call = enclosing(node, ("call", "block"))
        if call is not None and call.type == "call":
            yield call


def reaches_device(document: PythonDocument, name: str) -> bool:
    """Whether a name is used as a device: in ``x.to(name)``, ``device=name`` and the like."""
    return document.remember(("device", name), lambda: _reaches_device(document, name))


def _reaches_device(document: PythonDocument, name: str) -> bool:
    if not name.replace(".", "").isidentifier():
        return False
    spelled = re.escape(name.encode())
    return document.says(
        re.compile(
            rb"(?:\.\s*to\(\s*|\bdevice\(\s*|\b(?:device|map_location)\s*=\s*)"
            + spelled
            + rb"\s*[,)\r\n]"
        )
    )
