"""What people ran into on their Macs: each program gives the findings that would have told them."""

import json
import textwrap

import pytest

from analyzers.examine import examine
from analyzers.registry import rules
from project.vocabulary import Finding, Layer, Severity

DEVICE_RULES = [one for one in rules() if one.code in {f"D{n}" for n in range(101, 120)} - {"D112"}]

B, D, C = "blocks", "degrades", "cosmetic"


def found(text: str, path: str = "a.py") -> tuple[Finding, ...]:
    findings = examine(path, textwrap.dedent(text).encode(), DEVICE_RULES).findings
    assert all(one.layer is Layer.DEVICE for one in findings)
    return findings


def short(text: str) -> list[tuple[str, str, str]]:
    return [(one.rule, one.severity.value, one.text) for one in found(text)]


def test_a_module_that_moves_itself() -> None:
    findings = found(
        """\
        import torch.nn as nn
        class Encoder(nn.Module):
            def __init__(self):
                self.net = nn.Linear(16, 4).cuda()
                self.act = nn.ReLU().cuda()
            def forward(self, x):
                return self.act(self.net(x.cuda()))
        """
    )
    assert [(one.rule, one.severity) for one in findings] == [
        ("D103", Severity.BLOCKS),
        ("D103", Severity.COSMETIC),
        ("D103", Severity.BLOCKS),
    ]
    assert "nothing to move" in findings[1].message


def test_a_default_is_at_fault_and_not_the_call() -> None:
    text = 'def build(task, device="cuda:0"):\n    return task\nbuild("x")\n'
    assert short(text) == [("D106", B, 'device="cuda:0"')]


def test_a_second_card_is_named() -> None:
    [finding] = found('run(cond, device="cuda:1", steps=3)\n')
    assert finding.severity is Severity.BLOCKS
    assert "exactly one MPS device" in finding.message


def test_a_type_that_takes_no_mps() -> None:
    [finding] = found('class A:\n    device: Literal["auto", "cpu", "cuda"] = "auto"\n')
    assert (finding.rule, finding.text) == ("D106", '"cuda"')
    assert "not MPS" in finding.message


def test_an_option_that_never_picks_mps_and_a_test_that_takes_mps_for_the_cpu() -> None:
    text = """\
        import torch
        p.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
        device_type = "cuda" if "cuda" in a.device else "cpu"
        ctx = torch.cuda.amp.autocast(dtype=torch.bfloat16)
        """
    assert short(text) == [
        ("D101", D, '"cuda:0" if torch.cuda.is_available() else "cpu"'),
        ("D101", D, '"cuda" if "cuda" in a.device else "cpu"'),
        ("D109", D, "torch.cuda.amp.autocast(dtype=torch.bfloat16)"),
    ]


def test_a_parser_of_device_names() -> None:
    text = """\
        import torch
        def pick(name):
            if "cuda" in name:
                return torch.device(name)
            return torch.device("cpu")
        """
    assert short(text) == [("D111", D, '"cuda" in name')]


def test_a_program_that_refuses_to_start() -> None:
    text = """\
        import torch
        def init(device_type="cuda"):
            assert torch.cuda.is_available(), "CUDA is required"
            torch.cuda.manual_seed(42)
            return torch.device(device_type)
        """
    assert short(text) == [
        ("D106", B, 'device_type="cuda"'),
        ("D108", B, "torch.cuda.is_available()"),
        ("D107", C, "torch.cuda.manual_seed(42)"),
    ]


def test_a_build_that_refuses_without_a_toolkit() -> None:
    text = """\
        import torch
        from torch.utils.cpp_extension import CUDA_HOME
        if torch.cuda.is_available() and CUDA_HOME is not None:
            sources = []
        else:
            raise NotImplementedError("CUDA_HOME is None")
        """
    assert ("D108", B, "torch.cuda.is_available()") in short(text)


def test_a_map_location_is_no_shelter_by_itself() -> None:
    text = """\
        import torch
        a = torch.load("a.pt", map_location=torch.device("cuda"))
        b = torch.load("b.pt", map_location={"cuda:0": "cpu"})
        c = torch.load("c.pt", map_location=lambda storage, loc: storage.cuda(0))
        """
    assert short(text) == [
        ("D102", B, 'torch.device("cuda")'),
        ("D103", B, "storage.cuda(0)"),
    ]


def test_three_blockers_behind_one_another_are_all_named() -> None:
    text = """\
        import os, torch, torch.distributed as dist
        dist.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
        """
    assert [(rule, severity) for rule, severity, _text in short(text)] == [
        ("D117", B),
        ("D107", B),
        ("D113", B),
    ]


def test_flags_that_people_give_to_cuda() -> None:
    text = """\
        parser.add_argument('--no-cuda', action='store_true')
        args.cuda = not args.no_cuda and torch.cuda.is_available()
        if args.cuda:
            torch.cuda.manual_seed(1)
            model.cuda()
        """
    assert short(text) == [
        ("D114", C, "'--no-cuda'"),
        ("D114", C, "args.no_cuda"),
        ("D108", C, "torch.cuda.is_available()"),
        ("D114", C, "args.cuda"),
        ("D107", C, "torch.cuda.manual_seed(1)"),
        ("D103", D, "model.cuda()"),
    ]


def test_a_selection_that_knows_mps_is_only_remarked_on() -> None:
    text = """\
        import torch
        if torch.cuda.is_available():
            device = torch.device("cuda")
        elif torch.backends.mps.is_available():
            device = torch.device("mps")
        else:
            device = torch.device("cpu")
        name = "cuda" if torch.cuda.is_available() else "cpu"
        if torch.backends.mps.is_available():
            name = "mps"
        """
    findings = found(text)
    assert {one.severity for one in findings} == {Severity.COSMETIC}
    assert {one.message for one in findings} == {"MPS has a branch of its own here: nothing to do."}


def test_a_notebook_says_in_which_cell() -> None:
    book = {
        "cells": [
            {"cell_type": "markdown", "source": ["net.cuda()"]},
            {"cell_type": "code", "source": ["!nvidia-smi\n", "%pip install torch\n"]},
            {"cell_type": "code", "source": ["ds = 1\n", "net = net.cuda()\n"]},
        ]
    }
    [finding] = examine("n.ipynb", json.dumps(book).encode(), DEVICE_RULES).findings
    assert (finding.cell, finding.line, finding.text) == (1, 2, "net.cuda()")


@pytest.mark.parametrize(
    "text",
    [
        'print "on the GPU"\nmodel.cuda()\n',
        "try:\n    pass\nexcept ValueError, e:\n    pass\nmodel.cuda()\n",
        "def broken(:\n    pass\n\nmodel.cuda()\n",
        "exec 'x = 1'\nmodel.cuda()\n",
    ],
)
def test_old_and_broken_python_is_read_as_far_as_it_goes(text: str) -> None:
    assert "model.cuda()" in [one.text for one in found(text)]


def test_a_file_that_is_broken_is_named() -> None:
    report = examine("a.py", b"def broken(:\n    x.cuda()\n\nmodel.cuda()\n", DEVICE_RULES)
    assert [one.reason for one in report.skipped] == [
        "The syntax is broken at line 1; what could be parsed was read."
    ]


@pytest.mark.parametrize(
    "text",
    [
        '"""Call model.cuda() and torch.cuda.synchronize()."""\n',
        "# device = 'cuda'\n",
        "log.info('moving to cuda: model.cuda()')\n",
        "import numba.cuda\nnumba.cuda.jit(f)\n",
        "x = 1  # type: torch.cuda.FloatTensor\n",
        "sizes = {'cuda': 1}\n",
        "def build_cuda_model():\n    pass\n",
        "mod = torch.get_device_module()\nmod.synchronize()\n",
        "if device != 'cpu':\n    x = x.pin_memory()\n",
    ],
)
def test_mentions_that_are_no_findings(text: str) -> None:
    assert found(text) == ()


def test_no_finding_is_longer_than_a_statement() -> None:
    text = """\
        import torch
        if torch.cuda.is_available():
            model = (build()
                .cuda())
        else:
            model = build()
        def train(net, device="cuda"):
            for batch in net:
                batch.cuda()
        """
    assert all(one.end_line - one.line <= 1 for one in found(text))
