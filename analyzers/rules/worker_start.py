"""D139: loader workers that do not start on macOS as they do on Linux."""

import re
from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import argument, call_of, keyword, number_of, string_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_LOADER = re.compile(rb"\bDataLoader(?=\s*\()")
_CARRIER = re.compile(rb"(?<![\w.])(\w+)\.\w+[ \t]*=[ \t]*lambda\b")
_FUNCTIONS = ("collate_fn", "worker_init_fn")


def find(document: PythonDocument) -> Iterator[Match]:
    """Loaders with workers that are given a lambda, or are forked by name."""
    for call in _loaders(document):
        if not number_of(document, keyword(call, "num_workers")):
            continue
        context = keyword(call, "multiprocessing_context")
        functions = [keyword(call, one) for one in _FUNCTIONS]
        if string_of(document, context) == "fork":
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "Forked workers are not safe once Metal has been used in the process; macOS "
                    "starts workers anew instead."
                ),
                severity=Severity.DEGRADES,
            )
        elif context is None and (
            any(one is not None and one.type == "lambda" for one in functions)
            or _has_lambda(document, argument(call, "dataset", 0))
        ):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "macOS starts workers anew instead of forking, so what they get must be "
                    "pickled, and a lambda cannot be: the first batch raises. Write a function in a "
                    "module."
                ),
            )


def _loaders(document: PythonDocument) -> Iterator[Node]:
    """Calls of a ``DataLoader``, which a notebook may have imported in a cell long gone."""
    for _found, node in document.anywhere(_LOADER, b"DataLoader"):
        function = node
        if node.parent is not None and node.parent.type == "attribute":
            function = node.parent
        call = call_of(function)
        if call is not None and node.type == "identifier":
            yield call


def _has_lambda(document: PythonDocument, dataset: Node | None) -> bool:
    """Whether the file gives the dataset itself a lambda to carry."""
    if dataset is None or dataset.type != "identifier":
        return False
    carriers = document.remember(
        "lambdas", lambda: frozenset(match[1] for match in _CARRIER.finditer(document.text))
    )
    return document.text[dataset.start_byte : dataset.end_byte] in carriers


RULE = Rule(
    code="D139",
    name="worker-start",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"num_workers",),
    what=N_("A loader's workers are given what only a forked process can have."),
    why=N_(
        "Python starts processes on macOS with spawn since 3.8. It is no matter of CUDA, but a "
        "program from a Linux server meets it on a Mac first."
    ),
    advice=N_("Use functions and classes that a module defines, or num_workers=0 on macOS."),
    source="https://docs.python.org/3/library/multiprocessing.html#contexts-and-start-methods",
    since="Python 3.8 on macOS",
    find=find,
    examples=(
        Example(
            text="""\
                from torch.utils.data import DataLoader
                a = DataLoader(data, num_workers=4, collate_fn=lambda rows: rows)
                b = DataLoader(data, num_workers=2, multiprocessing_context="fork")
                rows.label = lambda row: row[1]
                c = DataLoader(rows, num_workers=2)
                """,
            finds=(
                "DataLoader(data, num_workers=4, collate_fn=lambda rows: rows)",
                'DataLoader(data, num_workers=2, multiprocessing_context="fork")',
                "DataLoader(rows, num_workers=2)",
            ),
        ),
        Example(
            text="""\
                from torch.utils.data import DataLoader
                a = DataLoader(data, num_workers=0, collate_fn=lambda rows: rows)
                b = DataLoader(data, collate_fn=lambda rows: rows)
                """,
        ),
        Example(
            text="""from torch.utils.data import DataLoader\na = DataLoader(data, num_workers=4, collate_fn=join)\n"""
        ),
        Example(text="""a = Pool(num_workers=4, collate_fn=lambda rows: rows)\n"""),
    ),
)
