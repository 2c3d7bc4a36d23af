"""Sentences that several rules share."""

import re

from tree_sitter import Node

from analyzers.devices import DeviceString, Role
from analyzers.documents.python import PythonDocument, enclosing, nth, statement_of
from analyzers.guards import Standing, standing
from analyzers.rule import Match
from project.translation import _
from project.vocabulary import Fix, Severity


def device_match(
    document: PythonDocument, string: DeviceString, start: int, end: int, at: Node
) -> Match:
    """A finding that names a device string, graded by what decides whether ``at`` runs."""
    found = standing(document, at)
    if string.role is Role.DEFAULT and _is_unused(document, string):
        message = _("The function does nothing with this parameter: what it says is of no effect.")
        return Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
    if _is_dropped(document, at):
        message = _("Nothing is done with this device afterwards: it can go.")
        return Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.MANUAL)
    if found is Standing.HANDLED:
        return Match(start, end, handled_message(), severity=Severity.COSMETIC, fix=Fix.NONE)
    if found is Standing.GUARDED and _is_kept(at):
        message = _("Only where CUDA is available: a Mac keeps the value from elsewhere.")
        return Match(start, end, message, severity=Severity.DEGRADES, fix=Fix.MANUAL)
    if found is Standing.BARE and _is_a_stand_in(document, at):
        message = _("In a test with stand-ins: the name alone needs no CUDA, a tensor on it would.")
        return Match(start, end, message, severity=Severity.COSMETIC, fix=Fix.NONE)
    guarded = found in (Standing.GUARDED, Standing.SKIPPED)
    return Match(
        start,
        end,
        device_message(document, string, guarded),
        severity=Severity.COSMETIC if guarded else None,
        fix=Fix.NONE if guarded else Fix.MANUAL if needs_a_look(document, string) else None,
    )


def _is_a_stand_in(document: PythonDocument, at: Node) -> bool:
    """Whether a device is passed around in a test that replaces parts, and no tensor is made."""
    if not document.remember("stand-ins", lambda: _has_stand_ins(document)):
        return False
    call = enclosing(at, ("call",))
    function = call.child_by_field_name("function") if call is not None else None
    if function is None:
        return True
    name = document.dotted(function) or ""
    return name == "torch.device" or not (
        name.split(".")[0] == "torch" or document.slice(function).endswith((".to", ".cuda"))
    )


def _is_unused(document: PythonDocument, string: DeviceString) -> bool:
    """Whether the function whose parameter this is never names it; a stub has nothing to say."""
    name = string.holder.child_by_field_name("name") or nth(string.holder, 0)
    function = enclosing(string.holder, ("function_definition", "lambda"))
    body = function.child_by_field_name("body") if function is not None else None
    if name is None or body is None or body.named_child_count < 2:
        return False
    text = document.text[body.start_byte : body.end_byte]
    word = re.compile(rb"\b(?:" + re.escape(name.text or b"") + rb"|locals|super)\b")
    last = nth(body, body.named_child_count - 1)
    raises = last is not None and last.type in ("raise_statement", "pass_statement")
    return not raises and word.search(_without_prose(body, text)) is None


def _is_dropped(document: PythonDocument, at: Node) -> bool:
    """Whether a function gives a device a name and never says that name again."""
    inner = nth(statement_of(at), 0)
    left = inner.child_by_field_name("left") if inner is not None else None
    function = enclosing(at, ("function_definition", "class_definition"))
    if left is None or left.type != "identifier" or function is None:
        return False
    if function.type != "function_definition" or inner is None or inner.type != "assignment":
        return False
    text = document.text[function.start_byte : function.end_byte]
    word = re.compile(rb"\b(?:" + re.escape(left.text or b"") + rb"\b|(?:locals|exec|eval)\()")
    return len(word.findall(text)) == 1


def _without_prose(body: Node, text: bytes) -> bytes:
    first = nth(body, 0)
    inner = nth(first, 0) if first is not None else None
    if first is None or inner is None or inner.type != "string":
        return text
    return text[first.end_byte - body.start_byte :]


_TEST_FILE = re.compile(r"(?:^|/)(?:test_\w*|\w*_test|conftest)\.py\Z|(?:^|/)tests?/")
_STAND_INS = re.compile(rb"\b(?:Magic|Property)?Mock\b|\bmonkeypatch\b|\bpatch\b|[Ff]ake|[Dd]ummy")


def is_test_file(document: PythonDocument) -> bool:
    """Whether a file holds tests, by its name."""
    return _TEST_FILE.search(document.path) is not None


def _has_stand_ins(document: PythonDocument) -> bool:
    return is_test_file(document) and _STAND_INS.search(document.text) is not None


def _is_kept(node: Node) -> bool:
    """Whether a value is assigned or returned as it is, right under a test that a Mac fails."""
    statement = statement_of(node)
    block = statement.parent
    owner = block.parent if block is not None else None
    if owner is None or owner.type not in ("if_statement", "elif_clause", "else_clause"):
        return False
    inner = nth(statement, 0)
    value = inner.child_by_field_name("right") if inner is not None else None
    return value == node or (statement.type == "return_statement" and inner == node)


def handled_message() -> str:
    """What to say of a step of a choice that has one for MPS."""
    return _("MPS has a branch of its own here: nothing to do.")


def replaced_message() -> str:
    """What to say of a function of CUDA that a program puts something else in place of."""
    return _("Something else is put in its place here; nothing of CUDA is called.")


def skipped_message() -> str:
    """What to say of a test, or a part of one, that runs only with CUDA."""
    return _("Runs only where CUDA is available, and is skipped on a Mac.")


def requested_message() -> str:
    """What to say of code behind a flag of the program that the machine was not asked about."""
    return _(
        "Runs where the program's own flag for CUDA is on: without CUDA that raises an error, and "
        "with the flag off a Mac stays on the CPU."
    )


def device_message(document: PythonDocument, string: DeviceString, guarded: bool) -> str:
    """What a device string means on a Mac."""
    if guarded:
        return skipped_message()
    if string.index == -1:
        return _(
            "The number of a CUDA device is computed here: a Mac has one MPS device and no "
            "numbers; look at how several GPUs are meant to be used."
        )
    if string.index:
        return _(
            "CUDA device number {index} has no counterpart on a Mac, which has exactly one MPS "
            "device; look at what the other card is for."
        ).format(index=string.index)
    if _is_map_location(document, string.holder):
        return _(
            "A map_location that names CUDA is as bad on a Mac as none: loading raises. Load to "
            "the CPU, or to the device that the program chose."
        )
    if is_for_another(document):
        return _("CUDA by its name, for a framework other than PyTorch: no Mac has it.")
    if string.role is Role.DEFAULT:
        return _(
            "A caller that passes nothing gets CUDA, whose first use raises an error on a Mac. The "
            "fault is in this signature and not in the call; what callers pass must stay accepted."
        )
    return _('On a Mac the first use of this device raises "Torch not compiled with CUDA enabled".')


_OTHERS = frozenset({"oneflow", "paddle", "mindspore", "jittor", "mxnet", "tensorflow", "jax"})


def is_for_another(document: PythonDocument) -> bool:
    """Whether a file uses another framework, and PyTorch not at all."""
    tops = {one.target.split(".")[0] for one in document.imports}
    return not tops.isdisjoint(_OTHERS) and "torch" not in tops


def needs_a_look(document: PythonDocument, string: DeviceString) -> bool:
    """Whether no rewrite can know what the device should be: another card, another framework."""
    return string.index not in (None, 0) or is_for_another(document)


def _is_map_location(document: PythonDocument, holder: Node) -> bool:
    """Whether a device is where a checkpoint is loaded to."""
    if holder.type == "call" and holder.parent is not None:
        holder = holder.parent
    name = holder.child_by_field_name("name") if holder.type == "keyword_argument" else None
    return name is not None and document.slice(name) == "map_location"


def other_meaning(label: str) -> str:
    """What to say of a value "cuda" whose name does not sound like a device."""
    return _(
        '`{name}` is "cuda" here, and its name does not sound like a device: look what the other '
        "values mean."
    ).format(name=label.strip("\"'"))
