"""What programs ask of PyTorch and of training libraries, by what it means on a Mac."""

import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.examine import examine
from analyzers.operators import INTERPOLATION, METHODS, OPERATORS
from analyzers.registry import rule
from project.vocabulary import Finding

NAMES = (
    *("float64-tensor", "mps-dtype", "mps-amp", "full-precision-region", "pinned-memory"),
    *("non-blocking-copy", "mps-setting", "cuda-out-of-memory", "gpu-memory-size", "multi-gpu"),
    *("process-per-gpu", "profiler-activity", "compile-mode", "checkpoint-device"),
    *("default-device-sampler", "missing-mps-function", "mps-index", "half-precision-choice"),
    *("worker-start", "lightning-trainer", "trainer-arguments", "device-map"),
    *("attention-implementation", "mps-accuracy", "nvidia-tool-call", "bitsandbytes-config"),
    *("mps-availability-check", "operator-on-mps", "operator-on-cpu"),
)
RULES = [one for one in map(rule, NAMES) if one is not None]


def release(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


def found(source: str, torch: str = "2.14", path: str = "train.py") -> list[Finding]:
    """The findings that hold in this PyTorch."""
    report = examine(path, textwrap.dedent(source).encode(), RULES)
    return [
        one
        for one in report.findings
        if (one.since is None or release(torch) >= release(one.since))
        and (one.until is None or release(torch) < release(one.until))
    ]


def shown(source: str, torch: str = "2.14") -> list[tuple[str, str, str]]:
    return [(one.rule, str(one.severity), one.text) for one in found(source, torch)]


def test_every_rule_of_this_file_is_registered() -> None:
    assert len(RULES) == len(NAMES)


# -- types -------------------------------------------------------------------------------------


def test_float64_from_numpy_is_found_where_the_tensor_is_made() -> None:
    source = """\
        import numpy as np, torch
        volume = np.load("scan.npy").astype(np.float64)
        x = torch.tensor(volume).to("mps")
        """
    assert shown(source) == [("D120", "blocks", "torch.tensor(volume)")]
    assert "before the move" in found(source)[0].message
    assert "leave the CUDA path" in found(source)[0].message


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np, torch\nv = np.ones(3).astype(np.float64)\nx = torch.tensor(v)\n",
        "import numpy as np, torch\nv = a.astype(np.float64)\nv = v.astype('f4')\n"
        "x = torch.tensor(v).cuda()\n",
        "import numpy as np, torch\nx = torch.tensor(a.astype(np.float64).astype('f4')).cuda()\n",
        "import torch\nx = torch.tensor(v, dtype=torch.float32).to('mps')\n",
        "import torch\nx = torch.zeros(2, dtype=torch.float64, device=cpu_device)\n",
        "import torch\nx = x.to(dtype=torch.float64, device=cpu_device)\n",
        "import torch\nx = x.to(device)\nx = x.cpu().double()\n",
        "import torch\nx = x.to(device)\nloss = x.mean().item()\ny = torch.tensor(loss).double()\n",
        "import torch\ndtype = torch.float32 if device.type == 'mps' else torch.float64\n",
        "import torch\neps = torch.finfo(torch.float64).eps\nx.to(device)\n",
    ],
)
def test_float64_that_reaches_no_device_is_left_alone(source: str) -> None:
    assert shown(source) == []


def test_float64_of_a_model_and_in_a_forward_is_found() -> None:
    source = """\
        import torch
        net = Net().double()
        net.to(device)
        class Head(torch.nn.Module):
            def forward(self, x):
                return x.double().mean()
        """
    assert [text for _rule, _severity, text in shown(source)] == ["Net().double()", "x.double()"]


def test_a_table_that_mps_gets_from_the_cpu_is_left_alone() -> None:
    source = """\
        import torch
        def table(p):
            q = p.to("cpu", torch.float64) if p.device.type == "mps" else p.double()
            scale = torch.arange(0, 8, 2, dtype=torch.float64, device=q.device)
            return (q / scale).float().to(p.device)
        """
    assert shown(source) == []


def test_bfloat16_by_name_to_mps_is_found_until_every_macos_has_it() -> None:
    source = "import torch\nnet = Net().to('mps', torch.bfloat16)\n"
    assert [one.rule for one in found(source, "2.8")] == ["D121"]
    assert found(source, "2.9") == []


# -- mixed precision ---------------------------------------------------------------------------


def test_a_scaler_for_mps_is_found_before_two_eight_and_says_why() -> None:
    source = """\
        import torch
        scaler = torch.amp.GradScaler("mps")
        with torch.autocast("mps", dtype=torch.float16):
            pass
        """
    assert [one.text for one in found(source, "2.7")] == ['torch.amp.GradScaler("mps")']
    assert "float64" in found(source, "2.7")[0].message
    assert len(found(source, "2.4")) == 2
    assert found(source, "2.8") == []


def test_a_region_in_full_precision_is_to_be_ported_with_what_is_around_it() -> None:
    source = """\
        import torch
        class Rotary(torch.nn.Module):
            @torch.autocast("cuda", enabled=False)
            def forward(self, t):
                return t
        """
    assert shown(source) == [("D123", "degrades", 'torch.autocast("cuda", enabled=False)')]
    assert "port both together" in found(source)[0].message


# -- memory ------------------------------------------------------------------------------------


def test_a_pinned_tensor_blocks_and_a_pinning_loader_is_cosmetic() -> None:
    source = """\
        import torch
        from torch.utils.data import DataLoader
        rows = torch.empty(8, pin_memory=True)
        x = x.pin_memory()
        loader = DataLoader(data, pin_memory=True)
        """
    assert [severity for _rule, severity, _text in shown(source)] == [
        "blocks",
        "blocks",
        "cosmetic",
    ]
    assert len(found(source, "2.6")) == 2


def test_pinning_that_is_tied_to_cuda_is_left_alone() -> None:
    source = """\
        import torch
        def batch(x, device):
            if torch.device(device).type == "cuda":
                return x.pin_memory().to(device, non_blocking=True)
            return x.to(device)
        rows = torch.empty(8, pin_memory=torch.cuda.is_available())
        """
    assert shown(source) == []


def test_running_out_of_memory_is_handled_for_both_by_the_short_text() -> None:
    known = 'try:\n    go()\nexcept RuntimeError as e:\n    a = "out of memory" in str(e)\n'
    assert shown(known) == []
    assert [one.rule for one in found(known.replace('"out', '"CUDA out'))] == ["D127"]


# -- variables ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "severity", "word"),
    [
        ('import torch, os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"\n', "blocks", "late"),
        (
            'import os\nimport lightning as L\nos.putenv("PYTORCH_ENABLE_MPS_FALLBACK", "1")\n',
            "blocks",
            "late",
        ),
        (
            'import os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "yes"\n',
            "blocks",
            "whole number",
        ),
        (
            'import os\nos.environ["PYTORCH_ENABLE_MPS_FALLBACK"] = "1"\nimport torch\n',
            "degrades",
            "hides",
        ),
        (
            'import os\nos.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.0"\n',
            "degrades",
            "limit",
        ),
        (
            'import os\nos.environ["PYTORCH_MPS_HIGH_WATERMARK_RATIO"] = "0.7"\n',
            "blocks",
            "low mark",
        ),
    ],
)
def test_a_variable_is_judged_by_its_value_and_by_when_it_is_set(
    source: str, severity: str, word: str
) -> None:
    (one,) = found(source)
    assert (one.rule, str(one.severity)) == ("D126", severity)
    assert word in one.message


@pytest.mark.parametrize("value", ['"0"', '"1.7"'])
def test_a_variable_that_changes_nothing_bad_is_left_alone(value: str) -> None:
    name = "PYTORCH_ENABLE_MPS_FALLBACK" if value == '"0"' else "PYTORCH_MPS_HIGH_WATERMARK_RATIO"
    assert shown(f'import os\nos.environ["{name}"] = {value}\n') == []


# -- many devices ------------------------------------------------------------------------------


def test_several_gpus_are_graded_by_what_lets_them_be() -> None:
    source = """\
        import torch
        from torch.nn.parallel import DistributedDataParallel
        a = DistributedDataParallel(net, device_ids=[rank])
        if world_size > 1:
            b = DistributedDataParallel(net, device_ids=[rank])
        if torch.cuda.device_count() > 1:
            c = torch.nn.DataParallel(net)
        d = torch.nn.DataParallel(net)
        """
    assert [severity for _rule, severity, _text in shown(source)] == [
        "blocks",
        "degrades",
        "cosmetic",
        "cosmetic",
    ]


def test_no_process_is_started_for_no_card() -> None:
    source = """\
        import torch
        import torch.multiprocessing as mp
        cards = torch.cuda.device_count()
        mp.spawn(main, nprocs=cards)
        mp.spawn(main, nprocs=args.processes)
        """
    assert shown(source) == [("D130", "blocks", "mp.spawn(main, nprocs=cards)")]


def test_a_second_mps_device_does_not_exist() -> None:
    assert [one.text for one in found('import torch\nx = torch.ones(2, device="mps:1")\n')] == [
        '"mps:1"'
    ]
    assert shown('import torch\nx = torch.ones(2, device="mps:0")\n') == []


def test_a_module_that_looks_general_is_asked_for_what_mps_lacks() -> None:
    source = """\
        import torch
        module = torch.get_device_module()
        for i in range(module.device_count()):
            print(module.get_device_name(i), module.max_memory_allocated(i))
        """
    assert [one.text for one in found(source)] == [
        "module.get_device_name(i)",
        "module.max_memory_allocated(i)",
    ]
    assert "not a peak" in found(source)[1].message
    guarded = source.replace("for i", 'if hasattr(module, "get_device_name"):\n    pass\nfor i')
    assert [one.text for one in found(guarded)] == ["module.max_memory_allocated(i)"]


# -- loading -----------------------------------------------------------------------------------


def test_a_location_given_to_the_wrong_call_is_found() -> None:
    source = "import torch\nmodel.load_state_dict(torch.load('m.pt', 'cpu'), map_location='cuda')\n"
    (one,) = found(source)
    assert (one.rule, str(one.severity)) == ("D133", "blocks")
    assert "TypeError" in one.message


@pytest.mark.parametrize(
    "call",
    [
        'torch.load("model.pth", map_location="cpu")',
        'torch.load("model.pth", map_location={"cuda:0": "cpu"})',
        'torch.load("model.pth", device)',
        'torch.load("model.pth", **options)',
        "torch.load(io.BytesIO(state_bytes))",
        'torch.load("words.pt")',
    ],
)
def test_a_checkpoint_with_a_location_or_no_model_is_left_alone(call: str) -> None:
    assert shown(f"import torch\nnet = net.to(device)\nrows = {call}\n") == []


# -- libraries ---------------------------------------------------------------------------------


def test_lightning_keeps_its_accelerator_and_loses_the_strategy() -> None:
    source = """\
        import lightning as L
        trainer = L.Trainer(accelerator="auto", devices="auto", strategy="ddp")
        """
    assert shown(source) == [("D140", "blocks", 'strategy="ddp"')]
    assert "accelerator can stay" in found(source)[0].message


def test_a_numbered_card_is_found_as_place_and_as_limit() -> None:
    source = """\
        from transformers import AutoModel
        a = AutoModel.from_pretrained("org/m", device_map={"": 0})
        b = AutoModel.from_pretrained("org/m", device_map="auto", max_memory={0: "40GiB"})
        c = AutoModel.from_pretrained("org/m", device_map="auto")
        """
    assert [one.text for one in found(source)] == ['device_map={"": 0}', 'max_memory={0: "40GiB"}']


def test_float64_by_an_option_is_milder() -> None:
    source = """\
        import torch
        def scores(x, use_double):
            x = x.to(device)
            if use_double:
                x = x.double()
            return x
        """
    assert shown(source) == [("D120", "degrades", "x.double()")]


def test_quantisation_depends_on_the_version() -> None:
    source = """\
        from transformers import BitsAndBytesConfig
        config = BitsAndBytesConfig(load_in_4bit=True)
        """
    assert [severity for _rule, severity, _text in shown(source)] == ["degrades"]
    assert "0.50.2" in found(source)[0].message


# -- tools and checks --------------------------------------------------------------------------


def test_a_tool_of_nvidia_is_found_where_nothing_catches_its_absence() -> None:
    bare = 'import subprocess\nsubprocess.check_output(["nvidia-smi", "-L"])\n'
    (one,) = found(bare)
    assert (one.rule, str(one.layer), str(one.severity)) == ("E340", "environment", "blocks")
    caught = (
        'import subprocess\ntry:\n    subprocess.run(["nvidia-smi"])\nexcept OSError:\n    pass\n'
    )
    assert shown(caught) == []


def test_an_assertion_that_mps_is_there_is_about_the_session() -> None:
    source = 'import torch\nassert torch.backends.mps.is_available(), "This Mac has no MPS"\n'
    (one,) = found(source)
    assert (one.rule, str(one.layer), str(one.severity)) == ("E342", "environment", "blocks")
    assert "sandbox" in one.message
    choice = 'import torch\ndevice = "mps" if torch.backends.mps.is_available() else "cpu"\n'
    assert shown(choice) == [("E342", "cosmetic", "torch.backends.mps.is_available()")]


# -- operators ---------------------------------------------------------------------------------


def test_a_net_of_three_dimensions_needs_the_newest_of_its_operators() -> None:
    source = """\
        from torch import nn
        net = nn.Sequential(nn.Conv3d(1, 8, 3), nn.MaxPool3d(2), nn.ConvTranspose3d(8, 1, 2))
        """
    last = {one.text.split("(")[0]: one.until for one in found(source, "2.2")}
    assert last == {"nn.Conv3d": "2.3", "nn.MaxPool3d": "2.9", "nn.ConvTranspose3d": "2.8"}
    assert [one.text.split("(")[0] for one in found(source, "2.8")] == ["nn.MaxPool3d"]
    assert found(source, "2.9") == []


def test_resizing_is_told_apart_by_mode_and_antialiasing() -> None:
    call = (
        'import torch.nn.functional as F\ny = F.interpolate(x, size=8, mode="{}", antialias={})\n'
    )
    assert found(call.format("bilinear", "False"), "2.0") == []
    assert len(found(call.format("bilinear", "True"), "2.6")) == 1
    assert found(call.format("bilinear", "True"), "2.7") == []
    assert len(found(call.format("bicubic", "True"), "2.7")) == 1


def test_a_decomposition_ran_on_the_cpu_and_then_was_inaccurate() -> None:
    source = "import torch\nu, s, v = torch.linalg.svd(a)\n"
    assert [one.rule for one in found(source, "2.13")] == ["K220"]
    assert [one.rule for one in found(source, "2.14")] == ["D145"]
    assert "CPU by itself" in found(source, "2.13")[0].message


def test_boxes_brought_to_the_cpu_are_found_and_boxes_left_alone_are_not() -> None:
    source = """\
        import torchvision
        for crop in crops:
            a = torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.7)
            b = torchvision.ops.nms(boxes, scores, 0.7)
        """
    assert shown(source) == [
        ("K221", "degrades", "torchvision.ops.nms(boxes.cpu(), scores.cpu(), 0.7)")
    ]


def test_the_table_names_what_pytorch_has() -> None:
    torch = pytest.importorskip("torch")
    for name in OPERATORS:
        holder, parts = torch, name.split(".")
        if parts[0] != "torch":
            continue
        for part in parts[1:]:
            holder = getattr(holder, part)
        assert callable(holder), name
    assert all(hasattr(torch.Tensor, method) for method in METHODS)
    assert {mode for mode, _antialias in INTERPOLATION} <= {"bilinear", "bicubic", "trilinear"}


# -- what nobody writes ------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        *("torch", ".", "cuda", "double", "()", "(", ")", "[", "]", "=", ",", "\n", " ", "    "),
        *(
            '"mps:1"',
            "'",
            '"""',
            "float64",
            "device",
            "pin_memory",
            "=True",
            "DataLoader",
            "import ",
        ),
        *("os.environ", "PYTORCH_ENABLE_MPS_FALLBACK", "nvidia-smi", "subprocess.run", "if ", ":"),
        *("lambda", "num_workers=2", "mps.", "load(", "DDP", "{0: 1}", "device_map", "max_memory"),
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.lists(PIECES, max_size=60))
def test_broken_programs_are_read_without_an_error(pieces: list[str]) -> None:
    report = examine("broken.py", "".join(pieces).encode(), RULES)
    assert all(0 <= one.start <= one.end for one in report.findings)


def test_a_long_file_takes_little_time() -> None:
    import time

    lines = "x = x.to(device)\ny = x.double()\nz = torch.linalg.eig(x)\nw = x.pin_memory()\n"
    data = ("import torch\n" + lines * 4_000).encode()
    start = time.perf_counter()
    report = examine("long.py", data, RULES)
    assert time.perf_counter() - start < 20
    assert len(report.findings) == 4_000 * 3
