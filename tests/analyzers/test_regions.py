"""Parts of a module that are parsed, instead of all of it."""

import re
import textwrap
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.documents import regions
from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.documents.regions import around, followed
from analyzers.examine import examine
from analyzers.registry import rules

MODULE = b'''\
"""Says cuda in a docstring."""
import torch

LIMIT = 3


def quiet(x):
    """Nothing here."""
    return x


@decorate(
    1,
)
def loud(x):
    return x.cuda()


class Large:
    """A class."""

    kind = "large"

    def __init__(self):
        self.x = 1

    def first(self):
        return 1  # cuda

    @property
    def second(self):
        return self.x.cuda()

    def third(self):
        return """
cuda
"""

''' + b"".join(b"    def more%d(self):\n        return %d\n\n" % (n, n) for n in range(60))


def parts(text: bytes, word: bytes = b"cuda") -> list[bytes] | None:
    offsets = [n for n in range(len(text)) if text.startswith(word, n)]
    found = around(text, offsets)
    return None if found is None else [text[start:end] for start, end in found]


def test_functions_without_a_word_are_left_out() -> None:
    kept = b"".join(parts(MODULE) or [])
    assert b"def quiet" not in kept
    assert b"@decorate(\n    1,\n)\ndef loud(x):\n    return x.cuda()\n" in kept
    assert b"class Large:" in kept
    assert b"def __init__" in kept
    assert b"def first" not in kept
    assert b"@property\n    def second" in kept
    assert b"def third" in kept  # a text that is returned is no docstring
    assert b"more7" not in kept


def test_only_prose_is_nothing() -> None:
    assert parts(b'"""cuda"""\n# cuda\nx = 1\n') == []
    assert parts(b'x = 1\n"""All about\ncuda"""\n# cuda\n') == []


def test_a_text_that_is_given_to_something_is_no_prose() -> None:
    for text in (b'x = (\n"""\ncuda"""\n)\n', b'x = \\\n"""\ncuda"""\n', b'f(a,\n"""\ncuda""")\n'):
        assert parts(text), text


def test_an_open_text_of_several_lines_gives_up() -> None:
    assert parts(b'x = """cuda\n') is None
    assert parts(b'x = "\'" + """cuda\n') is None


def test_an_open_quote_of_one_line_leaves_the_rest_in_place() -> None:
    assert parts(b'x = "cuda\ny = 1\n') == [b'x = "cuda\ny = 1\n']


def test_the_parts_parse_as_the_whole_does() -> None:
    offsets = [n for n in range(len(MODULE)) if MODULE.startswith(b"cuda", n)]
    source = Source.of("a.py", MODULE)
    document = PythonDocument.around(source, offsets)
    assert document is not None
    assert not document.root.has_error
    node = document.root.descendant_for_byte_range(
        MODULE.index(b"self.x.cuda"), MODULE.index(b"self.x.cuda") + 1
    )
    whole = PythonDocument(source).root.descendant_for_byte_range(
        MODULE.index(b"self.x.cuda"), MODULE.index(b"self.x.cuda") + 1
    )
    assert node is not None
    assert whole is not None
    assert (node.start_point, node.type) == (whole.start_point, whole.type)


EXAMPLES = [
    textwrap.dedent(example.text)
    for rule in rules()
    if rule.reads is PythonDocument
    for example in rule.examples
    if example.path.endswith(".py") and example.text
]


@given(st.lists(st.sampled_from(EXAMPLES), min_size=1, max_size=4), st.data())
def test_what_is_left_out_changes_no_finding(texts: list[str], data: st.DataObject) -> None:
    bodies = []
    for number, text in enumerate(texts):
        if data.draw(st.booleans()) and "from __future__" not in text:
            text = f"def part{number}():\n" + textwrap.indent(text, "    ")
        bodies.append(text)
    filler = "\n\ndef filler():\n    return 1\n\n"
    module = filler.join(bodies).encode()

    def found(whole: bool) -> list[tuple[str, int, int, str]]:
        around = PythonDocument.around
        if whole:
            PythonDocument.around = classmethod(lambda cls, source, words: cls(source))  # type: ignore[method-assign,assignment]
        try:
            report = examine("a.py", module, rules())
        finally:
            PythonDocument.around = around  # type: ignore[method-assign]
        return [(one.rule, one.start, one.end, one.severity) for one in report.findings]

    assert found(whole=False) == found(whole=True)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("from torch.cuda.amp import custom_fwd as fwd, x\n", {"fwd", "x"}),
        ("from torch.cuda.amp import (\n    one,\n    two,\n)\n", {"one", "two"}),
        ("import torch.cuda as tc\n", {"tc"}),
        ("from tools import is_cuda as ready, other\n", {"ready"}),
        ("from tools import other  # cuda\n", set()),
        ("x = torch.cuda\n", set()),
    ],
)
def test_names_that_imports_bind_are_followed(text: str, names: set[str]) -> None:
    uses = "".join(f"use({name})\n" for name in ("fwd", "x", "one", "two", "tc", "ready", "other"))
    data = (text + uses).encode()
    words = [match.start() for match in re.finditer(b"cuda", data)]
    found = {
        data[offset:].split(b")")[0].decode()
        for offset in followed(data, words)
        if offset >= len(text)
    }
    assert found == names


def test_functions_that_use_what_was_imported_from_cuda_are_read() -> None:
    text = (
        "from torch.cuda.amp import custom_fwd\n\n\n"
        "def one():\n    pass\n\n\n"
        "class Scale:\n    @staticmethod\n    @custom_fwd\n    def forward(ctx):\n        pass\n"
    )
    report = examine("a.py", text.encode(), rules())
    assert "custom_fwd" in [found.text for found in report.findings]


PIECES = st.sampled_from(
    [
        b"x = 1\n",
        b'"""one line"""\n',
        b'"""\nlong cuda\n"""\n',
        b"'''\nlong \"cuda\"\n'''\n",
        b'"""ends with an escape \\""" and goes on\n"""\n',
        b"y = 'a # no comment'  # cuda\n",
        b'z = "it\'s"  # a comment with """\n',
        b"# only a comment, cuda\n",
        b'call("""\ncuda\n""", x.cuda())\n',
        b"path = r'C:\\new'\n",
        b"sum = 1 + \\\n    2\n",
        b"text = 'goes on \\\n   def here'\n",
        b'one = ""\n',
        b"def f(x):\n    return x.cuda()\n",
        b"class A:\n    '''cuda'''\n\n    def g(self):\n        return 1\n",
        b"carriage = 1\r",
        b"both = 2\r\n",
        b'"""\r\nboth cuda\r\n"""\r\n',
    ]
)


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_texts_are_found_as_by_reading_every_token(text: bytes) -> None:
    quick, slow = regions._texts(text), regions._texts_read_one_by_one(text)
    if quick is None or slow is None:
        return
    triple = [span for span in slow if text[span[0] : span[0] + 3] in (b'"""', b"'''")]
    assert [span for span in quick if b"\n" in text[slice(*span)]] == triple


@given(st.lists(PIECES, max_size=12).map(b"".join))
def test_no_word_is_left_out_that_a_reader_of_every_token_keeps(text: bytes) -> None:
    words = [match.start() for match in re.finditer(b"cuda", text)]
    kept = around(text, words)
    with patch.object(regions, "_texts", lambda _text: None):
        slow = around(text, words)
    if kept is None or slow is None:
        return

    def held(parts: list[tuple[int, int]]) -> set[int]:
        return {word for word in words if any(start <= word < end for start, end in parts)}

    # Prose is kept where code beside it is, and which texts on one line are prose differs.
    prose = {
        word
        for token in regions._TOKEN.finditer(text)
        if token.group().startswith((b"#", b'"""', b"'''"))
        for word in words
        if word in range(*token.span())
    }
    assert held(slow) - prose <= held(kept)


@pytest.mark.parametrize(
    ("line", "comment"),
    [
        (b"x = 1  # cuda", True),
        (b"# cuda", True),
        (b"x = '#'  # cuda", True),
        (b"x = 'a\\'#'  # cuda", True),
        (b"x = '# cuda'", False),
        (b'x = "\\"# cuda"', False),
        (b"x.cuda()  # here", False),
        (b"# one\rx.cuda()", False),
    ],
)
def test_comments_are_told_from_texts_with_a_hash(line: bytes, comment: bool) -> None:
    assert regions._is_comment(line, 0, line.index(b"cuda")) is comment
