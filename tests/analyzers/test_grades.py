"""How severe a place is, where readers of code and the rules once differed."""

import textwrap

import pytest

from analyzers.examine import examine
from analyzers.registry import rules
from project.vocabulary import Finding


def found(path: str, text: str) -> list[Finding]:
    return list(examine(path, textwrap.dedent(text).encode(), rules()).findings)


def graded(path: str, text: str) -> list[tuple[str, str]]:
    return [(one.rule, one.severity.value) for one in found(path, text)]


@pytest.mark.parametrize(
    ("option", "condition", "severity"),
    [
        ("'--no-cuda', action='store_true'", "not args.no_cuda", "blocks"),
        ("'--no_cuda', action='store_true'", "not args.no_cuda", "blocks"),
        ("'--cuda', action='store_false'", "args.cuda", "blocks"),
        ("'--cuda', default=True", "args.cuda", "blocks"),
        ("'--cuda', action='store_true'", "args.cuda", "degrades"),
        ("'--cuda', action='store_false'", "args.cuda and torch.cuda.is_available()", "degrades"),
        ("'--other', default=True", "args.cuda", "degrades"),
    ],
)
def test_a_choice_by_a_flag_that_is_on_fails_for_everybody(
    option: str, condition: str, severity: str
) -> None:
    text = f"""\
        import torch
        parser.add_argument({option})
        device = torch.device("cuda" if {condition} else "cpu")
        """
    assert [one for one in graded("a.py", text) if one[0] == "D101"] == [("D101", severity)]


def test_a_flag_that_is_the_opposite_of_one_that_is_off_is_on() -> None:
    text = """\
        import torch
        parser.add_argument('-no_cuda', '--no_cuda', action='store_true')
        opt.cuda = not opt.no_cuda
        device = torch.device('cuda' if opt.cuda else 'cpu')
        """
    assert ("D101", "blocks") in graded("a.py", text)


@pytest.mark.parametrize(
    ("before", "test", "says"),
    [
        ("", "args.cuda", "own flag"),
        ("", "use_cuda", "own flag"),
        ("use_cuda = torch.cuda.is_available()", "use_cuda", "only where CUDA is available"),
        ("", "torch.cuda.is_available()", "only where CUDA is available"),
        ("", "args.cuda and torch.cuda.is_available()", "only where CUDA is available"),
        ("", "x.is_cuda", "only where CUDA is available"),
        ("", "has_cuda()", "only where CUDA is available"),
    ],
)
def test_a_flag_of_the_program_is_no_test_for_cuda(before: str, test: str, says: str) -> None:
    text = f"import torch\n{before}\nif {test}:\n    model.cuda()\n"
    (move,) = [one for one in found("a.py", text) if one.rule == "D103"]
    assert says in move.message
    assert move.severity.value == "degrades"


def test_flags_and_questions_are_cosmetic_in_themselves() -> None:
    text = """\
        import torch
        parser.add_argument('--cuda', action='store_false', help='use CUDA')
        sync_cuda = torch.cuda.is_available()
        """
    assert graded("a.py", text) == [("D114", "cosmetic"), ("D108", "cosmetic")]


def test_what_an_assertion_demands_first_does_not_guard_what_follows() -> None:
    text = "assert kernel is not None and self.data.is_cuda and grad.is_cuda, 'needs CUDA'\n"
    assert graded("a.py", text) == [("D111", "blocks"), ("D111", "blocks")]
    guarded = "if x.is_cuda:\n    assert grad.is_cuda\n"
    assert graded("a.py", guarded) == [("D111", "cosmetic"), ("D111", "cosmetic")]


def test_nothing_is_made_by_an_annotation() -> None:
    text = """\
        import torch
        def forward(self, points: torch.cuda.FloatTensor) -> torch.cuda.FloatTensor:
            kept: torch.cuda.LongTensor = points
            return torch.cuda.FloatTensor(points)
        """
    assert graded("a.py", text) == [
        ("D113", "cosmetic"),
        ("D113", "cosmetic"),
        ("D113", "cosmetic"),
        ("D113", "blocks"),
    ]


def test_a_variable_that_is_looked_for_first_raises_nothing() -> None:
    text = """\
        import os
        cards = os.environ['CUDA_VISIBLE_DEVICES'] if 'CUDA_VISIBLE_DEVICES' in os.environ else ''
        other = os.environ['CUDA_VISIBLE_DEVICES']
        """
    assert [severity for _rule, severity in graded("a.py", text)] == [
        "cosmetic",
        "cosmetic",
        "degrades",
    ]


def test_an_extension_that_has_a_stub_in_the_other_branch() -> None:
    text = """\
        from torch.utils.cpp_extension import CppExtension, CUDAExtension
        if version != -1:
            modules = [CUDAExtension(name="core", sources=["core.cpp"])]
        else:
            modules = [CppExtension(name="core", sources=["stub.cpp"])]
        """
    cuda, plain = [one for one in found("setup.py", text) if one.rule == "K203"]
    assert (cuda.severity.value, plain.severity.value) == ("degrades", "cosmetic")
    assert "else in C++" in cuda.message
    assert "this set-up also meets" not in plain.message


def test_an_extension_without_another_way_stops_the_build() -> None:
    text = """\
        from torch.utils.cpp_extension import CUDAExtension
        if version != -1:
            modules = [CUDAExtension(name="core", sources=["core.cpp"])]
        """
    assert graded("setup.py", text) == [("K203", "blocks")]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("srun --gres=gpu:4 python train.py\n", "blocks"),
        ("#!/bin/bash\n#SBATCH --gres=gpu:4\npython train.py\n", "cosmetic"),
    ],
)
def test_a_command_of_a_batch_system_and_a_directive_for_it(text: str, severity: str) -> None:
    assert graded("job.sh", text) == [("E305", severity)]


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("strategy: ddp\naccelerator: gpu\n", "blocks"),
        ("strategy: auto\naccelerator: gpu\n", "cosmetic"),
        ("accelerator: gpu\n", "cosmetic"),
    ],
)
def test_lightning_refuses_mps_with_several_processes(text: str, severity: str) -> None:
    assert graded("configs/trainer.yaml", text) == [("D112", severity)]


def test_an_image_for_nvidia_starts_on_a_mac_without_a_gpu() -> None:
    assert graded("Dockerfile", "FROM nvidia/cuda:11.8.0-devel-ubuntu22.04\n") == [
        ("E304", "degrades")
    ]


def test_a_device_that_nothing_is_done_with() -> None:
    text = """\
        import torch
        def gather(parts):
            for k in parts:
                d = torch.device("cuda:" + str(k))
                e = torch.device("cuda")
                parts[k] = parts[k].to(e)
            return parts
        """
    assert graded("a.py", text) == [("D102", "cosmetic"), ("D102", "blocks")]
    assert graded("a.py", 'import torch\ndevice = torch.device("cuda")\n') == [("D102", "blocks")]
