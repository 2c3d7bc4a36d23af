"""The table of libraries, and what an import of one of them means."""

import datetime
import time
from typing import Any

import pytest
from packaging.utils import canonicalize_name
from packaging.version import Version

from analyzers import libraries
from analyzers.examine import examine
from analyzers.libraries import LIBRARIES, Backend, Basis, Library, OnMac, Wheel
from analyzers.registry import rule
from benchmarks.check_libraries import Answer, answer_of, asked_for, disagreement
from project.vocabulary import Severity

K204 = rule("K204")


def found(text: str, path: str = "train.py") -> list[tuple[str, str]]:
    assert K204 is not None
    report = examine(path, text.encode(), [K204])
    return [(finding.text, finding.severity.value) for finding in report.findings]


def message(text: str) -> str:
    assert K204 is not None
    (finding,) = examine("train.py", text.encode(), [K204]).findings
    return finding.message


# -- the table --------------------------------------------------------------------------------


@pytest.mark.parametrize("row", LIBRARIES, ids=lambda row: row.name)
def test_a_row_is_complete(row: Library) -> None:
    assert row.name
    assert row.state.endswith(".")
    assert bool(row.instead) or row.on_mac is OnMac.WORKS
    assert not row.instead or row.instead.endswith(".")
    assert row.source.startswith("https://")
    assert datetime.date.fromisoformat(row.checked)
    assert not row.since or str(Version(row.since)) == row.since
    assert (row.on_mac is OnMac.CUDA_ONLY) is (row.backend is Backend.NONE)
    assert row.index is None or row.distributions
    assert not (row.index is Wheel.NATIVE and row.on_mac is OnMac.CUDA_ONLY)
    assert all(name == canonicalize_name(name) for name in row.distributions)
    assert not any(libraries.has_suffix(name) for name in row.distributions)
    assert all(part.isidentifier() for name in row.imports for part in name.split("."))


def test_the_table_is_large_and_names_nothing_twice() -> None:
    assert len(LIBRARIES) >= 85
    distributions = [name for row in LIBRARIES for name in row.distributions]
    imports = [name for row in LIBRARIES for name in row.imports]
    assert len(set(distributions)) == len(distributions)
    assert len(set(imports)) == len(imports)
    assert sorted(libraries.rows(), key=id) == sorted(LIBRARIES, key=id)
    names = [row.name.lower() for row in libraries.rows()]
    assert names == sorted(names)


def test_rows_that_rest_on_the_index_are_told_apart() -> None:
    assert libraries.distribution("triton").basis is Basis.INDEX  # type: ignore[union-attr]
    assert libraries.distribution("spconv").basis is Basis.DOCUMENTATION  # type: ignore[union-attr]
    assert sum(row.basis is Basis.INDEX for row in LIBRARIES) >= 25


@pytest.mark.parametrize(
    ("name", "on_mac", "backend"),
    [
        ("bitsandbytes", OnMac.WORKS, Backend.MPS),
        ("gptqmodel", OnMac.WORKS, Backend.MPS),
        ("llama-cpp-python", OnMac.WORKS, Backend.OWN),
        ("taichi", OnMac.WORKS, Backend.OWN),
        ("numba", OnMac.WORKS, Backend.CPU),
        ("deepspeed", OnMac.PARTIAL, Backend.MPS),
        ("torch-scatter", OnMac.PARTIAL, Backend.CPU),
        ("ctranslate2", OnMac.PARTIAL, Backend.CPU),
        ("dgl-cu116", OnMac.PARTIAL, Backend.CPU),
        ("flash-attn", OnMac.CUDA_ONLY, Backend.NONE),
        ("cupy-cuda12x", OnMac.CUDA_ONLY, Backend.NONE),
        ("spconv-cu118", OnMac.CUDA_ONLY, Backend.NONE),
        ("cudf-cu12", OnMac.CUDA_ONLY, Backend.NONE),
        ("nvidia-dali-cuda120", OnMac.CUDA_ONLY, Backend.NONE),
        ("bagua-cuda117", OnMac.CUDA_ONLY, Backend.NONE),
        ("faiss-gpu-cu12", OnMac.CUDA_ONLY, Backend.NONE),
    ],
)
def test_known_states(name: str, on_mac: OnMac, backend: Backend) -> None:
    row = libraries.distribution(name)
    assert row is not None
    assert (row.on_mac, row.backend) == (on_mac, backend)


def test_a_build_for_cuda_of_what_works_is_not_what_works() -> None:
    assert libraries.distribution("bitsandbytes-cuda117") is None
    assert libraries.distribution("torchao-cu128") is None
    assert libraries.distribution("unheard-of-cu12") is None


def test_bitsandbytes_says_since_when() -> None:
    row = libraries.distribution("bitsandbytes")
    assert row is not None
    assert (row.index, row.since) == (Wheel.NATIVE, "0.49.0")


def test_a_part_of_a_library_has_its_own_row() -> None:
    assert libraries.imported("numba") is None
    assert libraries.imported("numba.cuda.random") == (
        "numba.cuda",
        libraries.distribution("numba-cuda"),
    )
    assert libraries.imported("flash_attn.cute") == (
        "flash_attn.cute",
        libraries.distribution("flash-attn-4"),
    )
    assert libraries.imported("mmcv") is None
    assert libraries.imported("cuda") is None


def test_words_that_start_a_search_are_those_of_troublesome_modules() -> None:
    names = libraries.import_names()
    assert {"flash_attn", "numba", "MinkowskiEngine", "nvidia"} <= set(names)
    assert not {"jax", "tensorflow", "bitsandbytes", "taichi"} & set(names)


# -- imports ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        ("import flash_attn", "blocks"),
        ("import torch_scatter as ts", "degrades"),
        ("from nvidia import dali", "blocks"),
        ("from mmcv import Config, ops", "degrades"),
        ("from pytorch3d.ops import knn_points", "degrades"),
        ("from numba import (\n    njit,\n    cuda,\n)", "blocks"),
        ("import numpy, torch, cupy", "blocks"),
        ("from cuda.bindings import driver", "blocks"),
        ("import  cupy", "blocks"),
        ('__import__("pycuda.driver")', "blocks"),
        ("importlib.import_module('apex.amp')", "blocks"),
    ],
)
def test_imports_are_found(text: str, severity: str) -> None:
    assert found(text + "\n") == [(text, severity)]


@pytest.mark.parametrize(
    "text",
    [
        "import bitsandbytes\nimport jax.numpy as jnp\nimport faiss\n",
        "from numba import njit\nimport mmcv\nimport taichi as ti\n",
        "from pytorch3d.transforms import so3_exp_map\nfrom detectron2.config import get_cfg\n",
        "from . import triton\nfrom .apex import amp\nfrom .. import cupy\n",
        "from torch import cuda\nimport torch.cuda\n",
        "find('cupy')\nnames = ['triton', 'apex']\nrun(x, triton)\n",
        "importlib.import_module(name)\nimportlib.import_module('numpy')\n",
        '"""\nimport flash_attn\n"""\nprint("from cupy import x")\n',
        "if typing.TYPE_CHECKING:\n    from triton import Config\n",
        "import cupyish, tritonclient\nfrom mycuda.cudart import x\n",
    ],
)
def test_look_alikes_stay_silent(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import apex\nexcept ImportError:\n    apex = None\n",
        "try:\n    import apex\nexcept:\n    pass\n",
        "try:\n    if fast:\n        import apex\nexcept (OSError, Exception) as e:\n    log(e)\n",
        "with contextlib.suppress(ImportError):\n    import apex\n",
        "if is_apex_available():\n    import apex\n",
        "if find_spec('apex') is not None:\n    import apex\n",
        "if sys.platform != 'darwin':\n    import apex\n",
        "if torch.cuda.is_available():\n    import apex\n",
        "HAS_APEX = find()\nif HAS_APEX:\n    import apex\n",
    ],
)
def test_an_import_that_a_mac_gets_by_without_is_cosmetic(text: str) -> None:
    assert ("import apex", "cosmetic") in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import apex\nexcept ImportError:\n    raise ImportError('install apex')\n",
        "try:\n    import apex\nexcept ImportError:\n    print('no apex')\n    sys.exit(1)\n",
        "try:\n    import apex\nexcept ImportError:\n    import xformers\n",
        "try:\n    import apex\nexcept KeyError:\n    pass\n",
        "try:\n    def f():\n        import apex\nexcept ImportError:\n    pass\n",
        "try:\n    pass\nexcept ImportError:\n    import apex\n",
        "if not is_apex_available():\n    import apex\n",
        "if sys.platform == 'darwin':\n    import apex\n",
        "if options.fp16:\n    import apex\n",
    ],
)
def test_an_import_without_a_way_around_blocks(text: str) -> None:
    assert ("import apex", "blocks") in found(text)


def test_a_library_is_left_alone_in_its_own_repository() -> None:
    text = "import triton\n"
    assert found(text, "python/triton/testing.py") == []
    assert found(text, "triton/testing.py") == []
    assert found(text, "kernels/triton/attention.py") == [("import triton", "blocks")]
    assert found(text, "benchmarks/run.py") == [("import triton", "blocks")]


def test_messages_say_what_a_person_has_to_know() -> None:
    attention = message("import flash_attn\n")
    assert "setting CUDA_HOME does not help" in attention
    assert "scaled_dot_product_attention" in attention
    assert "leftover of torch on Linux" in message("import triton\n")
    sharded = message("import deepspeed\n")
    assert "only a part" in sharded
    assert "ZeRO and several processes are not available" in sharded
    served = message("from vllm import LLM\n")
    assert "vllm-metal" in served


@pytest.mark.parametrize(
    "text",
    [
        "try:\n" + "  import cupy\n" * 8000 + "except ImportError:\n" + "  pass\n" * 100_000,
        "import " * 200_000,
        ", cupy" * 60_000,
        "with suppress(" * 100_000,
        "if " + "has_x or " * 50_000 + "1:\n    import cupy\n",
        "import cupy\n" * 8000,
    ],
    ids=["handler", "imports", "commas", "suppress", "condition", "many"],
)
def test_a_hostile_file_is_read_in_time(text: str) -> None:
    start = time.perf_counter()
    found(text)
    assert time.perf_counter() - start < 5


# -- asking the index again -------------------------------------------------------------------


def report(file: str, *requires: str) -> dict[str, Any]:
    package = {"download_info": {"url": f"https://x.org/{file}"}}
    return {"install": [{**package, "metadata": {"requires_dist": list(requires)}}]}


def test_an_answer_of_the_index_is_read_from_pips_report() -> None:
    native = answer_of(report("bitsandbytes-0.50.2-py3-none-macosx_14_0_arm64.whl", "torch>=2"))
    assert native == Answer(Wheel.NATIVE, "bitsandbytes-0.50.2-py3-none-macosx_14_0_arm64.whl", ())
    plain = answer_of(
        report("x-1-py3-none-any.whl", "nvidia-ml-py", "cuda-python==12.9", "cupy; extra == 'a'")
    )
    assert (plain.wheel, plain.asks_for) == (Wheel.ANY, ("cuda-python", "nvidia-ml-py"))
    assert answer_of(report("x-1-cp312-cp312-macosx_11_0_universal2.whl")).wheel is Wheel.NATIVE


def test_a_row_that_disagrees_with_the_index_is_named() -> None:
    def against(name: str, answer: Answer) -> str:
        return disagreement(asked_for([name], False)[name], name, answer)

    assert against("triton", Answer(Wheel.NONE)) == ""
    assert against("triton", Answer(Wheel.NATIVE)) == "the table says no wheel"
    assert against("bitsandbytes", Answer(Wheel.NONE)) == "the table says a wheel for macOS arm64"
    assert against("spconv", Answer(Wheel.NATIVE)) == "there is a wheel for macOS"
    assert against("spconv", Answer(Wheel.NONE)) == ""
    assert against("optimum-quanto", Answer(Wheel.ANY, "f", ("cupy",))) != ""


def test_the_index_is_asked_for_names_of_the_table_alone() -> None:
    assert list(asked_for(["triton", "pynvml"], False)) == ["triton", "pynvml"]
    with pytest.raises(KeyError, match="requests"):
        asked_for(["requests"], False)
    everything = asked_for([], True)
    assert set(everything) == {row.distributions[0] for row in LIBRARIES if row.distributions}


def test_severities_follow_the_state() -> None:
    assert Severity.BLOCKS.value == found("import spconv\n")[0][1]
    assert Severity.DEGRADES.value == found("import dgl\n")[0][1]
