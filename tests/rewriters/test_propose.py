"""Which device a rewrite names, and what it leaves alone."""

import ast
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.examine import examine
from analyzers.registry import rules
from project.vocabulary import Edit, Fix, Proposal, Severity
from rewriters.combine import apply_edits, combine
from rewriters.propose import Style, propose, python_rules

CHOICE = '"cuda" if torch.cuda.is_available() else "cpu"'
THREE = (
    '"cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"'
)


def proposals(text: str | bytes, path: str = "a.py", style: str = "auto") -> list[Proposal]:
    data = text.encode() if isinstance(text, str) else text
    return propose(path, data, examine(path, data, python_rules()).findings, Style(style))


def rewritten(text: str, style: str = "auto") -> str:
    made = proposals(text, style=style)
    return combine(text.encode(), made).decode()


@pytest.mark.parametrize(
    ("before", "device", "fix"),
    [
        (f"device = torch.device({CHOICE})\nx.cuda()", "device", Fix.SAFE),
        ("device = torch.device(args.device)\nx.cuda()", "device", Fix.REVIEW),
        ("def f(x, device):\n    x.cuda()", "device", Fix.REVIEW),
        ("def f(x, dev=None):\n    x.cuda()", THREE, Fix.SAFE),
        (
            f"class A:\n    def __init__(self):\n        self.device = {CHOICE}\n"
            "    def f(self, x):\n        x.cuda()",
            "self.device",
            Fix.SAFE,
        ),
        # Another class's device, a device set later, a device of one branch: not in scope.
        (
            f"class B:\n    def __init__(self):\n        self.device = {CHOICE}\n"
            "class A:\n    def f(self, x):\n        x.cuda()",
            THREE,
            Fix.SAFE,
        ),
        (f"x.cuda()\ndevice = {CHOICE}", THREE, Fix.SAFE),
        (f"if a:\n    device = {CHOICE}\nx.cuda()", THREE, Fix.SAFE),
        (f"def g():\n    device = {CHOICE}\ndef f(x):\n    x.cuda()", THREE, Fix.SAFE),
        ("device = torch.device('cpu')\nx.cuda()", THREE, Fix.SAFE),
        # A module's variable is there when the function runs.
        (f"def f(x):\n    x.cuda()\ndevice = {CHOICE}", "device", Fix.REVIEW),
        (f"device = {CHOICE}\ndef f(x):\n    x.cuda()", "device", Fix.SAFE),
        # Another way to set it, another question asked with it, another card: not certain.
        (f"device = {CHOICE}\nif slow:\n    device = 'cpu'\nx.cuda()", "device", Fix.REVIEW),
        (f"device = {CHOICE}\nfor device in many:\n    x.cuda()", "device", Fix.REVIEW),
        (f"device = {CHOICE}\ndevice, n = pick()\nx.cuda()", "device", Fix.REVIEW),
        (
            "device = 'cuda' if torch.cuda.is_available() and a else 'cpu'\nx.cuda()",
            "device",
            Fix.REVIEW,
        ),
        (
            "device = 'cuda:1' if torch.cuda.is_available() else 'cpu'\nx.cuda()",
            "device",
            Fix.REVIEW,
        ),
        ("device = 'cuda:0' if torch.cuda.is_available() else 'cpu'\nx.cuda()", "device", Fix.SAFE),
        (
            "torch.cuda.set_device(1)\n"
            "device = 'cuda:0' if torch.cuda.is_available() else 'cpu'\nx.cuda()",
            "device",
            Fix.REVIEW,
        ),
        (
            "class A:\n    def __init__(self, device):\n        self.device = device\n"
            f"    def g(self):\n        self.device = {CHOICE}\n"
            "    def f(self, x):\n        x.cuda()",
            "self.device",
            Fix.REVIEW,
        ),
        ("def get_device():\n    return 'mps'\nx.cuda()", "get_device()", Fix.REVIEW),
        (
            "if torch.cuda.is_available():\n    device = 'cuda'\n"
            "else:\n    device = 'cpu'\nx.cuda()",
            "device",
            Fix.SAFE,
        ),
    ],
)
def test_the_device_at_hand_is_named(before: str, device: str, fix: Fix) -> None:
    text = f"import torch\n{before}\n"
    [one] = [made for made in proposals(text) if made.rule == "D103"]
    assert apply_edits(text.encode(), one.edits).decode() == text.replace(
        "x.cuda()", f"x.to({device})"
    )
    assert one.fix is fix
    assert one.why


@pytest.mark.parametrize(
    "text",
    [
        "x.cuda(thing)",
        "x.cuda(device=rank)",
        'x.to("cuda:1")',
        'x.to(f"cuda:{rank}")',
        'torch.device("cuda", rank)',
        'run(impl="cuda")',
        "name = torch.cuda.get_device_name(0)",
        "for _ in range(3): torch.cuda.synchronize()",
        "x = 1; torch.cuda.synchronize()",
        "if torch.cuda.is_available():\n    x.cuda()\nelse:\n    x.cpu()",
        "if torch.cuda.is_available(): x.cuda()",
        "if torch.cuda.is_available() and cuda_wanted:\n    x.cuda()",
        "import cupy\ncupy.cuda.Device(0)",
    ],
)
def test_left_alone(text: str) -> None:
    assert proposals(f"import torch\n{text}\n") == []


DEVICE = 'device = torch.device("cuda")'


@pytest.mark.parametrize(
    "text",
    [
        # TorchScript compiles the function: it knows no module and no device of the module.
        "@torch.jit.script\ndef f(x):\n    return x.cuda()",
        # The class says itself what cuda() does.
        "class A:\n    def cuda(self):\n        return self\n    def g(self):\n        self.cuda()",
        "class A(B):\n    def cuda(self):\n        return super().cuda()",
        # These want a string, or speak of a kind of device.
        'torch.set_autocast_dtype("cuda", torch.float16)',
        '@torch.library.register_kernel("m::f", "cuda")\ndef k(x):\n    pass',
        'torch.random.fork_rng(device_type="cuda")',
        # Another torch.
        "def g(x, torch):\n    return x.cuda()",
        "def g(x):\n    y = x.cuda()\n    import torch\n    return y",
    ],
)
def test_places_without_a_safe_answer(text: str) -> None:
    assert [one for one in proposals(f"import torch\n{text}\n") if one.fix is Fix.SAFE] == []


@pytest.mark.parametrize(
    "body",
    [
        "def g(x):\n    from cfg import device\n    return x.cuda()",
        "h = lambda device: x.cuda()",
        "def n(x):\n    def device(): pass\n    return x.cuda()",
        "def f(x):\n    match x:\n        case [device]:\n            return x.cuda()",
        "def f(x):\n    device: str\n    return x.cuda()",
        "def g(x):\n    y = x.cuda()\n    device = 'cuda'\n    return y",
        "y = [x.cuda() for device in many]",
    ],
)
def test_a_shadowed_device_is_not_named(body: str) -> None:
    text = f"import torch\n{DEVICE}\n{body}\n"
    [one] = [made for made in proposals(text, style="inline") if made.rule == "D103"]
    assert THREE in apply_edits(text.encode(), one.edits).decode()


@pytest.mark.parametrize(
    "text",
    [
        f"{DEVICE}\nfrom cfg import device\nx.cuda()",
        f"{DEVICE}\ndel device\nx.cuda()",
        f"{DEVICE}\ndevice += ':1'\nx.cuda()",
        f"{DEVICE}\nwith a as device:\n    x.cuda()",
        f"{DEVICE}\ndef change():\n    global device\n    device = 'cpu'\nx.cuda()",
        f"def f(x):\n    return x.cuda()\ny = f(1)\n{DEVICE}",
    ],
)
def test_a_device_that_can_be_something_else_is_never_safe(text: str) -> None:
    made = [one for one in proposals(f"import torch\n{text}\n") if one.rule == "D103"]
    assert all(one.fix is Fix.REVIEW or b"mps" in one.edits[0].replacement for one in made)


@pytest.mark.parametrize(
    "before",
    [
        # One branch does not set it.
        'if torch.cuda.is_available():\n    device = "cuda"\nelif a:\n    pass\n'
        'else:\n    device = "cpu"\nx.cuda()',
        "class N:\n    def __init__(self, a):\n        if a:\n            self.device = 'cuda'\n"
        "    def g(self, x):\n        x.cuda()",
    ],
)
def test_a_device_that_some_way_does_not_set_is_not_named(before: str) -> None:
    text = f"import torch\n{before}\n"
    [one] = [made for made in proposals(text) if made.rule == "D103"]
    assert f"x.to({THREE})" in apply_edits(text.encode(), one.edits).decode()


def test_quotes_inside_an_f_string_are_the_other_ones() -> None:
    after = rewritten('import torch\nprint(f"{x.cuda()}")\n')
    assert after == f'import torch\nprint(f"{{x.to({THREE})}}")\n'.replace(
        THREE, THREE.replace('"', "'")
    )


def test_a_name_that_is_taken_is_not_given_to_the_helper() -> None:
    text = (
        "import torch\nx.cuda()\ny.cuda()\ndef pick_device(options):\n    return options.device\n"
    )
    assert rewritten(text).count("pick_device") == 1


def test_torch_is_imported_once_and_before_its_first_use() -> None:
    text = "from torch.cuda import synchronize\nsynchronize()\ndef f(x):\n    return x.cuda()\n"
    after = rewritten(text)
    assert after.count("import torch\n") == 1
    assert after.index("import torch\n") < after.index("if torch.cuda")
    assert proposals(after) == []


def test_several_places_share_one_helper_and_each_stands_alone() -> None:
    text = '"""Doc."""\nimport torch\n\nx.cuda()\ny.cuda()\n'
    made = proposals(text)
    assert len(made) == 2
    both = combine(text.encode(), made).decode()
    assert both.count("def pick_device():") == 1
    assert both.endswith("x.to(pick_device())\ny.to(pick_device())\n")
    for one in made:
        alone = combine(text.encode(), [one]).decode()
        ast.parse(alone)
        assert alone.count(".cuda()") == 1
    assert proposals(both) == []


def test_a_half_applied_helper_is_used_again() -> None:
    text = "import torch\n\nx.cuda()\ny.cuda()\n"
    first = combine(text.encode(), proposals(text)[:1]).decode()
    second = rewritten(first)
    assert second.count("def pick_device") == 1
    assert second.endswith("x.to(pick_device())\ny.to(pick_device())\n")


def test_style_inline_needs_no_helper() -> None:
    assert "def " not in rewritten("import torch\nx.cuda()\ny.cuda()\n", style="inline")


def test_torch_is_imported_where_it_is_missing() -> None:
    before = '"""Doc."""\nfrom __future__ import annotations\n\nfrom torch import nn\n\nx.cuda()\n'
    after = rewritten(before)
    assert after.startswith(
        '"""Doc."""\nfrom __future__ import annotations\n\nfrom torch import nn\nimport torch\n'
    )
    ast.parse(after)


def test_an_import_for_type_checkers_alone_is_no_import() -> None:
    before = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import torch\n\nx.cuda()\n"
    assert rewritten(before).startswith("from typing import TYPE_CHECKING\nimport torch\nif TYPE")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_line_ends_and_marks_stay(end: bytes) -> None:
    newline = end or b"\n"
    head = b"\xef\xbb\xbfimport torch" + newline
    data = head + b"torch.cuda.synchronize()" + end
    expected = (
        head + b"if torch.cuda.is_available():" + newline + b"    torch.cuda.synchronize()" + end
    )
    assert combine(data, proposals(data)) == expected


def test_latin_1_bytes_stay() -> None:
    data = "# -*- coding: latin-1 -*-\nimport torch\nx = 'é'.join(y).cuda()\n".encode("latin-1")
    after = combine(data, proposals(data))
    assert "'é'.join(y).to(".encode("latin-1") in after


def notebook(*cells: list[str]) -> bytes:
    body = {
        "cells": [
            {"cell_type": "code", "metadata": {}, "outputs": [], "source": lines} for lines in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(body, indent=1).encode()


def test_an_edit_lands_inside_the_json_and_nothing_else_moves() -> None:
    data = notebook(
        ["!nvidia-smi\n", "%matplotlib inline\n", "import torch\n"], ['t = "ä\\t"\n', "x.cuda()"]
    )
    [one] = proposals(data, "n.ipynb")
    after = combine(data, [one])
    assert after == data.replace(b"x.cuda()", b"x.to(" + THREE.replace('"', '\\"').encode() + b")")
    json.loads(after)


def test_an_edit_at_the_very_end_of_a_json_string() -> None:
    line = 'd = "cuda" if torch.cuda.is_available() else "cpu"'
    for cells in ([[line]], [["import torch\n", line], ["x = 1"]]):
        data = notebook(*cells)
        [one] = proposals(data, "n.ipynb")
        after = json.loads(combine(data, [one]))
        assert after["cells"][0]["source"][-1] == f"d = {THREE}"


def test_a_finding_in_a_notebook_counts_lines_inside_its_cell() -> None:
    data = notebook(["import torch\n", "\n"], ["# two\n", "  \n", "y = x.cuda()\n"])
    [one] = examine("n.ipynb", data, python_rules()).findings
    assert (one.cell, one.line, one.column) == (1, 3, 5)


LINES = st.sampled_from(
    [
        "x = x.cuda()",
        "y = torch.zeros(2, device='cuda')",
        "device = torch.device('cuda')",
        f"device = {CHOICE}",
        "z = x.to('cuda', non_blocking=True)",
        "torch.cuda.synchronize()",
        "text = 'é.cuda() and \"cuda\"'  # x.cuda()",
        "def f(a, device='cuda'):\n    return a.cuda()",
        "class A:\n    def __init__(self):\n        self.device = 'cuda'\n"
        "    def g(self, x):\n        return x.cuda()",
        "if torch.cuda.is_available():\n    x.cuda()\nelse:\n    x.cpu()",
        "",
    ]
)


def serious(text: str) -> set[str]:
    """The rules that find more than a remark."""
    found = examine("a.py", text.encode(), python_rules()).findings
    return {one.rule for one in found if one.severity is not Severity.COSMETIC}


@settings(max_examples=150, deadline=None)
@given(st.lists(LINES, max_size=8), st.sampled_from(["auto", "inline", "helper"]))
def test_any_program_parses_and_is_left_alone_the_second_time(lines: list[str], style: str) -> None:
    text = "import torch\n" + "\n".join(lines) + "\n"
    made = proposals(text, style=style)
    after = combine(text.encode(), made).decode()
    ast.parse(after)
    assert proposals(after, style=style) == []
    assert serious(after) <= serious(text)


@settings(max_examples=80, deadline=None)
@given(st.lists(LINES, max_size=6), st.data())
def test_each_proposal_can_be_applied_alone(lines: list[str], data: st.DataObject) -> None:
    text = "import torch\n" + "\n".join(lines) + "\n"
    made = proposals(text)
    if made:
        chosen = data.draw(st.lists(st.sampled_from(made), min_size=1, unique=True))
        ast.parse(combine(text.encode(), chosen).decode())


TEXTS = [example.text.encode() for rule in rules() for example in rule.examples if example.text]


@given(st.data())
def test_a_document_after_edits_is_what_parsing_all_of_it_gives(data: st.DataObject) -> None:
    text = b"\n".join(data.draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3)))
    places = sorted(data.draw(st.sets(st.integers(0, len(text)), max_size=6)))
    pieces = st.sampled_from(
        [b"", b"x", b"\n", b"    ", b"(", b'"""', b".to(d)", b"if a:\n    b\n"]
    )
    edits = [
        Edit(start, end, data.draw(pieces))
        for start, end in zip(places[::2], places[1::2], strict=False)
    ]
    document = PythonDocument(Source.of("a.py", text))
    source = Source.of("a.py", apply_edits(text, edits))
    after, anew = document.edited(source, edits), PythonDocument(source)
    assert str(after.root) == str(anew.root)
    assert [n.start_byte for n in after.root.children] == [n.start_byte for n in anew.root.children]
