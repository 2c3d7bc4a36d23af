"""The judge of the replay: which lines name CUDA, by Python's own tokenizer."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPT = Path(__file__).resolve().parent.parent / "benchmarks" / "replay_ports.py"


@pytest.fixture(scope="module")
def replay_ports() -> ModuleType:
    spec = importlib.util.spec_from_file_location("replay_ports", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["replay_ports"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "line",
    [
        "x.cuda()",
        "torch.cuda.synchronize()",
        "from torch import nn, cuda",
        "from polygraphy import cuda",
        "torch.backends.cuda.matmul.allow_tf32 = True",
        "import torch.backends.cudnn as cudnn",
        "device = 'cuda:0'",
        "device = f'cuda:{rank}'",
        "if args.cuda:",
        "use_cuda = 1",
        "p.add_argument('--no-cuda')",
        "dist.init_process_group('nccl')",
        "os.environ['CUDA_VISIBLE_DEVICES'] = '0'",
        "x.type('torch.cuda.FloatTensor')",
        "print 'python 2'; x.cuda()",
    ],
)
def test_lines_that_name_cuda(replay_ports: ModuleType, line: str) -> None:
    body = line + ("\n    pass" if line.endswith(":") else "")
    assert replay_ports.judge(f"a = 1\n{body}\n").naming == {2}


@pytest.mark.parametrize(
    "line",
    [
        "# x.cuda()",
        "x = 1  # on cuda",
        "'''x.cuda()'''",
        "print('move it to cuda')",
        "def build_cuda_model(): pass",
        "from ops import cuda_kernels",
        "from .cuda._wrapper import project",
        "barracuda = 1",
    ],
)
def test_lines_that_do_not(replay_ports: ModuleType, line: str) -> None:
    assert replay_ports.judge(f"a = 1\n{line}\n").naming == set()


def test_what_cannot_be_tokenized_is_judged_by_its_lines(replay_ports: ModuleType) -> None:
    assert replay_ports.judge("x = (1\ny.cuda()\n# z.cuda()\n").naming == {2}


def test_a_text_of_several_lines_is_code_where_it_is_a_value(replay_ports: ModuleType) -> None:
    docstring = 'def f():\n    """First.\n\n    __global__ void f()\n    """\n'
    assert replay_ports.judge(docstring).code == {1}
    kernel = 'source = """\n__global__ void f()\n"""\n'
    assert replay_ports.judge(kernel).code == {1, 2, 3}


def test_a_port_is_replayed(replay_ports: ModuleType, tmp_path: Path) -> None:
    clone = tmp_path / "owner+name"
    clone.mkdir()

    def git(*arguments: str) -> str:
        names = ["-c", "user.name=a", "-c", "user.email=a@example.invalid"]
        done = subprocess.run(
            ["git", "-C", str(clone), *names, *arguments], check=True, capture_output=True
        )
        return done.stdout.decode().strip()

    git("init", "-q")
    (clone / "a.py").write_text('"""Uses cuda."""\nx = x.cuda()\nflag = 1\ny = odd["cuda"]\n')
    git("add", "a.py")
    git("commit", "-qm", "one")
    parent = git("rev-parse", "HEAD")
    (clone / "a.py").write_text('"""Uses mps."""\nx = x.to(device)\nflag = 2\ny = odd["mps"]\n')
    git("commit", "-qam", "two")
    port = {"repo": "owner/name", "parent": parent, "commit": git("rev-parse", "HEAD")}
    result = replay_ports.replay(tmp_path, port)
    assert (result.lines, result.missed, result.stray) == (2, ['a.py:4: y = odd["cuda"]'], [])
    listing = tmp_path / "list.json"
    listing.write_text(json.dumps([port, {**port, "repo": "owner/other"}]))
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), str(listing)], capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "| owner/other |" in done.stdout
    assert "no clone" in done.stdout
    assert "1 (50.0 %)" in done.stdout
