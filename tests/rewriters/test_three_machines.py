"""What a rewritten program chooses on three machines: CUDA as before, MPS alone, neither."""

import builtins
import textwrap
from typing import Any

import pytest

from analyzers.examine import examine
from analyzers.registry import rules
from rewriters.combine import combine
from rewriters.propose import Style, propose, rewrites
from tests.rewriters.stand_in import Torch

#: For each rule that has a rewrite, a program whose every choice is written down.
PROGRAMS = {
    "D101": """
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if torch.cuda.is_available():
            where = "cuda:0"
        else:
            where = "cpu"
        torch.zeros(3, device=device)
        torch.zeros(3, device=where)
        """,
    "D102": """
        import torch
        def build():
            device = torch.device("cuda")
            return torch.zeros(3, device=device)
        build().to(torch.device("cuda"))
        """,
    "D103": """
        import torch
        model = torch.nn.Linear(2, 2)
        model.cuda()
        x = torch.zeros(3).cuda(non_blocking=True)
        y = torch.zeros(3).cuda(0)
        """,
    "D104": """
        import torch
        x = torch.zeros(3).to("cuda")
        y = torch.zeros(3).to("cuda:0", non_blocking=True)
        """,
    "D105": """
        import torch
        x = torch.zeros(3, device="cuda")
        weights = torch.load("weights.pt", map_location="cuda:0")
        noise = torch.Generator("cuda")
        """,
    "D106": """
        import torch
        device = "cuda"
        def make(where="cuda"):
            return torch.zeros(3, device=where)
        make().to(device)
        """,
    "D107": """
        import torch
        torch.manual_seed(1)
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        """,
    "D109": """
        import torch
        from torch.cuda.amp import autocast
        scaler = torch.cuda.amp.GradScaler()
        with autocast(True):
            pass
        with torch.autocast("cuda", dtype=torch.float16):
            pass
        """,
    "D123": """
        import torch
        @torch.autocast("cuda", enabled=False)
        def precise():
            with torch.cuda.amp.autocast(enabled=False):
                pass
        precise()
        """,
}
#: What may be written down beside a device: nothing is chosen by it.
ASIDE = {"seed"}


def rewritten(text: str) -> str:
    data = text.encode()
    findings = examine("program.py", data, rules()).findings
    return combine(data, propose("program.py", data, findings, Style())).decode()


def choices(text: str, kind: str) -> list[tuple[str, str]]:
    """What a program chooses on a machine; an error is one that the machine would give."""
    torch = Torch(kind)
    modules = {"torch": torch, "torch.cuda": torch.cuda, "torch.cuda.amp": torch.cuda.amp}

    def load(name: str, *_scope: Any) -> Any:
        return modules[name] if _scope[2] else modules[name.partition(".")[0]]

    exec(
        compile(text, "program.py", "exec"),
        {"__builtins__": {**vars(builtins), "__import__": load}, "__name__": "program"},
    )
    return torch.log


@pytest.mark.parametrize("code", sorted(PROGRAMS))
def test_the_same_with_cuda_then_mps_then_the_cpu(code: str) -> None:
    before = textwrap.dedent(PROGRAMS[code])
    after = rewritten(before)
    assert after != before
    assert choices(before, "cuda") == choices(after, "cuda") != []
    for kind in ("mps", "cpu"):
        made = choices(after, kind)
        wanted = {kind, "off"} if code in ("D109", "D123") else {kind}
        assert {device for what, device in made if what not in ASIDE} <= wanted
        if kind == "mps" and code == "D109":
            assert {("autocast", "mps"), ("scaler", "mps")} <= set(made)


def test_every_rewrite_has_a_program() -> None:
    assert set(PROGRAMS) == set(rewrites())
