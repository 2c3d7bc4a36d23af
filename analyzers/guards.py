"""Under which tests a piece of Python runs: only where CUDA is, or beside a branch for MPS.

Everything is asked of places that speak of CUDA; nothing walks a whole tree.
"""

import re
from collections.abc import Callable, Iterator
from enum import Enum

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing, nth, unparenthesised
from analyzers.flow import CUDA_FLAG, is_all_but_cpu, is_on, values_of
from analyzers.spans import Span, inside, merged

AVAILABLE = "torch.cuda.is_available"

#: Questions about CUDA whose answer is no, or nought, in a PyTorch without it.
_QUESTIONS = frozenset(
    {
        AVAILABLE,
        "torch.cuda.device_count",
        "torch.cuda.is_initialized",
        "torch.cuda.is_bf16_supported",
        "torch.cuda._is_compiled",
        "torch.backends.cuda.is_built",
        "torch.backends.cudnn.is_available",
        "torch.distributed.is_nccl_available",
        "torch.version.cuda",
    }
)
_DEVICE_VALUE = re.compile(r"cuda(?::\d+|:)?\Z")
_MPS = re.compile(rb"(?<![A-Za-z])(?:mps|MPS)(?![A-Za-z])|torch\s*\.\s*accelerator\b")
#: Names that people give to "CUDA is there and wanted", in conditions.
_FLAG = re.compile(r"(?i)(?:^|_|\b)(?:use_|has_|with_|is_|no_)?(?:cuda|gpu)(?:_available)?\Z")
_NEGATIVE_TEST = re.compile(rb"\bnot\b[^\n:]{0,80}?(?:cuda|CUDA)")
_DECORATOR = re.compile(
    rb"(?m)^[ \t]*@[ \t]*[\w.]{0,60}(?:skip|requires?|cuda|gpu|run_?if)\w*", re.IGNORECASE
)
#: Marks of a whole file, and of one case of a test.
_MARKS = re.compile(rb"\bpytestmark\b(?=\s*=)|\bmarks\b(?=\s*=)")
#: What a condition of a test is told when it wants cards: ``min_cuda_gpus=2``.
_CARDS = re.compile(r"(?i)(?:min_|n_|num_)?(?:cuda_?)?(?:gpus?|cuda)\Z")
_NEEDS_CUDA = re.compile(
    r"(?i)(?:requires?|needs?|only)_?(?:\w+_)?(?:cuda|gpu)|(?:cuda|gpu)_?only|"
    r"skip_?(?:test_?)?(?:(?:if|when)_?(?:no|not|without)|no|unless|without)_?(?:has_?|have_?|torch_?)?"
    r"(?:cuda|gpu)"
)
_NEGATIVE = re.compile(r"(?i)(?:^|_)(?:no|not|non|disable)_?cuda")
_ASKS = re.compile(
    rb"cuda\s*\.\s*is_available|cuda\s*\.\s*device_count|\bis_cuda\b|cuda_available|is_built"
)
#: Functions that look at what was asked for, and not at the machine.
_BY_OPTION = re.compile(r"(?i)(?:^|[._])(?:use|wants?|with)_?(?:cuda|gpu)\Z")
#: How many conditions may be inside one another; more than people write.
_DEEPEST = 20
#: How far from a choice that knows MPS another step of it may stand, in statements.
_NEAR = 3


class Standing(Enum):
    """What decides whether a place runs."""

    BARE = "nothing that speaks of devices"
    GUARDED = "it runs only where CUDA is available"
    SKIPPED = "it is a test, or a part of one, that is skipped without CUDA"
    HANDLED = "it is a step of a choice that has one for MPS"


def standing(document: PythonDocument, node: Node) -> Standing:
    """What decides whether ``node`` runs."""
    if is_handled(document, node):
        return Standing.HANDLED
    if inside(document.remember("skipped", lambda: merged(_skipped(document))), node):
        return Standing.SKIPPED
    return Standing.GUARDED if is_guarded(document, node) else Standing.BARE


# -- tests for CUDA --------------------------------------------------------------------------


def asks_for_cuda(document: PythonDocument, condition: Node) -> bool:
    """Whether a condition is about CUDA being there: a call, a flag, or a device's type."""
    return document.remember(
        ("asks", condition.start_byte, condition.end_byte),
        lambda: any(_is_cuda_test(document, node) for node in _walk(condition)),
    )


def _is_cuda_test(document: PythonDocument, node: Node) -> bool:
    if node.type in ("identifier", "attribute"):
        parent = node.parent
        if parent is not None and parent.type == "attribute":
            return False
        if document.dotted(node) in _QUESTIONS:
            return True
        last = document.slice(node).rpartition(".")[2]
        return last == "is_cuda" or (
            bool(_FLAG.search(last)) and not (document.dotted(node) or "").startswith("torch.")
        )
    if node.type == "string":
        return _DEVICE_VALUE.match(document.slice(node).strip("'\"")) is not None
    return False


def _walk(node: Node) -> Iterator[Node]:
    waiting = [node]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.named_children))


def asks_what_is_there(document: PythonDocument, condition: Node) -> bool:
    """Whether a condition asks the machine for CUDA, itself or by a name that was given the answer.

    What is left is a flag that a user sets, or that is passed.
    """
    if _ASKS.search(document.text, condition.start_byte, condition.end_byte) is not None:
        return True
    return any(
        _is_cuda_test(document, node)
        and (
            node.parent is None
            or (node.parent.type == "call" and _BY_OPTION.search(document.slice(node)) is None)
            or any(
                _ASKS.search(document.text, value.start_byte, value.end_byte)
                for value in values_of(document, document.slice(node).rpartition(".")[2])
            )
        )
        for node in _walk(condition)
    )


def is_negated(condition: Node) -> bool:
    """Whether a condition begins with ``not``."""
    return unparenthesised(condition).type == "not_operator"


def sense(document: PythonDocument, condition: Node, depth: int = 0) -> int:
    """What a condition says of CUDA: 1 if it holds only with CUDA, -1 if it fails only then.

    0 where neither is known.
    """
    node = unparenthesised(condition)
    if depth > _DEEPEST:
        return 0
    if node.type == "not_operator":
        inner = node.child_by_field_name("argument")
        return -sense(document, inner, depth + 1) if inner is not None else 0
    if node.type == "boolean_operator":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        operator = node.child_by_field_name("operator")
        if left is None or right is None or operator is None:
            return 0
        both = (sense(document, left, depth + 1), sense(document, right, depth + 1))
        either, all_of = (1, -1) if operator.text == b"and" else (-1, 1)
        return either if either in both else all_of if both == (all_of, all_of) else 0
    if node.type == "comparison_operator":
        return _sense_of_comparison(document, node)
    if node.type == "call":
        return _sense_of_call(document, node)
    if node.type in ("identifier", "attribute"):
        if document.dotted(node) in _QUESTIONS:
            return 1
        return sense_of_name(document, document.slice(node).rpartition(".")[2])
    return 0


def sense_of_name(document: PythonDocument, name: str) -> int:
    """What a name says of CUDA: 1 when it is true only with CUDA, -1 when false only then.

    0 where it says nothing, as for a flag that is on unless somebody turns it off.
    """
    return document.remember(("sense", name), lambda: _sense_of_name(document, name))


def _sense_of_name(document: PythonDocument, name: str) -> int:
    visiting: set[str] = document.remember("visiting", set)
    if name in visiting:
        return 0
    visiting.add(name)
    values = values_of(document, name)
    asked = [one for one in values if _ASKS.search(document.text, one.start_byte, one.end_byte)]
    senses = {sense(document, one, _DEEPEST // 2) for one in asked}
    visiting.discard(name)
    if len(senses) == 1 and all(one in asked or one.type in ("false", "none") for one in values):
        return senses.pop()
    if name == "is_cuda":
        return 1
    if CUDA_FLAG.match(name) is None or _NEGATIVE.search(name):
        return 0
    return 0 if is_on(document, name) or is_all_but_cpu(document, name) else 1


def _sense_of_call(document: PythonDocument, call: Node) -> int:
    function = call.child_by_field_name("function")
    arguments = call.child_by_field_name("arguments")
    if function is None or arguments is None:
        return 0
    name = document.dotted(function)
    if name in _QUESTIONS or document.slice(function).endswith(".cuda.is_available"):
        return 1
    last = document.slice(function).rpartition(".")[2]
    if last in ("startswith", "__contains__") and arguments.named_child_count == 1:
        first = nth(arguments, 0)
        return int(first is not None and _names_cuda_alone(document, first))
    if last == "bool" and (first := nth(arguments, 0)) is not None:
        return sense(document, first, _DEEPEST)
    # is_torch_cuda_available(), has_cuda(): somebody's own question.
    return int(CUDA_FLAG.match(last) is not None or last.endswith("cuda_available"))


def _sense_of_comparison(document: PythonDocument, node: Node) -> int:
    parts = node.named_children
    if len(parts) != 2:
        return 0
    operator = b" ".join(child.text or b"" for child in node.children if not child.is_named)
    left, right = parts
    if operator in (b"in", b"not in"):
        about = _names_cuda_alone(document, left) or (
            right.type in ("list", "tuple", "set")
            and right.named_child_count > 0
            and all(_names_cuda_alone(document, one) for one in right.named_children)
        )
        return (1 if operator == b"in" else -1) if about else 0
    if any(_names_cuda_alone(document, one) or _is_nccl(document, one) for one in parts):
        return {b"==": 1, b"is": 1, b"!=": -1, b"is not": -1}.get(operator, 0)
    inner = sense(document, left, _DEEPEST)
    value = document.slice(right)
    if operator in (b">", b"<") and _counts(document, left):
        return 1 if operator == b">" else -1
    if inner == 0:
        return 0
    yes = {(b">", "0"), (b">", "1"), (b">=", "1"), (b"!=", "0"), (b"is not", "None")}
    yes |= {(b"is", "True"), (b"==", "True")}
    no = {(b"==", "0"), (b"<", "1"), (b"<=", "0"), (b"is", "None"), (b"is", "False")}
    no |= {(b"==", "False")}
    return inner if (operator, value) in yes else -inner if (operator, value) in no else 0


def _is_nccl(document: PythonDocument, node: Node) -> bool:
    """Whether a text is NCCL, which no Mac has; or how PyTorch names it."""
    return document.slice(node).strip("\"'") in ("nccl", "torch.distributed.Backend.NCCL")


def _counts(document: PythonDocument, node: Node) -> bool:
    """Whether an expression is the number of CUDA devices, which is nought on a Mac."""
    function = node.child_by_field_name("function") if node.type == "call" else None
    return function is not None and document.dotted(function) == "torch.cuda.device_count"


def _names_cuda_alone(document: PythonDocument, node: Node) -> bool:
    node = unparenthesised(node)
    if node.type == "call":
        function, arguments = (
            node.child_by_field_name("function"),
            node.child_by_field_name("arguments"),
        )
        first = nth(arguments, 0) if arguments is not None else None
        return (
            function is not None
            and first is not None
            and document.dotted(function) == "torch.device"
            and _names_cuda_alone(document, first)
        )
    if node.type != "string":
        return False
    text = document.slice(node).lstrip("rRbBfFuU").strip("'\"")
    return _DEVICE_VALUE.match(text) is not None


# -- what runs only with CUDA ------------------------------------------------------------------


def is_guarded(document: PythonDocument, node: Node) -> bool:
    """Whether ``node`` runs only where CUDA is there."""
    if inside(document.remember("exits", lambda: merged(_after_exits(document))), node):
        return True
    child, parent = node, node.parent
    while parent is not None:
        if parent.type in _DECIDES and _runs_with_cuda(document, parent, child):
            return True
        child, parent = parent, parent.parent
    return False


def is_on_request(document: PythonDocument, node: Node) -> bool:
    """Whether ``node`` runs where a flag of the program is on that never saw the machine's answer.

    Without CUDA it then runs all the same, for whoever turns the flag on.
    """
    if inside(document.remember("exits", lambda: merged(_after_exits(document))), node):
        return False
    asked: list[bool] = []
    child, parent = node, node.parent
    while parent is not None:
        if parent.type in _DECIDES and _runs_with_cuda(document, parent, child):
            asked.extend(_is_plain_flag(document, test) for test in _tests(parent))
        child, parent = parent, parent.parent
    return bool(asked) and all(asked)


def _tests(parent: Node) -> list[Node]:
    """What decides whether a branch is taken, in all the forms of :data:`_DECIDES`."""
    if parent.type == "else_clause":
        return conditions(parent.parent) if parent.parent is not None else []
    if parent.type in ("conditional_expression", "boolean_operator"):
        parts = [one for one in parent.named_children if one.type != "comment"]
        return parts[1:2] if parent.type == "conditional_expression" else parts[:1]
    test = parent.child_by_field_name("condition")
    return [test] if test is not None else []


def _is_plain_flag(document: PythonDocument, test: Node) -> bool:
    """Whether a test asks for the program's own flag, and neither the machine nor a device."""
    names = [
        document.slice(node).rpartition(".")[2]
        for node in _walk(test)
        if node.type in ("identifier", "attribute", "string") and _is_cuda_test(document, node)
    ]
    return (
        bool(names)
        and all(CUDA_FLAG.match(name) and name != "is_cuda" for name in names)
        and not asks_what_is_there(document, test)
    )


_DECIDES = frozenset(
    {
        "if_statement",
        "elif_clause",
        "else_clause",
        "conditional_expression",
        "boolean_operator",
        "while_statement",
    }
)


def _runs_with_cuda(document: PythonDocument, parent: Node, child: Node) -> bool:
    """Whether ``child`` of a node that decides runs only when CUDA is there."""
    if parent.type in ("if_statement", "elif_clause", "while_statement"):
        body = parent.child_by_field_name("consequence") or parent.child_by_field_name("body")
        test = parent.child_by_field_name("condition")
        return body == child and test is not None and sense(document, test) == 1
    if parent.type == "else_clause":
        statement = parent.parent
        if statement is None or statement.type != "if_statement":
            return False
        return any(sense(document, test) == -1 for test in conditions(statement))
    parts = [one for one in parent.named_children if one.type != "comment"]
    if parent.type == "conditional_expression" and len(parts) == 3:
        wanted = 1 if child == parts[0] else -1 if child == parts[2] else 0
        return wanted != 0 and sense(document, parts[1]) == wanted
    if parent.type == "boolean_operator" and len(parts) == 2 and child == parts[1]:
        operator = parent.child_by_field_name("operator")
        wanted = 1 if operator is not None and operator.text == b"and" else -1
        return sense(document, parts[0]) == wanted
    return False


def conditions(ladder: Node) -> list[Node]:
    """The conditions of an ``if`` and of each ``elif`` that belongs to it."""
    found = [ladder.child_by_field_name("condition")]
    for clause in ladder.children_by_field_name("alternative"):
        found.append(clause.child_by_field_name("condition"))
    return [one for one in found if one is not None]


def _after_exits(document: PythonDocument) -> Iterator[Span]:
    """Code behind ``if not CUDA: return``, and tests that are skipped without CUDA."""
    yield from _behind(document, _leaves)
    yield from document.remember("skipped", lambda: merged(_skipped(document)))


def _behind(
    document: PythonDocument, leaves: Callable[[PythonDocument, Node], bool]
) -> Iterator[Span]:
    """What follows in a block after an ``if`` that leaves it where CUDA is not there."""
    for _match, node in document.anywhere(_NEGATIVE_TEST, b"cuda", b"CUDA"):
        ladder = node if node.type == "if_statement" else enclosing(node, ("if_statement",))
        test = ladder.child_by_field_name("condition") if ladder is not None else None
        if ladder is None or test is None or not test.start_byte <= node.start_byte < test.end_byte:
            continue
        block = ladder.parent
        if block is not None and sense(document, test) == -1 and leaves(document, ladder):
            yield ladder.end_byte, block.end_byte


def _skipped(document: PythonDocument) -> Iterator[Span]:
    """Tests, cases of a test and whole files of them that are skipped without CUDA."""
    yield from _behind(document, _skips)
    for match, _node in document.anywhere(_DECORATOR, b"@"):
        place = document.text.index(b"@", match.start())
        at = document.root.descendant_for_byte_range(place, place + 1)
        decorator = at.parent if at is not None and at.type == "@" else None
        owner = decorator.parent if decorator is not None else None
        if decorator is None or owner is None or owner.type != "decorated_definition":
            continue
        inner = nth(decorator, 0)
        if inner is not None and _skips_without_cuda(document, inner):
            yield owner.start_byte, owner.end_byte
    for _match, node in document.anywhere(_MARKS, b"pytestmark", b"marks"):
        holder = node.parent
        value = None
        if holder is not None and holder.type in ("assignment", "keyword_argument"):
            value = holder.child_by_field_name("right" if holder.type == "assignment" else "value")
        if value is None or holder is None or not _marks_skip(document, value):
            continue
        if holder.type == "assignment":
            yield holder.end_byte, document.root.end_byte
        elif (call := enclosing(holder, ("call",))) is not None:
            yield call.start_byte, call.end_byte


def _marks_skip(document: PythonDocument, value: Node) -> bool:
    """Whether one of the marks skips without CUDA."""
    marks = value.named_children if value.type in ("list", "tuple") else [value]
    return any(_skips_without_cuda(document, mark) for mark in marks)


def _leaves(document: PythonDocument, ladder: Node) -> bool:
    """Whether the body of an ``if`` ends in leaving without an error, or in a skipped test."""
    body = ladder.child_by_field_name("consequence")
    last = nth(body, body.named_child_count - 1) if body is not None else None
    if last is None:
        return False
    return last.type in ("return_statement", "continue_statement") or _skips(document, ladder)


def _skips(document: PythonDocument, ladder: Node) -> bool:
    """Whether the body of an ``if`` ends in skipping a test."""
    body = ladder.child_by_field_name("consequence")
    last = nth(body, body.named_child_count - 1) if body is not None else None
    return (
        last is not None
        and re.match(r"(?:raise )?\w*(?:\.\w+)*\.?[sS]kip(?:Test)?\(", document.slice(last))
        is not None
    )


def _skips_without_cuda(document: PythonDocument, inner: Node) -> bool:
    """Whether a decorator or a mark skips what it stands at where CUDA is not there."""
    function = inner.child_by_field_name("function") if inner.type == "call" else inner
    arguments = inner.child_by_field_name("arguments") if inner.type == "call" else None
    last = document.slice(function).rpartition(".")[2] if function is not None else ""
    first = nth(arguments, 0) if arguments is not None else None
    if last.lower() in ("skipif", "skipunless") and first is not None:
        return sense(document, first) == (1 if last.lower() == "skipunless" else -1)
    if last.lower().replace("_", "") == "runif" and arguments is not None:
        return any(
            one.type == "keyword_argument"
            and _CARDS.match(document.slice(one).partition("=")[0].strip()) is not None
            and document.slice(one).rpartition("=")[2].strip() not in ("0", "False", "None")
            for one in arguments.named_children
        )
    return _NEEDS_CUDA.search(last) is not None


# -- what knows MPS --------------------------------------------------------------------------


def mentions_mps(document: PythonDocument, node: Node) -> bool:
    """Whether the source of a node names MPS or the accelerator of the machine."""
    return _MPS.search(document.text, node.start_byte, node.end_byte) is not None


def is_handled(document: PythonDocument, node: Node) -> bool:
    """Whether a node is a step of a choice that has one for MPS."""
    return inside(document.remember("handled", lambda: merged(_handled(document))), node)


def _handled(document: PythonDocument) -> Iterator[Span]:
    for _match, node in document.anywhere(_MPS, b"mps", b"MPS", b"accelerator"):
        if node.type == "comment" or _is_prose(document, node):
            continue
        yield from _choice_around(document, node)


def _is_prose(document: PythonDocument, node: Node) -> bool:
    string = node if node.type == "string" else enclosing(node, ("string", "block"))
    if string is None or string.type != "string" or node.type == "identifier":
        return False
    parent = string.parent
    return b" " in (string.text or b"").strip() or (
        parent is not None and parent.type == "expression_statement"
    )


_EXPRESSIONS = (
    "conditional_expression",
    "boolean_operator",
    "comparison_operator",
    "list",
    "tuple",
    "set",
    "dictionary",
)


def _choice_around(document: PythonDocument, node: Node) -> Iterator[Span]:
    """The expression or ladder that a mention of MPS belongs to, and its other steps."""
    child, parent = node, node.parent
    while parent is not None:
        if parent.type in _EXPRESSIONS:
            yield parent.start_byte, parent.end_byte
        if parent.type in ("if_statement", "elif_clause") and child == parent.child_by_field_name(
            "condition"
        ):
            ladder = parent if parent.type == "if_statement" else parent.parent
            if ladder is not None:
                yield ladder.start_byte, ladder.end_byte
                yield from _steps_near(document, ladder)
            return
        if parent.type in ("block", "module"):
            yield from _steps_near(document, child)
            ladder = enclosing(parent, ("if_statement", "function_definition", "module"))
            while ladder is not None and ladder.type == "if_statement":
                tests = conditions(ladder)
                if not _targets(document, child) or not any(
                    asks_for_cuda(document, test) for test in tests
                ):
                    break
                yield ladder.start_byte, ladder.end_byte
                ladder = enclosing(ladder, ("if_statement", "function_definition", "module"))
            return
        child, parent = parent, parent.parent


def _steps_near(document: PythonDocument, statement: Node) -> Iterator[Span]:
    """Statements close by that set the same name, or return from the same function."""
    targets = _targets(document, statement)
    if not targets:
        return
    for step in ("prev_named_sibling", "next_named_sibling"):
        other = getattr(statement, step)
        for _count in range(_NEAR):
            if other is None:
                break
            if targets & _targets(document, other):
                yield other.start_byte, other.end_byte
            other = getattr(other, step)


def _targets(document: PythonDocument, statement: Node, depth: int = 0) -> frozenset[str]:
    """What a statement sets, in its branches too: names, and ``return``."""
    if statement.type == "return_statement":
        return frozenset({"return"})
    if statement.type == "expression_statement":
        inner = nth(statement, 0)
        left = inner.child_by_field_name("left") if inner is not None else None
        return frozenset({document.slice(left)}) if left is not None else frozenset()
    if statement.type != "if_statement" or depth > 2:
        return frozenset()
    bodies = [statement.child_by_field_name("consequence")]
    for clause in statement.children_by_field_name("alternative"):
        bodies.append(
            clause.child_by_field_name("consequence") or clause.child_by_field_name("body")
        )
    found: set[str] = set()
    for body in bodies:
        for one in body.named_children[:8] if body is not None else ():
            found |= _targets(document, one, depth + 1)
    return frozenset(found)
