"""Which code runs only where CUDA is, and which is a step of a choice that knows MPS."""

import pytest

from analyzers.devices import calls_of
from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, sense, standing


def standing_of_cuda_call(text: str) -> Standing:
    """The standing of the one ``.cuda()`` call of a program."""
    document = PythonDocument(Source.of("a.py", text.encode()))
    [(call, _receiver, _name)] = calls_of(document, "cuda")
    return standing(document, call)


@pytest.mark.parametrize(
    "text",
    [
        "if torch.cuda.is_available():\n    x.cuda()\n",
        "if ready and torch.cuda.is_available():\n    x.cuda()\n",
        "if hasattr(t, 'cuda') and t.cuda.is_available():\n    x.cuda()\n",
        "if device.type == 'cuda':\n    x.cuda()\n",
        "if 'cuda' in name:\n    x.cuda()\n",
        "if dist.get_backend() == 'nccl':\n    x.cuda()\n",
        "if torch.cuda.device_count() > 1:\n    x.cuda()\n",
        "if not torch.cuda.is_available():\n    pass\nelse:\n    x.cuda()\n",
        "if device != 'cuda':\n    pass\nelse:\n    x.cuda()\n",
        "y = x.cuda() if torch.cuda.is_available() else x\n",
        "y = x if not torch.cuda.is_available() else x.cuda()\n",
        "torch.cuda.is_available() and x.cuda()\n",
        "def f(x):\n    if not torch.cuda.is_available():\n        return x\n    return x.cuda()\n",
        "gpu = torch.cuda.is_available()\nif gpu:\n    x.cuda()\n",
        "args.cuda = args.cuda and torch.cuda.is_available()\nif args.cuda:\n    x.cuda()\n",
        "slow = not torch.cuda.is_available()\nif not slow:\n    x.cuda()\n",
        "def f(x, use_cuda=False):\n    if use_cuda:\n        x.cuda()\n",
    ],
)
def test_what_runs_only_with_cuda(text: str) -> None:
    assert standing_of_cuda_call(text) is Standing.GUARDED


@pytest.mark.parametrize(
    "text",
    [
        "def f(x):\n    if not torch.cuda.is_available():\n        pytest.skip('')\n    x.cuda()\n",
        "def f(x):\n    if not is_cuda_available():\n        self.skipTest('')\n    x.cuda()\n",
        "@pytest.mark.skipif(not torch.cuda.is_available(), reason='')\ndef f():\n    x.cuda()\n",
        "@unittest.skipUnless(torch.cuda.is_available(), 'x')\nclass A:\n    y = x.cuda()\n",
        "@require_torch_gpu\ndef f():\n    x.cuda()\n",
        "@skip_if_no_cuda\nclass A:\n    y = x.cuda()\n",
        "@skipUnlessCUDA\ndef f():\n    x.cuda()\n",
        "@RunIf(min_cuda_gpus=2, standalone=True)\ndef f():\n    x.cuda()\n",
        "pytestmark = [pytest.mark.skipif(not torch.cuda.is_available(), reason='')]\nx.cuda()\n",
        "@p('y', [pytest.param(x.cuda(), marks=RunIf(min_cuda_gpus=1))])\ndef f(y):\n    pass\n",
    ],
)
def test_what_is_skipped_without_cuda(text: str) -> None:
    assert standing_of_cuda_call(text) is Standing.SKIPPED


@pytest.mark.parametrize(
    "text",
    [
        "@RunIf(min_cuda_gpus=0, linux=True)\ndef f():\n    x.cuda()\n",
        "@RunIf(min_torch='2.0')\ndef f():\n    x.cuda()\n",
        "pytestmark = pytest.mark.slow\nx.cuda()\n",
        "@skip_if_cuda\ndef f():\n    x.cuda()\n",
        "cuda = device.type != 'cpu'\nif cuda:\n    x.cuda()\n",
        "@p('y', [pytest.param(x.cuda(), marks=pytest.mark.slow)])\ndef f(y):\n    pass\n",
    ],
)
def test_what_is_not_skipped(text: str) -> None:
    assert standing_of_cuda_call(text) is Standing.BARE


@pytest.mark.parametrize(
    "text",
    [
        "x.cuda()\n",
        "if not torch.cuda.is_available():\n    x.cuda()\n",
        "if torch.cuda.is_available():\n    pass\nelse:\n    x.cuda()\n",
        "if torch.cuda.is_available() or force:\n    x.cuda()\n",
        "if device != 'cpu':\n    x.cuda()\n",
        "if device.type in ('cuda', 'xpu'):\n    x.cuda()\n",
        "if not args.no_cuda:\n    x.cuda()\n",
        "def f(x, use_cuda=True):\n    if use_cuda:\n        x.cuda()\n",
        "p.add_argument('--use-cuda', default=True)\nif args.use_cuda:\n    x.cuda()\n",
        "def f(x):\n    if not torch.cuda.is_available():\n        raise Odd\n    x.cuda()\n",
        "assert torch.cuda.is_available()\nx.cuda()\n",
        "if hasattr(torch, 'cuda'):\n    x.cuda()\n",
        "on = torch.cuda.is_available()\non = ask()\nif on:\n    x.cuda()\n",
        "# if torch.cuda.is_available():\nx.cuda()\n",
        "if train:\n    x.cuda()\n    kind = 'mps'\n",
    ],
)
def test_what_runs_without_cuda_too(text: str) -> None:
    assert standing_of_cuda_call(text) is Standing.BARE


@pytest.mark.parametrize(
    "text",
    [
        "if use_cuda:\n    x.cuda()\nelif torch.backends.mps.is_available():\n    y\n",
        "if use_mps:\n    x.to('mps')\nelse:\n    x.cuda()\n",
        "def f(x):\n    if cuda:\n        return x.cuda()\n    if mps:\n        return x\n",
        "y = x.to('mps') if mps else x.cuda()\n",
        "if torch.accelerator.is_available():\n    y\nelse:\n    x.cuda()\n",
    ],
)
def test_what_has_a_branch_for_mps_beside_it(text: str) -> None:
    assert standing_of_cuda_call(text) is Standing.HANDLED


def test_a_message_about_mps_handles_nothing() -> None:
    text = "if a:\n    print('no mps here, sorry')\n    x.cuda()\n"
    assert standing_of_cuda_call(text) is Standing.BARE


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("torch.cuda.is_available()", 1),
        ("not torch.cuda.is_available()", -1),
        ("not (torch.cuda.is_available() and a)", -1),
        ("not (torch.cuda.is_available() or a)", 0),
        ("a or torch.cuda.is_available()", 0),
        ("not a or not torch.cuda.is_available()", -1),
        ("torch.cuda.device_count() == 0", -1),
        ("torch.version.cuda is not None", 1),
        ("x.is_cuda", 1),
        ("device not in ('cuda',)", -1),
        ("device == torch.device('cuda')", 1),
        ("is_torch_cuda_available()", 1),
        ("name.startswith('cuda')", 1),
        ("a", 0),
    ],
)
def test_what_a_condition_says_of_cuda(condition: str, expected: int) -> None:
    document = PythonDocument(Source.of("a.py", f"if {condition}:\n    pass\n".encode()))
    test = document.root.children[0].child_by_field_name("condition")
    assert test is not None
    assert sense(document, test) == expected


def test_deep_conditions_end() -> None:
    text = "if " + "not (" * 60 + "use_cuda" + ")" * 60 + ":\n    x.cuda()\n"
    assert standing_of_cuda_call(text) is Standing.BARE
