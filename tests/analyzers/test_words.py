"""Words that a rule waits for, and what must stand beside them."""

import re

import pytest

from analyzers.documents.python import PythonDocument
from analyzers.examine import examine
from analyzers.registry import rules
from analyzers.rule import NOT_COMPARED, WHOLE, Word
from analyzers.words import _on_line, readings


def counts(word: Word, text: bytes) -> bool:
    start = text.index(word.text)
    return _on_line(word, text, start, start + len(word.text))


@pytest.mark.parametrize(
    ("word", "text", "expected"),
    [
        (Word(b"fla", after=WHOLE), b"import fla\n", True),
        (Word(b"fla", after=WHOLE), b"import fla.ops\n", True),
        (Word(b"fla", after=WHOLE), b"import fla", True),
        (Word(b"fla", after=WHOLE), b"import flax\n", False),
        (Word(b"fla", after=WHOLE), b"import fla_2\n", False),
        (Word(b"'mps", before=NOT_COMPARED), b"x = 'mps'\n", True),
        (Word(b"'mps", before=NOT_COMPARED), b"'mps'", True),
        (Word(b"'mps", before=NOT_COMPARED), b"if x == 'mps':\n", False),
        (Word(b"'mps", before=NOT_COMPARED), b"if x!='mps':\n", False),
        (Word(b"cupy", on_line=re.compile(rb"\bimport\b")), b"import cupy\n", True),
        (Word(b"cupy", on_line=re.compile(rb"\bimport\b")), b"import os\ncupy.do()\n", False),
        (Word(b"map", after=re.compile(rb"\s*=")), b"map \\\n = 0\n", False),
        (Word(b"map", after=re.compile(rb"\s*=")), b"map\n = 0\n", True),
        # A line that goes on for too long is not searched, and so it may have what is asked for.
        (Word(b"cupy", on_line=re.compile(rb"\bimport\b")), b"cupy" + b" " * 700 + b"\n", True),
    ],
)
def test_word(word: Word, text: bytes, expected: bool) -> None:
    assert counts(word, text) is expected


def found(text: str) -> list[str]:
    return [one.rule for one in examine("a.py", text.encode(), rules()).findings]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import torch\nx = y.cuda().to(dtype=torch.float64)\n", ["D103", "D120"]),
        ("import torch as th\nx = y.to(device, th.float64)\n", ["D120"]),
        ("from torch import float64\nx = y.to('cuda', dtype=float64)\n", ["D104", "D120"]),
        (
            "from torch import (\n    float64,\n)\nx = y.to('cuda', dtype=float64)\n",
            ["D104", "D120"],
        ),
        ("m = load('x', use_flash_attention_2=True)\n", ["D143"]),
        ("m = load('x', use_flash_attention_2=False)\n", []),
        ("import torchvision\nk = torchvision.ops.nms(b.cpu(), s.cpu(), 0.5)\n", ["K221"]),
    ],
)
def test_word_reaches_its_rule(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "line",
    [
        "dtype = torch.float32 if is_mps else torch.float64",
        "dtype = torch.float64 if precise else torch.float32",
        "same = x.dtype == torch.float64",
        "self.double_precision = double_precision",
        "y = np.float64(3)",
        "from flax import linen",
        "if config._attn_implementation == 'flash_attention_2': pass",
        "if torch.backends.mps.is_available(): pass",
        "device_map = kwargs.pop('device_map', None)",
        "with torch.autocast(device_type=x.device.type, enabled=False): pass",
        "kept = iou > nms_threshold",
    ],
)
def test_word_that_is_not_worth_parsing_for(line: str) -> None:
    reading = readings(rules())[PythonDocument]
    words, mine = reading.hits(f"import torch\n{line}\n".encode())
    assert (words, mine) == ([], ())


def test_a_renamed_function_still_counts_beside_numpy() -> None:
    text = "from torch import tensor as t\nimport numpy as np\nx = t(a.astype(np.float64)).cuda()\n"
    assert found(text) == ["D120", "D103"]
