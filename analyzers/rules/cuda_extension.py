"""K203: a CUDA extension that Python builds."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.documents.python import PythonDocument, enclosing, nth
from analyzers.guards import asks_for_cuda
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_MODULE = "torch.utils.cpp_extension"
#: Calls that ask about a name, change it or say it.
_TESTS = re.compile(
    rb"(?:\.(?:endswith|startswith|removesuffix|replace|split|strip|find|count|match|search|sub)"
    rb"|(?:^|\.)(?:print|debug|info|warn|warning|error))\Z"
)
#: What a first argument may be without being the name.
_NO_NAME = ("keyword_argument", "dictionary_splat", "list_splat", "comment")
_SOURCE = re.compile(rb"""(?<![\w./*{}-])[\w./*{}-]+\.cuh?(?=["'])""")


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``CUDAExtension``, loading at run time, and names of CUDA sources elsewhere."""
    spans: list[tuple[int, int]] = []
    for match in sorted((*_extensions(document), *_loads(document)), key=lambda one: one.start):
        spans.append((match.start, match.end))
        yield match
    optional = _builds_without(document)
    message = (
        _("{name} is compiled by nvcc, and the build leaves it out where there is no CUDA.")
        if optional
        else _("{name} is compiled by nvcc: what is built from it does not exist on a Mac.")
    )
    severity = Severity.DEGRADES if optional else None
    for hit, node in document.hits(_SOURCE):
        string = node if node.type == "string" else enclosing(node, ("string",))
        if string is None or _is_text(string) or string.end_byte != hit.end() + 1:
            continue
        if any(start <= string.start_byte and string.end_byte <= end for start, end in spans):
            continue
        name = hit[0].decode("ascii", "replace")
        yield Match(string.start_byte, string.end_byte, message.format(name=name), severity)


def _builds_without(document: PythonDocument) -> bool:
    """Whether CUDA extensions are made where CUDA is found, and the build goes on elsewhere."""
    places = [one.node for one in document.references(f"{_MODULE}.CUDAExtension")]
    return bool(places) and all(
        _is_asked_for(document, place) and not _raises_otherwise(place) for place in places
    )


def _is_asked_for(document: PythonDocument, place: Node) -> bool:
    """Whether an ``if`` about CUDA decides, also one that can be forced from outside."""
    ladder = enclosing(place, ("if_statement", "function_definition"))
    condition = ladder.child_by_field_name("condition") if ladder is not None else None
    body = ladder.child_by_field_name("consequence") if ladder is not None else None
    return (
        condition is not None
        and body is not None
        and body.start_byte <= place.start_byte < body.end_byte
        and asks_for_cuda(document, condition)
    )


def _extensions(document: PythonDocument) -> Iterator[Match]:
    """Where an extension is made: by the class, under another name, or through a helper."""
    references = [one.node for one in document.references(f"{_MODULE}.CUDAExtension")]
    helpers: set[str] = set()
    aliases: dict[str, Node] = {}
    for node in references:
        call, alias = _call_of(node), _assigned(document, node)
        if call is not None:
            yield _extension(document, call)
            if _literal_name(document, call) is None:
                helpers.update(_helper(document, call))
        elif alias is not None:
            aliases[alias] = node
        else:
            yield Match(node.start_byte, node.end_byte, _("A CUDA extension needs nvcc."))
    plain = {_assigned(document, node) for node in _plain(document)}
    for alias, node in aliases.items():
        optional = alias in plain and not _raises_otherwise(node)
        yield _choice(node, optional)
        for call in _calls(document, {alias}):
            yield _extension(document, call, optional)
    for call in _calls(document, helpers):
        yield _extension(document, call)
    if references:
        yield from _plain_extensions(document)


def _choice(node: Node, optional: bool) -> Match:
    if optional:
        message = _("The CUDA extension is one of two choices: where CUDA is missing it is C++.")
        return Match(node.start_byte, node.end_byte, message, Severity.COSMETIC)
    message = _(
        "Extensions made through this name are CUDA extensions: without CUDA the build stops."
    )
    return Match(node.start_byte, node.end_byte, message)


def _extension(document: PythonDocument, call: Node, optional: bool = False) -> Match:
    optional = optional or _other_branch_has(call, b"CppExtension")
    severity = Severity.DEGRADES if optional or _is_caught(call) else None
    if not optional and severity is not None:
        message = _(
            "The CUDA extension {name} is built here where that works: an error is caught, and on "
            "a Mac the program has to do without it."
        )
    elif optional:
        message = _(
            "The extension {name} is built with CUDA where that is found, and else in C++ alone: "
            "on a Mac it has what has a CPU implementation, and nothing for the GPU."
        )
    else:
        message = _(
            "The CUDA extension {name} is built here: without nvcc the build stops, and a "
            "CppExtension in its place leaves out the code that does the work."
        )
    text = message.format(name=_name_of(document, call))
    return Match(call.start_byte, call.end_byte, text, severity)


def _other_branch_has(call: Node, word: bytes) -> bool:
    """Whether another branch of the nearest ``if`` around a call has a word."""
    ladder = enclosing(call, ("if_statement", "function_definition"))
    if ladder is None or ladder.type != "if_statement":
        return False
    branches = [
        ladder.child_by_field_name("consequence"),
        *ladder.children_by_field_name("alternative"),
    ]
    return any(
        word in (branch.text or b"")
        for branch in branches
        if branch is not None and not branch.start_byte <= call.start_byte < branch.end_byte
    )


def _is_caught(call: Node) -> bool:
    """Whether an error in making an extension is caught, and not always raised again."""
    attempt = enclosing(call, ("try_statement", "function_definition"))
    if attempt is None or attempt.type != "try_statement":
        return False
    body = attempt.child_by_field_name("body")
    if body is None or not body.start_byte <= call.start_byte < body.end_byte:
        return False
    clauses = [one for one in attempt.named_children if one.type == "except_clause"]
    blocks = [clause.named_children[-1] for clause in clauses if clause.named_child_count]
    return bool(blocks) and not any(
        block.named_child_count and block.named_children[-1].type == "raise_statement"
        for block in blocks
    )


def _assigned(document: PythonDocument, node: Node) -> str | None:
    """The name that this class is given, as in ``extension = CUDAExtension``."""
    parent = node.parent
    left = parent.child_by_field_name("left") if parent is not None else None
    if parent is None or parent.type != "assignment" or left is None or left.type != "identifier":
        return None
    return document.slice(left)


def _raises_otherwise(node: Node) -> bool:
    """Whether the ``if`` that holds a statement raises in its other branch."""
    condition = enclosing(node, ("if_statement",))
    if condition is None:
        return False
    return any(
        statement.type == "raise_statement"
        for clause in condition.children_by_field_name("alternative")
        for block in clause.named_children
        for statement in block.named_children
    )


def _plain(document: PythonDocument) -> Iterator[Node]:
    for reference in document.references(f"{_MODULE}.CppExtension"):
        yield reference.node


def _plain_extensions(document: PythonDocument) -> Iterator[Match]:
    message = _(
        "The extension {name} is C++ and needs no CUDA: it has to be compiled on the Mac, where "
        "this set-up also meets its CUDA extensions."
    )
    instead = _(
        "The extension {name} is C++ here and needs no CUDA: this is the branch for machines "
        "without it, and a Mac compiles it."
    )
    for node in _plain(document):
        call = _call_of(node)
        if call is not None:
            said = instead if _other_branch_has(call, b"CUDAExtension") else message
            text = said.format(name=_name_of(document, call))
            yield Match(call.start_byte, call.end_byte, text, Severity.COSMETIC)


def _calls(document: PythonDocument, names: set[str]) -> Iterator[Node]:
    """The calls of these names of the file itself."""
    if not names:
        return
    words = "|".join(re.escape(name) for name in sorted(names))
    pattern = re.compile(rf"(?<![\w.])(?:{words})(?=\s*\()".encode())
    for _match, node in document.anywhere(pattern, *map(str.encode, names)):
        call = _call_of(node)
        if call is not None:
            yield call


def _helper(document: PythonDocument, call: Node) -> Iterator[str]:
    """The function that makes extensions of the names that it is given."""
    function = enclosing(call, ("function_definition", "class_definition", "lambda"))
    name = function.child_by_field_name("name") if function is not None else None
    if function is not None and function.type == "function_definition" and name is not None:
        yield document.slice(name)


def _name_node(document: PythonDocument, call: Node) -> Node | None:
    named = _keywords(document, call).get("name")
    arguments = call.child_by_field_name("arguments")
    first = nth(arguments, 0) if arguments is not None else None
    if named is None and first is not None and first.type not in _NO_NAME:
        named = first
    return named


def _literal_name(document: PythonDocument, call: Node) -> str | None:
    """The extension's name where it is a string, or a name that the file sets to one."""
    node = _name_node(document, call)
    if node is None:
        return None
    text = document.slice(node)
    if node.type == "identifier":
        pattern = rf"(?m)^\s*{re.escape(text)}\s*=\s*[\"']([\w.-]+)[\"']".encode()
        set_to = re.search(pattern, document.text)
        return set_to[1].decode() if set_to is not None else None
    literal = node.type == "string" and all(c.type != "interpolation" for c in node.children)
    return text.lstrip("rRuUbB").strip("\"'") if literal else None


def _name_of(document: PythonDocument, call: Node) -> str:
    """The extension's name, or the expression that gives it."""
    literal = _literal_name(document, call)
    if literal is not None:
        return literal
    node = _name_node(document, call)
    return " ".join(document.slice(node).split())[:60] if node is not None else _("(unnamed)")


def _loads(document: PythonDocument) -> Iterator[Match]:
    certain = _(
        "CUDA sources are compiled into {name} here when the program runs, which needs nvcc."
    )
    unsure = _(
        "The extension {name} is compiled here when the program runs; its sources are named "
        "elsewhere: look whether a .cu file is among them."
    )
    for name in ("load", "load_inline"):
        for reference in document.references(f"{_MODULE}.{name}"):
            call = _call_of(reference.node)
            if call is None:
                continue
            keywords, label = _keywords(document, call), _name_of(document, call)
            cuda = keywords.get("cuda_sources")
            if (cuda is not None and cuda.type != "none") or _SOURCE.search(call.text or b""):
                yield Match(call.start_byte, call.end_byte, certain.format(name=label))
            elif name == "load" and not _is_literal(keywords.get("sources")):
                text = unsure.format(name=label)
                yield Match(call.start_byte, call.end_byte, text, Severity.DEGRADES, Fix.MANUAL)


def _call_of(node: Node) -> Node | None:
    parent = node.parent
    if parent is not None and parent.type == "call":
        return parent if parent.child_by_field_name("function") == node else None
    return None


def _keywords(document: PythonDocument, call: Node) -> dict[str, Node]:
    arguments = call.child_by_field_name("arguments")
    found: dict[str, Node] = {}
    for child in arguments.named_children if arguments is not None else []:
        name, value = child.child_by_field_name("name"), child.child_by_field_name("value")
        if child.type == "keyword_argument" and name is not None and value is not None:
            found[document.slice(name)] = value
    return found


def _is_literal(node: Node | None) -> bool:
    """Whether the sources are a list of plain strings, none of which named CUDA."""
    if node is None or node.type not in ("list", "tuple"):
        return False
    return all(
        child.type == "string" and all(c.type != "interpolation" for c in child.children)
        for child in node.named_children
    )


def _is_text(string: Node) -> bool:
    """Whether a string is a docstring or handed to something that prints or compares it."""
    parent = string.parent
    if parent is None or parent.type in ("expression_statement", "comparison_operator"):
        return True
    call = parent.parent if parent.type in ("argument_list", "tuple") else None
    while call is not None and call.type == "argument_list":
        call = call.parent
    function = call.child_by_field_name("function") if call is not None else None
    return function is not None and _TESTS.search(function.text or b"") is not None


RULE = Rule(
    code="K203",
    name="cuda-extension",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"CUDAExtension", b"cpp_extension", b'.cu"', b".cu'", b'.cuh"', b".cuh'"),
    what=N_("Python code builds or loads an extension that is written in CUDA."),
    why=N_("Without the CUDA toolkit the build fails, and the module that it makes is missing."),
    advice=N_(
        "Build the extension where CUDA_HOME is set and leave it out elsewhere; import it there "
        "alone, and route other devices to a reference in plain PyTorch, which is slower and needs a "
        "look at its own operators. CppExtension in its place builds nothing useful: the .cu file is "
        "the operator."
    ),
    source="https://docs.pytorch.org/docs/stable/cpp_extension.html",
    find=find,
    whole=True,
    examples=(
        Example(
            path="setup.py",
            text="""\
                from setuptools import setup
                from torch.utils.cpp_extension import BuildExtension, CUDAExtension
                setup(
                    ext_modules=[CUDAExtension("ops", ["ops.cpp", "ops_kernel.cu"])],
                    cmdclass={"build_ext": BuildExtension},
                )
                """,
            finds=('CUDAExtension("ops", ["ops.cpp", "ops_kernel.cu"])',),
        ),
        Example(
            text="""\
                import torch.utils.cpp_extension as cpp
                from torch.utils import cpp_extension
                ops = cpp.load(name="ops", sources=["ops.cpp", "ops.cu"])
                more = cpp_extension.load_inline("more", cpp_source, cuda_sources=kernel)
                mine = cpp.load(name=name, sources=sources)
                """,
            finds=(
                'cpp.load(name="ops", sources=["ops.cpp", "ops.cu"])',
                'cpp_extension.load_inline("more", cpp_source, cuda_sources=kernel)',
                "cpp.load(name=name, sources=sources)",
            ),
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import CUDA_HOME, CUDAExtension
                if CUDA_HOME is not None:
                    extension = CUDAExtension
                    sources = ["src/deform_attention_cuda.cu"]
                """,
            finds=("CUDAExtension", '"src/deform_attention_cuda.cu"'),
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import CppExtension, CUDAExtension

                def make(name, sources):
                    return CUDAExtension(name=f"pkg.{name}", sources=sources)

                extension = CppExtension
                if cuda:
                    extension = CUDAExtension
                modules = [extension("pkg._C", sources), make("nms", more)]
                modules.append(CppExtension("pkg.host", ["host.cpp"]))
                """,
            finds=(
                'CUDAExtension(name=f"pkg.{name}", sources=sources)',
                "CUDAExtension",
                'extension("pkg._C", sources)',
                'make("nms", more)',
                'CppExtension("pkg.host", ["host.cpp"])',
            ),
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import BuildExtension, CppExtension
                setup(
                    ext_modules=[CppExtension("ops", ["ops.cpp"])],
                    cmdclass={"build_ext": BuildExtension},
                )
                """,
        ),
        Example(
            text="""\
                from torch.utils.cpp_extension import load
                ops = load(name="ops", sources=["ops.cpp"])
                """,
        ),
        Example(text="from torch.utils.cpp_extension import CUDAExtension\n"),
        Example(text='"""Compiles ops.cu"""\nprint("see ops.cu for the kernel")\n# "ops.cu"\n'),
        Example(
            text="""\
                if source.endswith((".c", "_sm90.cu")) or source.replace("a.cu", "") == "b.cu":
                    log.info("compiles a.cu")
                """
        ),
        Example(
            path="setup.py",
            text="""\
                from torch.utils.cpp_extension import CppExtension, CUDAExtension
                import torch, os
                def make(name, sources, sources_cuda):
                    if torch.cuda.is_available() or os.getenv("FORCE_CUDA") == "1":
                        extension = CUDAExtension
                        sources += sources_cuda
                    else:
                        extension = CppExtension
                    return extension(name, sources)
                make("ops", ["ops.cpp"], ["ops_kernel.cu"])
                """,
            finds=("CUDAExtension", "extension(name, sources)", '"ops_kernel.cu"'),
        ),
        Example(text="import torch\nmodel = torch.load(path)\nname = 'readme.cute'\n"),
    ),
)
