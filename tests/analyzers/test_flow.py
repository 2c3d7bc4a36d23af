"""Where values go in one file."""

import pytest

from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.flow import CUDA_FLAG, is_on, reaches_device, values_of


def read(text: str) -> PythonDocument:
    return PythonDocument(Source.of("a.py", text.encode()))


@pytest.mark.parametrize(
    "name",
    [
        "cuda",
        "use_cuda",
        "USE_CUDA",
        "useCuda",
        "no_cuda",
        "is_cuda_available",
        "HAS_CUDA",
        "_cuda",
    ],
)
def test_names_of_flags(name: str) -> None:
    assert CUDA_FLAG.match(name)


@pytest.mark.parametrize(
    "name", ["build_cuda_model", "cuda_kernels", "barracuda", "to_cuda_x", "gpu"]
)
def test_names_that_only_contain_the_word(name: str) -> None:
    assert not CUDA_FLAG.match(name)


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("def f(use_cuda=True): pass\n", True),
        ("def f(use_cuda: bool = True): pass\n", True),
        ("c = {'use_cuda': True}\n", True),
        ("p.add_argument('--use-cuda', action='store_false')\n", True),
        ("p.add_argument('--use_cuda', default=True)\n", True),
        ("p.add_argument('--use_cuda', action='store_true')\n", False),
        ("use_cuda = False\n", False),
        ("reuse_cuda = True\n", False),
    ],
)
def test_flags_that_are_on_by_themselves(text: str, on: bool) -> None:
    assert is_on(read(text), "use_cuda") is on


@pytest.mark.parametrize(
    ("text", "reaches"),
    [
        ("x.to(GPU)\n", True),
        ("f(device=GPU)\n", True),
        ("torch.device(GPU)\n", True),
        ("torch.load(p, map_location=GPU)\n", True),
        ("x.to(GPU.index)\n", False),
        ("f(GPU)\n", False),
        ("x.to(OTHER)\n", False),
    ],
)
def test_names_that_become_devices(text: str, reaches: bool) -> None:
    assert reaches_device(read(text), "GPU") is reaches


def test_values_of_a_name_and_of_an_attribute() -> None:
    document = read("on = 1\nself.on = two()\nturn_on = 3\nf(on=4)\n")
    assert [value.text for value in values_of(document, "on")] == [b"1", b"two()"]


def test_a_name_that_is_set_without_end_is_followed_a_dozen_times() -> None:
    assert len(values_of(read("on = 1\n" * 500), "on")) == 12
