import io
import os
import pickle
import time
import tracemalloc
import zipfile

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from analyzers.binaries import examine, kind_of, look
from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import BinaryDocument
from analyzers.binaries.nvidia import is_cuda_library
from analyzers.registry import rules
from benchmarks import samples
from project.vocabulary import Severity

RULES = [one for one in rules() if one.reads is BinaryDocument]
LIBC = ("libc.so.6",)
DAMAGED = "It is damaged, or not what it seems: only a part of it was read."
PARTLY = "Only a part of it was read: it is too large, or has too many parts."


def report_of(path: str, data: bytes):
    return examine(path, io.BytesIO(data), len(data), RULES)


def found(path: str, data: bytes) -> list[tuple[str, str]]:
    report = report_of(path, data)
    assert report.skipped == ()
    return [(one.rule, one.text) for one in report.findings]


def reasons(path: str, data: bytes) -> list[str]:
    return [one.reason for one in report_of(path, data).skipped]


def test_the_rules_are_those_of_this_range():
    assert [one.code for one in RULES] == [f"E{number}" for number in range(320, 330)]


# -- what a file is -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("head", "path", "kind"),
    [
        (b"\x7fELF\x02", "a/b", "elf"),
        (b"MZ\x90\0", "x.pyd", "pe"),
        (b"\xcf\xfa\xed\xfe", "x.so", "macho"),
        (b"\xca\xfe\xba\xbe\0\0\0\x02", "x.dylib", "macho"),
        (b"\xca\xfe\xba\xbe\0\0\0\x41", "Main.class", None),
        (b"PK\x03\x04", "x.WHL", "wheel"),
        (b"PK\x03\x04", "model_best.pth.tar", "checkpoint-zip"),
        (b"PK\x03\x04", "data/snapshot", "checkpoint-zip"),
        (b"PK\x03\x04", "book.xlsx", None),
        (b"PK\x03\x04", "arrays.npz", None),
        (b"PK\x03\x04", "data.zip", "zip"),
        (b"\x80\x04\x95", "x.pkl", "pickle"),
        (b"\x80\x04\x95", "photo.raw", None),
        (b"(dp0\n", "old.pkl", "pickle"),
        (b"", "empty.pkl", None),
        (b"ftrt", "x", "tensorrt"),
        (b"\x08\x08\x12", "net.onnx", "onnx"),
        (b"\x08\x08\x12", "net.pb", None),
        (b"//\n.version 7.0", "k.ptx", "ptx"),
        (b"\x1f\x8b\x08", "x.tar.gz", "archive"),
        (b"\x1f\x8b\x08", "mnist-ubyte.gz", None),
        (b"\x89PNG", "a.png", None),
        (b"\x93NUMPY", "a.npy", None),
        (b"\x89HDF", "a.h5", None),
        (b"import torch", "a.py", None),
    ],
)
def test_a_kind_is_told_by_content_first(head, path, kind):
    assert kind_of(head, path) == kind


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("libcudart.so.12", True),
        ("libcudart-d0da41ae.so.11.8.89", True),
        ("libcublasLt.so.12", True),
        ("libcudnn_ops_infer.so.8", True),
        ("libnvinfer_plugin.so.8", True),
        ("libtorch_cuda_cu.so", True),
        ("@rpath/libcudart.10.2.dylib", True),
        ("/usr/local/cuda/lib/libcublas.dylib", True),
        ("CUDART64_110.dll", True),
        ("cudnn64_8.dll", True),
        ("nvcuda.dll", True),
        ("libbarracuda.so", False),
        ("libcudaless.so", False),
        ("libtorch_cpu.so", False),
        ("libcurl.so.4", False),
        ("libc.so.6", False),
        ("barracuda64_1.dll", False),
        ("cudart.txt", False),
    ],
)
def test_names_of_libraries(name, is_one):
    assert is_cuda_library(name) is is_one


# -- programs and libraries -----------------------------------------------------------------------


def test_a_linux_library_that_needs_cuda():
    data = samples.elf(("libc10_cuda.so", "libcudart.so.12", *LIBC), sections=(".nv_fatbin",))
    (finding,) = report_of("_C.so", data).findings
    assert (finding.rule, finding.severity) == ("E320", Severity.BLOCKS)
    assert finding.text == "libc10_cuda.so, libcudart.so.12, .nv_fatbin"
    assert "building it again needs another implementation" in finding.message
    assert (finding.line, finding.column, finding.start, finding.end) == (1, 1, 0, 0)


def test_device_code_alone_is_enough_even_in_an_object_file():
    assert found("a.o", samples.elf(sections=(".nv_fatbin",), kind=1)) == [("E320", ".nv_fatbin")]
    assert found("a.o", samples.elf(sections=(".text",), kind=1)) == []


def test_one_of_nvidias_own_libraries():
    data = samples.elf(LIBC, name="libcudart.so.11.0")
    assert found("libcudart.so.11.0", data) == [("E320", "libcudart.so.11.0")]


def test_a_linux_library_without_cuda_degrades():
    (finding,) = report_of("_ext.so", samples.elf(("libtorch.so", *LIBC))).findings
    assert (finding.rule, finding.severity) == ("E321", Severity.DEGRADES)
    assert finding.text == "shared object for Linux on x86-64"


def test_what_is_not_certainly_for_linux_is_silent():
    assert found("a.so", samples.elf(("liblog.so", "libc.so"), machine=183)) == []
    assert found("a.so", samples.elf(LIBC, sections=(".note.android.ident",))) == []
    assert found("a.so", samples.elf(("libc.so.7",), system=9)) == []
    assert found("firmware.elf", samples.elf(machine=40, kind=2)) == []
    assert found("program", samples.elf(kind=2)) == []


def test_a_cubin_is_code_for_a_gpu():
    assert found("k.cubin", samples.elf(machine=190, kind=2)) == [("E324", "cubin")]


def test_an_elf_file_without_sections_still_says_what_it_needs():
    data = bytearray(samples.elf(("libcuda.so.1",)))
    data[40:48] = bytes(8)
    data[60:64] = bytes(4)
    assert found("a.so", bytes(data)) == [("E320", "libcuda.so.1")]


def test_the_machines_of_mach_o():
    intel, arm = samples.macho(0x01000007), samples.macho()
    assert found("a.dylib", intel) == [("E322", "x86_64")]
    assert found("a.dylib", arm) == []
    assert found("a.dylib", samples.universal(intel, arm)) == []
    assert found("a.o", samples.macho(0x01000007, kind=1)) == []
    assert found("simulator", samples.macho(0x01000007, platform=7)) == []


def test_cuda_on_macos_has_ended():
    data = samples.macho(0x01000007, ("/usr/local/cuda/lib/libcudart.10.2.dylib",))
    (finding,) = report_of("old.so", data).findings
    assert (finding.rule, finding.text) == ("E320", "/usr/local/cuda/lib/libcudart.10.2.dylib")
    assert "10.2" in finding.message


def test_a_windows_library():
    data = samples.pe(("KERNEL32.dll", "cudart64_110.dll"), delayed=("cublas64_11.dll",))
    assert found("op.pyd", data) == [("E320", "cudart64_110.dll, cublas64_11.dll")]
    assert found("op.pyd", samples.pe(("KERNEL32.dll", "torch_cpu.dll"))) == []


# -- wheels ---------------------------------------------------------------------------------------


def test_a_wheel_says_so_by_its_name_its_tags_or_its_requirements():
    assert found("torch-2.1.0+cu118-cp310-cp310-linux_x86_64.whl", samples.wheel()) == [
        ("E323", "torch==2.1.0+cu118")
    ]
    wheel = samples.wheel(["numpy", "nvidia-cudnn-cu12==9.1.0.70"])
    assert found("mine-1.0-py3-none-any.whl", wheel) == [("E323", "nvidia-cudnn-cu12==9.1.0.70")]
    (finding,) = report_of("mine-1.0-cp311-cp311-linux_x86_64.whl", samples.wheel()).findings
    assert (finding.text, finding.severity) == ("linux_x86_64", Severity.DEGRADES)


@pytest.mark.parametrize(
    "name",
    [
        "mine-1.0-py3-none-any.whl",
        "mine-1.0-cp311-cp311-macosx_11_0_arm64.whl",
        "mine-1.0-cp311-cp311-macosx_10_9_universal2.whl",
        "not a wheel's name.whl",
    ],
)
def test_a_wheel_for_macs_is_silent(name):
    wheel = samples.wheel(["torch", "nvidia-cudnn-cu12; sys_platform == 'linux'", "nonsense ;;;"])
    assert found(name, wheel) == []


# -- checkpoints ----------------------------------------------------------------------------------


def saved(what, **options) -> bytes:
    file = io.BytesIO()
    torch.save(what, file, **options)
    return file.getvalue()


def moved(data: bytes, place: bytes = b"cuda:0") -> bytes:
    """A checkpoint from the CPU as if its tensors had lain elsewhere."""
    short, long = b"X\x03\0\0\0cpu", b"X" + bytes([len(place), 0, 0, 0]) + place
    if not data.startswith(b"PK"):
        assert short in data
        return data.replace(short, long)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = next(name for name in members if name.endswith("data.pkl"))
    assert short in members[name]
    members[name] = members[name].replace(short, long)
    return samples.archive(members, zipfile.ZIP_STORED)


STATE = {"weight": torch.ones(3), "bias": torch.zeros(2, dtype=torch.float16), "step": 7}


@pytest.mark.parametrize("new", [True, False])
def test_a_checkpoint_says_where_its_tensors_were(new):
    data = saved(STATE, _use_new_zipfile_serialization=new)
    assert found("best.pt", data) == []
    (finding,) = report_of("best.pt", moved(data)).findings
    assert (finding.rule, finding.text, finding.severity) == ("E327", "cuda:0", Severity.BLOCKS)
    assert finding.message.startswith("Its tensors were saved from cuda:0: on a Mac torch.load")
    assert found("best.pt", moved(data, b"mps")) == []
    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(io.BytesIO(moved(data)))


def test_words_about_cuda_in_a_checkpoint_are_no_places():
    assert found("a.pt", saved({"device": "cuda:0", "storage": ("storage", "cuda", 1, 2)})) == []


def test_a_whole_module_is_said_to_need_its_classes():
    (finding,) = report_of("net.pth", moved(saved(torch.nn.Linear(2, 2)))).findings
    assert "needs their classes too" in finding.message
    (finding,) = report_of("net.pth", moved(saved(STATE))).findings
    assert "classes" not in finding.message


def test_tensors_in_a_plain_pickle():
    for protocol in (2, 3, 4, 5):
        data = pickle.dumps([1, torch.ones(3), {"x": torch.ones(2)}], protocol)
        assert found("results.pkl", data) == []
    tensor = torch.ones(3).untyped_storage()
    file = io.BytesIO()
    torch.save(tensor, file, _use_new_zipfile_serialization=False)
    for protocol in (2, 4):
        data = pickle.dumps(Loading(moved(file.getvalue())), protocol)
        (finding,) = report_of("results.pkl", data).findings
        assert (finding.rule, finding.text) == ("E327", "cuda:0")
        assert "no map_location" in finding.message


class Loading:
    """Is pickled as PyTorch pickles a storage."""

    def __init__(self, data):
        self.data = data

    def __reduce__(self):
        return torch.storage._load_from_bytes, (self.data,)


def test_a_checkpoint_that_would_run_something_is_not_loaded_and_says_so(tmp_path):
    command = f"touch {tmp_path / 'trace'}"
    body = samples.state("cuda:0")[:-2] + b"X\x01\0\0\0xcposix\nsystem\n"
    body += b"X" + len(command).to_bytes(4, "little") + command.encode() + b"\x85Ru."
    (finding,) = report_of("a.pt", samples.archive({"archive/data.pkl": body})).findings
    assert finding.text == "cuda:0"
    assert finding.message.endswith("Unpickling it would run posix.system: do not load it.")
    assert list(tmp_path.iterdir()) == []
    pickle.loads(samples.running("posix.system", command))  # it is such a pickle that would
    assert [path.name for path in tmp_path.iterdir()] == ["trace"]


def test_objects_of_gpu_libraries():
    array = b"\x80\x04ccupy._core.core\narray\n(K\x01K\x02tR."
    assert found("x.pkl", array) == [("E329", "cupy._core.core.array")]
    named = b"\x80\x04\x8c\x10cupy._core.core\x00\x8c\x05array\x93."
    assert [rule for rule, _text in found("x.pkl", named)] == ["E329"]
    assert found("x.pkl", b"\x80\x04ccollections\nOrderedDict\n)R.") == []
    assert found("x.pkl", pickle.dumps({"cupy": "cupy._core"})) == []


def test_old_pickles_of_text():
    assert found("x.pkl", pickle.dumps({"a": [1.5, "cuda:0"]}, 0)) == []
    assert found("x.pkl", b"ccupy.core.core\narray\n(tR.") == [("E329", "cupy.core.core.array")]


def test_programs():
    assert found("net.pt", samples.program("cuda:0")) == [("E328", 'torch.device("cuda:0")')]
    assert found("net.pt", samples.program("cpu")) == []
    both = samples.program("cuda:1", "cuda:1")
    assert found("net.pt", both) == [
        ("E327", "cuda:1"),
        ("E328", 'torch.device("cuda:1")'),
    ]
    first = report_of("net.pt", both).findings[0]
    assert "torch.jit.load" in first.message


def test_a_device_in_the_code_of_a_program_is_not_mapped():
    module = torch.jit.load(io.BytesIO(traced(b"cuda:0")), map_location="cpu")
    with pytest.raises(RuntimeError, match="CUDA"):
        module(torch.ones(1, 2))
    assert found("net.pt", traced(b"cuda:0")) == [("E328", 'torch.device("cuda:0")')]
    assert found("net.pt", traced(b"cpu")) == []


def traced(device: bytes) -> bytes:
    def forward(x):
        return x + torch.zeros(2, device=torch.device("cpu"))

    file = io.BytesIO()
    torch.jit.save(torch.jit.trace(forward, torch.ones(1, 2)), file)
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    old, new = b'torch.device("cpu")', b'torch.device("' + device + b'")'
    assert any(old in content for content in members.values())
    return samples.archive({n: c.replace(old, new) for n, c in members.items()}, zipfile.ZIP_STORED)


def test_an_exported_program():
    model = b'{"nodes": [{"device": {"type": "%s", "index": %s}}], "cuda": "cuda"}'
    for device, index, text in ((b"cuda", b"0", "cuda:0"), (b"cuda", b"null", "cuda")):
        members = {"net/archive_format": b"pt2", "net/models/model.json": model % (device, index)}
        assert found("net.pt2", samples.archive(members)) == [("E328", text)]
    members["net/models/model.json"] = model % (b"cpu", b"null")
    assert found("net.pt2", samples.archive(members)) == []
    members["net/data/aotinductor/model/c4k.cubin"] = b"\x7fELF"
    assert found("net.pt2", samples.archive(members)) == [("E324", "c4k.cubin")]


# -- the rest -------------------------------------------------------------------------------------


def test_code_and_engines_for_nvidia():
    ptx = b"//\n// Generated by NVIDIA NVVM Compiler\n//\n.version 7.4\n.target sm_86\n"
    assert found("scan.ptx", ptx) == [("E324", "sm_86")]
    assert found("scan.ptx", b"a note about .target sm_86\n") == []
    assert found("k.fatbin", b"\x50\xed\x55\xba" + bytes(40)) == [("E324", "fatbin")]
    assert found("yolo.engine", b"ftrt" + bytes(90)) == [("E325", "TensorRT")]
    described = b'{"imgsz": [640, 640]}'
    data = len(described).to_bytes(4, "little") + described + b"ftrt" + bytes(90)
    assert found("yolo.engine", data) == [("E325", "TensorRT")]
    assert found("yolo.engine", data.replace(b"ftrt", b"text")) == []


def test_operators_of_an_onnx_model():
    portable = [("", "Conv"), ("ai.onnx.ml", "Scaler"), ("com.microsoft", "FusedMatMul")]
    assert found("a.onnx", samples.onnx(portable)) == []
    own = [("", "Conv"), ("", "EfficientNMS_TRT"), ("trt.plugins", "Deform")]
    assert found("a.onnx", samples.onnx(own)) == [("E326", "EfficientNMS_TRT, trt.plugins::Deform")]
    deep = samples.onnx([("", "BatchedNMS_TRT")], depth=5)
    assert found("a.onnx", deep) == [("E326", "BatchedNMS_TRT")]
    assert found("a.onnx", samples.onnx([("mine", "CUDA_trick")])) == []


def test_what_nobody_looks_into_is_named():
    assert reasons("a.tar.gz", b"\x1f\x8b\x08") == ["an archive, which is not looked into"]
    assert reasons("libx.a", b"!<arch>\nx") == ["a static library, which is not looked into"]
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    assert reasons("best.pt", pointer) == ["a pointer of Git LFS: the content is not here"]


def test_a_file_of_the_project_is_looked_at_without_following_links(tmp_path):
    (tmp_path / "best.pt").write_bytes(samples.checkpoint("cuda:0"))
    (tmp_path / "link.pt").symlink_to("best.pt")
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n")
    (tmp_path / "a.safetensors").write_bytes(bytes(9))
    os.mkfifo(tmp_path / "pipe.pt")
    assert [one.rule for one in look(tmp_path, "best.pt", RULES).findings] == ["E327"]
    assert look(tmp_path, "a.png", RULES) is None
    assert look(tmp_path, "a.safetensors", RULES).findings == ()
    assert not look(tmp_path, "link.pt", RULES).read
    assert [one.reason for one in look(tmp_path, "pipe.pt", RULES).skipped] == [
        "not a regular file"
    ]


def test_an_id_stays_when_other_tensors_come():
    one = report_of("a.pt", samples.checkpoint("cuda:0")).findings[0]
    other = report_of("a.pt", samples.checkpoint("cuda:0", "cpu", "cuda:0")).findings[0]
    assert one.id == other.id
    assert one.id != report_of("b.pt", samples.checkpoint("cuda:0")).findings[0].id


def test_only_the_chosen_rules_speak():
    data = samples.checkpoint("cuda:0")
    chosen = [one for one in rules() if one.code != "E327"]
    assert examine("a.pt", io.BytesIO(data), len(data), chosen).findings == ()


# -- files that mean harm -------------------------------------------------------------------------


def test_a_file_is_read_as_far_as_was_agreed_and_no_further():
    file = Bounded(io.BytesIO(bytes(100)), 50)
    assert len(file.read(40)) == 40
    file.seek(90)
    with pytest.raises(TooMuch):
        file.read(11)
    with pytest.raises(TooMuch):
        Bounded(io.BytesIO(bytes(100)), 50).read()
    assert Bounded(io.BytesIO(bytes(50)), 50).read() == bytes(50)
    many = Bounded(io.BytesIO(bytes(100)), 64)
    assert [many.read(1) for _each in range(4)] == [b"\0"] * 4
    with pytest.raises(TooMuch):
        many.read(1)


def test_names_of_theirs_cannot_reach_a_terminal():
    data = samples.elf(("libcudart.so.12\x1b[2J\u202e\nneeds x", *LIBC))
    (finding,) = report_of("a.so", data).findings
    assert finding.text == "libcudart.so.12\\x1b[2J\\u202e\\nneeds x"


def test_a_damaged_file_is_named_and_what_was_read_before_stands():
    data = samples.elf(("libcudart.so.12",), sections=(".text",))
    report = report_of("a.so", data[:-70])
    assert [one.text for one in report.findings] == ["libcudart.so.12"]
    assert [one.reason for one in report.skipped] == [DAMAGED]
    assert reasons("a.pt", samples.checkpoint("cpu")[:200]) == [DAMAGED]
    assert reasons("a.pkl", b"\x80\x04]") == [DAMAGED]
    assert reasons("a.onnx", samples.onnx([("", "Conv")])[:-3]) == [DAMAGED]


@pytest.mark.parametrize(
    ("path", "data"),
    [
        ("a.pkl", b"\x80\x02" + b"]" * 900_000 + b"."),
        ("a.pkl", b"\x80\x02K\x01" + b"\x85" * 900_000 + b"."),
        ("a.pkl", b"\x80\x02" + b"(" * 399_000 + b"t" * 399_000 + b"."),
        ("a.pkl", b"\x80\x02" + b"Kx" * 390_000 + b"(" + b"l" * 9 + b"."),
        ("a.pkl", b"\x80\x02N" + b"2t" * 400_000 + b"."),
        ("a.pkl", b"\x80\x02I" + b"9" * 2_000_000),
        ("a.onnx", samples.onnx([("", "x")], depth=3000)),
        ("a.onnx", samples.onnx([("a", f"op{number}") for number in range(80_000)])),
        ("a.onnx", b"\x3a\x80\x80\x04" + b"\x0a\x00" * 32_768),
    ],
    ids=range(9),
)
def test_deep_and_long_files_end_in_time_and_memory(path, data):
    start = time.process_time()
    report_of(path, data)
    assert time.process_time() - start < 3
    tracemalloc.start()
    report_of(path, data)
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 150_000_000


def test_a_bomb_is_not_unpacked():
    bomb = samples.archive({"archive/data.pkl": bytes(200_000_000)})
    assert len(bomb) < 1_000_000
    tracemalloc.start()
    assert reasons("a.pt", bomb) == [PARTLY]
    _now, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60_000_000
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        packed = samples.archive({"archive/data.pkl": bytes(9_000_000)}, method)
        assert reasons("a.pt", packed) == [DAMAGED]


def test_a_huge_file_is_not_read_to_its_end(tmp_path):
    """Sizes, offsets and counts that lead into terabytes of nothing."""
    ordinary = {
        "a.so": samples.elf(("libcudart.so.12",)),
        "a.pkl": b"\x80\x04B\xff\xff\xff\xff",
        "a.pt": b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02\x8e" + b"\xff" * 6 + b"\0\0",
        "a.onnx": b"\x3a" + b"\xff" * 5 + b"\x07" + b"\x2a" + b"\xff" * 4 + b"\x07",
        "a.dylib": b"\xca\xfe\xba\xbf\0\0\0\x1f" + b"\x7f" * 1000,
    }
    for name, data in ordinary.items():
        with (tmp_path / name).open("wb") as file:
            file.write(data)
            file.truncate(1 << 42)
    for name in ordinary:
        start = time.perf_counter()
        report = look(tmp_path, name, RULES)
        assert time.perf_counter() - start < 5
        assert bool(report.findings) == (name == "a.so")


SEEDS = (
    ("a.so", samples.elf(("libcudart.so.12", *LIBC), name="x", sections=(".nv_fatbin",))),
    ("a.dylib", samples.universal(samples.macho(), samples.macho(0x01000007, ("libcuda.dylib",)))),
    ("a.pyd", samples.pe(("cudart64_110.dll",), delayed=("a.dll",))),
    ("a-1-py3-none-any.whl", samples.wheel(["nvidia-cublas-cu12"])),
    ("a.pt", samples.checkpoint("cuda:0", "cpu")),
    ("b.pt", samples.legacy_checkpoint("cuda:0")),
    ("c.pt", samples.program("cuda:0", "cuda:0")),
    ("a.pkl", samples.running("os.system", "true")),
    ("a.onnx", samples.onnx([("", "NMS_TRT"), ("x", "y")], depth=2)),
)


def test_the_seeds_are_what_they_seem():
    assert [bool(report_of(path, data).findings) for path, data in SEEDS] == [True] * 7 + [
        False,
        True,
    ]
    assert all(report_of(path, data).skipped == () for path, data in SEEDS)


@settings(deadline=None, max_examples=600)
@given(
    seed=st.sampled_from(SEEDS),
    changes=st.lists(st.tuples(st.integers(0, 2000), st.binary(max_size=12)), max_size=6),
    end=st.none() | st.integers(0, 2000),
)
def test_no_damage_is_a_crash(seed, changes, end):
    path, data = seed
    damaged = bytearray(data)
    for place, new in changes:
        place %= len(data)
        damaged[place : place + len(new)] = new
    report = report_of(path, bytes(damaged[:end]))
    assert len(report.skipped) <= 1
    for finding in report.findings:
        assert finding.text.isprintable()
        assert finding.message.isprintable()


@settings(deadline=None, max_examples=300)
@given(
    path=st.sampled_from([path for path, _data in SEEDS]),
    start=st.sampled_from([b"", b"\x7fELF\x02\x01", b"PK\x03\x04", b"\x80\x02", b"MZ"]),
    data=st.binary(max_size=400),
)
def test_no_garbage_is_a_crash(path, start, data):
    report_of(path, start + data)
