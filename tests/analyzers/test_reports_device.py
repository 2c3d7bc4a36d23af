"""Problems that people had with devices, dtypes and training loops on their Macs."""

import pytest

from project.vocabulary import Layer
from tests.analyzers.reported import Problem, Told, check, findings

B, D, C = "blocks", "degrades", "cosmetic"

PROBLEMS = (
    Problem(
        "a module that moves itself",
        """\
        import torch.nn as nn
        class Head(nn.Module):
            def __init__(self):
                self.out = nn.Linear(8, 2).cuda()
                self.act = nn.GELU().cuda()
            def forward(self, x):
                return self.out(x.cuda())
        """,
        (
            Told("D103", 4, B, ("not compiled with CUDA",), ("caller",)),
            Told("D103", 5, C, ("nothing to move", "nothing fails")),
            Told("D103", 7, B, ("not compiled with CUDA",)),
        ),
    ),
    Problem(
        "a default parameter that callers do not pass",
        """\
        def scorer(task, device="cuda:0"):
            return build(task).to(device)
        judge = scorer("fluency")
        """,
        (Told("D106", 1, B, ("passes nothing", "signature", "stay accepted")),),
    ),
    Problem(
        "a second card as scratch space",
        'result = refine(latent, steps=4, device="cuda:1")\n',
        (Told("D105", 1, B, ("number 1", "exactly one MPS device", "other card")),),
    ),
    Problem(
        "a device that is set and then lost",
        """\
        def load(path, device):
            options = {"encoder": {}}
            options["encoder"]["device"] = device
            options = yaml.safe_load(open(path))
            return Encoder(**options["encoder"])
        """,
        (Told("D135", 3, B, ("never arrives", "assigned anew", "takes mps")),),
    ),
    Problem(
        "a type of setting without MPS",
        """\
        class Options(BaseModel):
            device: Literal["auto", "cpu", "cuda"] = "auto"
        """,
        (Told("D106", 2, D, ("not MPS",)),),
    ),
    Problem(
        "an option that never means MPS, and what it decides",
        """\
        import torch
        cli.add_argument("--device", default="cuda:0" if torch.cuda.is_available() else "cpu")
        kind = "cuda" if "cuda" in options.device else "cpu"
        half = torch.cuda.amp.autocast(dtype=torch.bfloat16)
        """,
        (
            Told("D101", 2, D, ("never used",), ("then for MPS",)),
            Told("D101", 3, D, ("MPS included", "autocast", "slower")),
            Told("D109", 4, D, ("full precision",), ("deprecated", "2.5", "2.6")),
        ),
    ),
    Problem(
        "a choice that leaves the Mac on its processor",
        """\
        import torch
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if device.type == "cpu":
            torch.set_num_threads(1)
        """,
        (Told("D101", 2, D, ("the Apple GPU is never used",), ("threads", "CUDA first")),),
    ),
    Problem(
        "a parser of device names",
        """\
        import torch
        def parse(name):
            if "cuda" in name:
                index = int(name.split(":")[-1])
                if index > torch.cuda.device_count():
                    raise ValueError(name)
                return torch.device(name)
            return torch.device("cpu")
        """,
        (
            Told("D111", 3, D, ("without a word", "MPS", "plain cuda raises", "torch.device")),
            Told("D107", 5, C, ("equals the count", ">=")),
        ),
    ),
    Problem(
        "a rank that becomes a device",
        """\
        import os, torch
        rank = int(os.environ.get("LOCAL_RANK", 0))
        torch.cuda.set_device(rank)
        """,
        (Told("D107", 3, B, ("AttributeError", "_cuda_setDevice", "torch.mps has no set_device")),),
    ),
    Problem(
        "an assertion at the start",
        """\
        import torch
        def start():
            assert torch.cuda.is_available(), "a GPU is needed"
            torch.manual_seed(7)
            torch.cuda.manual_seed(7)
        """,
        (
            Told("D108", 3, B, ("without CUDA",)),
            Told("D107", 5, C, ("Harmless", "torch.manual_seed seeds MPS")),
        ),
    ),
    Problem(
        "memory that stays with the driver",
        "import torch\ndef unload():\n    torch.cuda.empty_cache()\n",
        (Told("D107", 3, D, ("neither fails nor does anything", "torch.mps.empty_cache()")),),
    ),
    Problem(
        "a number that is wrong and no error",
        "import torch\nused = torch.cuda.memory_allocated()\n",
        (Told("D107", 2, D, ("answers 0", "current_allocated_memory")),),
    ),
    Problem(
        "events and streams",
        "import torch\ndone = torch.cuda.Event()\nside = torch.cuda.Stream()\n",
        (
            Told("D107", 2, B, ("dummy base class Event", "torch.mps.Event", "elapsed_time")),
            Told("D107", 3, B, ("requires CUDA support", "torch.mps has no Stream")),
        ),
    ),
    Problem(
        "general code that asks for names and peaks",
        """\
        import torch
        module = torch.get_device_module()
        print(module.get_device_name(0))
        print(module.max_memory_allocated(0))
        """,
        (
            Told("D136", 3, B, ("no get_device_name", "AttributeError")),
            Told("D136", 4, B, ("no max_memory_allocated", "not a peak")),
        ),
    ),
    Problem(
        "a captured graph",
        """\
        import torch
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = net(x)
        """,
        (
            Told("D107", 2, B, ("no graph on MPS", "keep this for CUDA", "the model itself")),
            Told("D107", 3, B, ("no graph on MPS",)),
        ),
    ),
    Problem(
        "an array of float64",
        'import numpy as np, torch\nx = torch.tensor(np.ones(3, dtype=np.float64)).to("mps")\n',
        (Told("D120", 2, B, ("no float64", "before the move", "leave the CUDA path")),),
    ),
    Problem(
        "a table of positions in float64",
        """\
        import torch
        def angles(x):
            return torch.arange(8, dtype=torch.float64, device=x.device)
        """,
        (Told("D120", 3, B, ("no float64", "on the CPU"), ("move the float32 result",)),),
    ),
    Problem(
        "bfloat16 on an old system",
        'import torch\nnet = build().to(torch.bfloat16).to("mps")\n',
        (Told("D121", 2, B, ("PyTorch 2.3", "macOS 14", "Apple silicon", "float16")),),
        torch="2.2",
    ),
    Problem(
        "a scaler that computes in float64 by itself",
        'import torch\nscaler = torch.amp.GradScaler("mps")\n',
        (Told("D122", 2, B, ("float64 by itself", "2.8"), ("together",)),),
        torch="2.7",
    ),
    Problem(
        "a part that is kept in full precision on CUDA alone",
        """\
        import torch
        class Rotary(torch.nn.Module):
            @torch.autocast("cuda", enabled=False)
            def forward(self, t):
                return torch.outer(t.float(), self.freq)
        """,
        (Told("D123", 3, D, ("half precision on a Mac", "without a warning", "both together")),),
    ),
    Problem(
        "fp16 as a setting of a trainer",
        'from transformers import TrainingArguments\na = TrainingArguments("out", fp16=True)\n',
        (Told("D141", 2, B, ("ValueError", "2025", "2.8")),),
        torch="2.4",
    ),
    Problem(
        "mixed precision that switches itself off",
        "import torch\nscaler = torch.cuda.amp.GradScaler(enabled=True)\n",
        (Told("D109", 2, D, ("switches itself off", "proves nothing", "dtype")),),
    ),
    Problem(
        "a map_location that is no shelter",
        'import torch\nstate = torch.load("a.pt", map_location=torch.device("cuda"))\n',
        (Told("D102", 2, B, ("map_location", "as bad", "CPU")),),
    ),
    Problem(
        "a script that is loaded to MPS",
        'import torch\nm = torch.jit.load("a.ts", map_location=torch.device("mps"))\n',
        (Told("D133", 2, B, ("torch.jit.load", "2.1", "CPU and then moving")),),
        torch="2.0",
    ),
    Problem(
        "a checkpoint that travels both ways",
        """\
        import torch
        state = torch.load("checkpoint.pt")
        net.load_state_dict(state, map_location="cuda")
        net.to(device)
        """,
        (
            Told("D133", 2, D, ("saved on CUDA", "nor one from a Mac", 'map_location="cpu"')),
            Told("D133", 3, B, ("TypeError", "belongs to torch.load")),
        ),
    ),
    Problem(
        "kernels that are young",
        'import torch\nx = torch.randn(16, 32, 8, device="mps")\nu, s, v = torch.linalg.svd(x)\n',
        (Told("D145", 3, D, ("2.14", "inaccurate", "residual", "CPU")),),
    ),
    Problem(
        "a fallback that is set too late",
        'import torch, os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"\n',
        (Told("D126", 2, B, ("Too late", "once", "first import"), ("to 1 and no word",)),),
    ),
    Problem(
        "a fallback that is set to a word",
        'import os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "true"\n',
        (Told("D126", 2, B, ("whole number", "stops the program")),),
    ),
    Problem(
        "half precision that was safe on CUDA only",
        """\
        import torch
        device = "cuda" if torch.cuda.is_available() else "cpu"
        half = True
        net = build().to(device)
        if half: net = net.half()
        """,
        (
            Told("D101", 2, D, ("never used",)),
            Told("D138", 5, B, ("whatever the device", "2.3", "together with the device")),
        ),
        torch="2.1",
    ),
    Problem(
        "an optimizer that changes nothing",
        """\
        import torch
        lin = torch.nn.Linear(6, 4)
        lin.weight = torch.nn.Parameter(torch.randn(6, 4).t())
        lin.to("mps")
        """,
        (Told("D145", 3, D, ("leaves such a parameter", "contiguous"), ("CPU",)),),
        torch="2.3",
    ),
    Problem(
        "attention that sees the future",
        """\
        import torch
        import torch.nn.functional as F
        q = torch.randn(1, 4, 64, 64, device="mps", dtype=torch.float16)
        y = F.scaled_dot_product_attention(q, q, q, is_causal=True)
        """,
        (Told("D145", 4, D, ("is_causal", "future key", "explicit mask")),),
    ),
    Problem(
        "dropout between layers of an LSTM",
        'import torch\nr = torch.nn.LSTM(8, 8, num_layers=2, dropout=0.3).to("mps")\n',
        (Told("D145", 2, D, ("dropout", "gradients", "one layer", "renames the weights")),),
    ),
    Problem(
        "rows without a key",
        """\
        import torch
        import torch.nn.functional as F
        q = torch.randn(1, 1, 2, 4, device="mps")
        y = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
        """,
        (Told("D145", 4, D, ("NaN", "Compare rows that have a key")),),
    ),
    Problem(
        "pinning whatever the device is",
        """\
        def batch(x, device):
            if device != "cpu":
                x = x.pin_memory().to(device, non_blocking=True)
            return x
        """,
        (Told("D124", 3, B, ("1.13", "non_blocking", "to CUDA")),),
    ),
    Problem(
        "a loader that pins",
        "from torch.utils.data import DataLoader\nd = DataLoader(data, pin_memory=True)\n",
        (Told("D124", 2, C, ("ignores", "2.7")),),
    ),
    Problem(
        "a pinned tensor that is not where it says",
        'import torch\nbuffer = torch.empty(1024, device="cpu", pin_memory=True)\n',
        (Told("D124", 2, B, ("mps:0", ".numpy()", "CUDA alone")),),
    ),
    Problem(
        "workers that macOS starts anew",
        """\
        from torch.utils.data import DataLoader
        data.label = lambda: 1
        loader = DataLoader(data, num_workers=8)
        """,
        (Told("D139", 3, B, ("pickled", "lambda")),),
        path="notebook.py",
    ),
    Problem(
        "a default device under a sampler",
        """\
        import torch
        from torch.utils.data import DataLoader
        torch.set_default_device("mps")
        loader = DataLoader(data, shuffle=True)
        """,
        (Told("D134", 3, B, ("generator on the CPU", "first batch raises"), ("device=",)),),
    ),
    Problem(
        "the same seed, other numbers",
        "import torch\ntorch.manual_seed(11)\nz = torch.randn(1, 4, device=device)\n",
        (Told("D144", 3, C, ("No fault", "same seed", "draw on the CPU and move"), ("option",)),),
    ),
    Problem(
        "three obstacles behind one another",
        """\
        import os, torch, torch.distributed as dist
        dist.init_process_group("nccl")
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
        """,
        (
            Told("D117", 2, B, ("without NCCL", "no process group", "gloo carries")),
            Told("D107", 3, B, ("AttributeError",)),
            Told("D113", 4, B, ("raises an error",)),
        ),
    ),
    Problem(
        "a strategy that Lightning refuses",
        'import lightning as L\nt = L.Trainer(accelerator="auto", strategy="ddp")\n',
        (Told("D140", 2, B, ("refuses this strategy", "accelerator can stay")),),
    ),
    Problem(
        "compiling for MPS before it was there",
        'import torch\nnet = torch.compile(Net().to("mps"))\n',
        (Told("D132", 2, B, ("2.7", "2.8", "a text about CUDA")),),
        torch="2.4",
    ),
    Problem(
        "a mode of the compiler for CUDA",
        'import torch\nnet = torch.compile(Net().to("mps"), mode="max-autotune")\n',
        (Told("D132", 2, D, ("young", "leave the model uncompiled")),),
    ),
    Problem(
        "memory that is counted twice",
        """\
        from transformers import AutoModel
        m = AutoModel.from_pretrained("o/m", device_map="auto", max_memory={0: "9GB", "cpu": "9GB"})
        """,
        (Told("D142", 2, D, ('"mps"', "shares that memory", "disk")),),
    ),
)


@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_people_are_told(problem: Problem) -> None:
    check(problem, Layer.DEVICE)


def test_one_region_is_one_finding() -> None:
    text = 'import torch\nwith torch.autocast("cuda", enabled=False):\n    pass\n'
    assert [one.rule for one in findings("a.py", text)] == ["D123"]


def test_one_clause_is_one_finding() -> None:
    text = "import torch\ntry:\n    f()\nexcept torch.cuda.OutOfMemoryError:\n    g()\n"
    assert [(one.rule, one.line) for one in findings("a.py", text)] == [("D127", 4)]


@pytest.mark.parametrize(
    "text",
    [
        'import torch\nstate = torch.load("a.pt", map_location={"cuda:0": "cpu"})\n',
        "import torch\nstate = torch.load(path, map_location=device)\nnet.to(device)\n",
        "import torch\nm = torch.jit.load('a.ts', map_location='cpu')\n",
        "import lightning as L\nt = L.Trainer(accelerator='gpu', devices=1)\n",
        "import torch\nwith torch.autocast(x.device.type, enabled=False):\n    pass\n",
        "import torch\ng = torch.Generator(device='cpu').manual_seed(0)\n",
        "import torch\nx = torch.randn(1, device='cpu')\n",
        "import torch\nnet = net.to(device).half().cpu()\n",
        "import os\nos.environ['PYTORCH_ENABLE_MPS_FALLBACK'] = '0'\nimport torch\n",
        "import torch\nif device.type == 'mps':\n    torch.mps.empty_cache()\n",
        "import torch\nmodule = torch.get_device_module()\nmodule.synchronize()\n",
        "def load(options, device):\n    options['device'] = device\n    return build(options)\n",
        "import torch\nx = torch.zeros(3, dtype=torch.float64)\n",
        "import torch\nlin.weight = torch.nn.Parameter(torch.randn(6, 4).t().contiguous())\n",
        "import torch\nr = torch.nn.LSTM(8, 8, num_layers=1, dropout=0.0).to('mps')\n",
        "from torch.utils.data import DataLoader\nd = DataLoader(data, pin_memory=False)\n",
        "import torch\nnet = torch.compile(net)\n",
        "import torch\ndevice = torch.accelerator.current_accelerator()\n",
    ],
)
def test_what_only_looks_like_it_is_left_alone(text: str) -> None:
    assert findings("train.py", text) == []
