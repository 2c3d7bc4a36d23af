"""What a device string is for, at the place where it stands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analyzers.devices import Role, calls_of, device_strings, is_device_name, label_of
from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument


def read(text: str) -> PythonDocument:
    return PythonDocument(Source.of("a.py", text.encode()))


@pytest.mark.parametrize(
    ("text", "role", "index"),
    [
        ("x.to('cuda')", Role.TO, None),
        ("x.to(f'cuda:{rank}')", Role.TO, -1),
        ("x.to('cuda:' + str(i))", Role.TO, -1),
        ("x.to('cuda:%d' % i)", Role.TO, -1),
        ("x.to('cuda:{}'.format(i))", Role.TO, -1),
        ("torch.device('cuda', 1)", Role.CONSTRUCTOR, 1),
        ("torch.device('cuda', index=0)", Role.CONSTRUCTOR, 0),
        ("torch.device('cuda:3')", Role.CONSTRUCTOR, 3),
        ("x.device == torch.device('cuda')", Role.COMPARISON, None),
        ("name.replace('cuda:', '')", Role.COMPARISON, -1),
        ("f(device='cuda:0')", Role.KEYWORD, 0),
        ("f('cuda')", Role.ARGUMENT, None),
        ("def f(d='cuda'): pass", Role.DEFAULT, None),
        ("def f(d: str = 'cuda'): pass", Role.DEFAULT, None),
        ("d = 'cuda'", Role.ASSIGNMENT, None),
        ("d = d or 'cuda'", Role.ASSIGNMENT, None),
        ("f = lambda: 'cuda'", Role.ASSIGNMENT, None),
        ("os.environ.get('DEVICE', 'cuda')", Role.ASSIGNMENT, None),
        ("getattr(args, 'device', 'cuda')", Role.ASSIGNMENT, None),
        ("s = {'device': 'cuda'}", Role.ASSIGNMENT, None),
        ("d = 'cuda' if a else 'cpu'", Role.CHOICE, None),
        ("for d in ['cpu', 'cuda']: pass", Role.COLLECTION, None),
        ("def f(d: Literal['cpu', 'cuda']): pass", Role.COLLECTION, None),
        ("T = Literal['cpu', 'cuda']", Role.COLLECTION, None),
        ("if 'cuda' in d: pass", Role.COMPARISON, None),
        ("match d:\n    case 'cuda': pass", Role.COMPARISON, None),
        ("torch.autocast('cuda')", Role.AUTOCAST, None),
        ("print('cuda')", Role.TEXT, None),
        ("d = sizes['cuda']", Role.TEXT, None),
        ("os.environ.get('cuda')", Role.TEXT, None),
        ("torch.load(p, map_location={'cuda:0': 'cpu'})", Role.TEXT, 0),
    ],
)
def test_role_and_number(text: str, role: Role, index: int | None) -> None:
    [found] = device_strings(read(text))
    assert (found.role, found.index) == (role, index)


@pytest.mark.parametrize(
    "text",
    [
        '"cuda"\n',
        "def f():\n    'cuda'\n",
        "x = 'cuda toolkit'",
        "x = 'cudart'",
        "# x.to('cuda')",
        "x = 'say \"cuda\" aloud'",
        "x = 'cuda:'",
    ],
)
def test_what_is_no_device(text: str) -> None:
    assert device_strings(read(text)) == ()


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("p.add_argument('--device', default='cuda')", "'--device'"),
        ("getattr(args, 'device', 'cuda')", "'device'"),
        ("class A:\n    device: str = Field(default='cuda')", "device"),
        ("register('gemm', 'cuda')", ""),
        ("self.dev = 'cuda'", "self.dev"),
    ],
)
def test_what_a_value_is_called(text: str, label: str) -> None:
    document = read(text)
    [found] = device_strings(document)
    assert label_of(document, found) == label


def test_a_name_is_a_device_by_its_use() -> None:
    assert is_device_name(read("GPU = 'cuda'\nx.to(GPU)\n"), "GPU")
    assert not is_device_name(read("GPU = 'cuda'\nprint(GPU)\n"), "GPU")


def test_modules_with_a_cuda_of_their_own_are_no_receivers() -> None:
    text = "import cupy as cp\nfrom numba import cuda\ncp.cuda(1)\ncuda.cuda()\nx.cuda()\n"
    [(call, _receiver, _name)] = calls_of(read(text), "cuda")
    assert call.text == b"x.cuda()"


@given(st.text(alphabet="cuda:'\"{}%()[]=,.\n x1torchdevi\\", max_size=60))
def test_any_text_is_read(text: str) -> None:
    document = read(text)
    for found in device_strings(document):
        assert b"cuda" in (found.node.text or b"")
        label_of(document, found)
