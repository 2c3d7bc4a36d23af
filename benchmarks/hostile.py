"""Write a project that means harm, and see that a scan of it does none.

    python benchmarks/hostile.py DIR --count 10000 --seed 0 --scan

DIR/project becomes a git repository with that many damaged files of every kind that is read:
sources, notebooks, requirements, settings, scripts, documents, programs, archives, pickles, models.
Each begins as an example of a rule or a small binary and is then flipped, cut, spliced, nested,
stretched or filled with control characters, always the same for a seed. Some files, and the
repository's own git configuration, would leave a trace in DIR/trace if anything of them were run.

With ``--scan`` it is then scanned. Exit status 1 when that raised, took more than five seconds for
a file, left a trace, changed a file, or let a control character into what is printed.
"""

import argparse
import hashlib
import json
import os
import random
import re
import signal
import struct
import subprocess
import sys
import textwrap
import time
import traceback
import unicodedata
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzers.binaries.document import BinaryDocument
from analyzers.registry import rules
from analyzers.scan import ScanOptions, scan
from benchmarks import samples
from project import files
from project.workspace import Workspace
from reports import findings
from reports.session import Session
from rewriters.propose import Proposing, Style

SECONDS = 5.0
#: After so many seconds a file, or the session, is given up.
GIVEN_UP, SESSION_GIVEN_UP = 20, 300
#: A damaged file is cut here; a scan reads text files up to 2 MB.
LARGEST = 600_000

Seed = tuple[str, bytes]


# -- what the files begin as ----------------------------------------------------------------------


def text_seeds() -> list[Seed]:
    """Every example of every rule, and texts that are hard to read."""
    seeds = [
        (example.path, textwrap.dedent(example.text).encode())
        for one in rules()
        if not issubclass(one.reads, BinaryDocument)
        for example in one.examples
    ]
    two = 'import torch\nprint "on", x.cuda()\nexec "y = 1"\nexcept E, e:\n  raise E, "cuda:0"\n'
    cell = {"cell_type": "code", "source": ["!nvidia-smi\n", "x.cuda()\n"], "outputs": []}
    notebook = {"cells": [cell] * 3, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    readme = "# CUDA on a Mac\n\n```sh\nbrew install cuda\npip install torch==2.1+cu118\n```\n"
    binding = '#include <torch/extension.h>\nPYBIND11_MODULE(x, m) { m.def("f", &f); }\n'
    seeds += [
        ("two.py", two.encode()),
        ("notebook.ipynb", json.dumps(notebook).encode()),
        ("README.md", readme.encode()),
        ("bind.cpp", binding.encode()),
        ("settings.toml", b'[train]\ndevice = "cuda:0"\n[[stage]]\ngpus = 4\n'),
        ("kernel.cu", b"__global__ void f(float *x) { x[0] = 1; }\nvoid g() { f<<<1, 2>>>(0); }\n"),
    ]
    return seeds


def binary_seeds() -> list[Seed]:
    """A binary of every kind that is examined."""
    cuda = ("libcudart.so.12", "libc10_cuda.so", "libc.so.6")
    return [
        ("_C.so", samples.elf(cuda, name="_C", sections=(".text", ".nv_fatbin"))),
        ("tool", samples.elf(("libc.so.6",), kind=2)),
        ("kernel.cubin", samples.elf(machine=190)),
        ("old.dylib", samples.macho(0x01000007, ("/usr/local/cuda/lib/libcudart.dylib",))),
        ("both.so", samples.universal(samples.macho(), samples.macho(0x01000007))),
        ("op.pyd", samples.pe(("cudart64_110.dll", "KERNEL32.dll"), ("cublas64_11.dll",))),
        ("torch-2.1+cu118-cp310-cp310-linux_x86_64.whl", samples.wheel(["nvidia-cublas-cu11"])),
        ("best.pt", samples.checkpoint("cuda:0", "cpu")),
        ("old.pth", samples.legacy_checkpoint("cuda:0", "cuda:1")),
        ("net.ts", samples.program("cuda:0", "cuda:0")),
        ("array.pkl", b"\x80\x04ccupy._core.core\narray\n(K\x01K\x02tR."),
        ("net.onnx", samples.onnx([("", "Conv"), ("", "NMS_TRT"), ("trt", "x")], depth=2)),
        ("scan.ptx", b".version 7.4\n.target sm_86\n"),
        ("scan.fatbin", b"\x50\xed\x55\xba" + bytes(60)),
        ("yolo.engine", b"ftrt" + bytes(60)),
    ]


def bombs(trace: Path) -> list[Seed]:
    """Files that want memory, time, another folder, or to be run."""
    zeros = bytes(40_000_000)
    outside = {"../../outside.py": b"x.cuda()", "/etc/x/data.pkl": samples.state("cuda:0")}
    twice = BytesIO()
    with zipfile.ZipFile(twice, "w") as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that the name is there already
        for place in ("cpu", "cuda:0"):
            made.writestr(zipfile.ZipInfo("a/data.pkl"), samples.state(place))
    running = samples.running("posix.system", f"touch '{trace}/pickle'")
    opened = f"open({str(trace / 'opened')!r}, 'w').close()\n"
    return [
        ("bomb.pt", samples.archive({"a/data.pkl": zeros})),
        ("bomb-1.0-py3-none-any.whl", samples.archive({"a-1.dist-info/METADATA": zeros})),
        ("bomb.ts", samples.archive({"a/code/x.py": zeros, "a/constants.pkl": b"\x80\x02N."})),
        ("many.pt", samples.archive({f"a/data/{number}": b"" for number in range(20_000)})),
        ("outside.pt", samples.archive(outside)),
        ("twice.pt", twice.getvalue()),
        ("packed.pt", samples.archive({"a/data.pkl": zeros[:999_999]}, zipfile.ZIP_LZMA)),
        ("run.pkl", running),
        ("run.pt", samples.archive({"archive/data.pkl": running})),
        ("run_old.pt", samples.legacy_checkpoint("cuda:0") + running),
        ("eval.pkl", samples.running("builtins.exec", opened)),
        ("deep.pkl", b"\x80\x02" + b"(" * 200_000 + b"t" * 200_000 + b"."),
        ("long.pkl", b"\x80\x04\x8d" + b"\xff" * 7 + b"\x7f"),
        ("deep.onnx", samples.onnx([("", "x_TRT")], depth=2000)),
        ("setup.py", b"import os\nfrom setuptools import setup\n" + opened.encode()),
        ("conftest.py", opened.encode()),
        ("sitecustomize.py", opened.encode()),
        ("evil.pth", f"import os; {opened}".encode()),
        ("pyproject.toml", b'[build-system]\nrequires = []\nbuild-backend = "setup"\n'),
        ("deep.py", b"x = " + b"(" * 90_000 + b"y.cuda()" + b")" * 90_000),
        ("deep.json", b"[" * 90_000 + b'"cuda"' + b"]" * 90_000),
        ("deep.yaml", b"device: " + b"[" * 20_000 + b"cuda" + b"]" * 20_000),
        ("alias.yaml", b"a: &a [cuda]\n" + b"".join(b"b%d: [*a, *a]\n" % n for n in range(999))),
        ("long.py", b"x = [" + b"1, " * 150_000 + b"model.cuda()]\n"),
        ("number.py", b"x.to(" + b"9" * 400_000 + b").cuda()\n"),
        ("many.py", b"model.cuda()\n" * 30_000),
        ("chain.py", b"x" + b".cuda()" * 40_000),
        ("deep.ipynb", b'{"cells": [' + b'{"cells": [' * 20_000),
    ]


# -- what is done to them -------------------------------------------------------------------------

CONTROLS = (
    b"\x1b]0;owned\x07",
    b"\x1b[2J\x1b[1;1H",
    b"\x9b2J",
    b"\xc2\x9b31m",
    "\u202e".encode(),
    "\u2066cuda\u2069".encode(),
    "\u200b\ufeff".encode(),
    b"\x00",
    b"\xff\xfe\xc3",
    b"\xed\xa0\x80",
    b"\r",
    b"\x08\x08",
    b"\x0c",
    "\u2028".encode(),
)


def _somewhere(chance: random.Random, data: bytes) -> int:
    return chance.randrange(len(data) + 1)


def flip(chance: random.Random, data: bytes, other: bytes) -> bytes:
    out = bytearray(data or b"x")
    for _each in range(chance.randint(1, 12)):
        out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def cut(chance: random.Random, data: bytes, other: bytes) -> bytes:
    begin, end = sorted((_somewhere(chance, data), _somewhere(chance, data)))
    return data[:begin] if chance.random() < 0.5 else data[:begin] + data[end:]


def splice(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return data[: _somewhere(chance, data)] + other[_somewhere(chance, other) :]


def controls(chance: random.Random, data: bytes, other: bytes) -> bytes:
    for _each in range(chance.randint(1, 5)):
        place = _somewhere(chance, data)
        data = data[:place] + chance.choice(CONTROLS) + data[place:]
    return data


def repeat(chance: random.Random, data: bytes, other: bytes) -> bytes:
    begin = _somewhere(chance, data)
    end = min(len(data), begin + chance.randint(1, 40))
    times = chance.choice((3, 50, 2_000))
    return data[:begin] + data[begin:end] * times + data[end:]


def nest(chance: random.Random, data: bytes, other: bytes) -> bytes:
    before, after = chance.choice(((b"(", b")"), (b"[", b"]"), (b"{", b"}"), (b"f(", b")")))
    place, times = _somewhere(chance, data), chance.choice((20, 300, 5_000))
    return data[:place] + before * times + data[place:] + after * times


def one_line(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return data.replace(b"\n", chance.choice((b" ", b"; ", b"\r", b"\\n")))


def numbers(chance: random.Random, data: bytes, other: bytes) -> bytes:
    large = b"9" * chance.choice((20, 5_000, 60_000))
    return re.sub(rb"\d+", lambda _match: large, data, count=3)


def extremes(chance: random.Random, data: bytes, other: bytes) -> bytes:
    """A length, count or offset of a binary becomes an extreme one."""
    out = bytearray(data)
    for _each in range(chance.randint(1, 4)):
        size, form = chance.choice(((2, "<H"), (4, "<I"), (8, "<Q"), (4, ">I")))
        if len(out) > size:
            top = (1 << (8 * size)) - 1
            value = min(chance.choice((0, 1, top, top // 2, top - 8, len(data))), top)
            struct.pack_into(form, out, chance.randrange(len(out) - size), value)
    return bytes(out)


def wide(chance: random.Random, data: bytes, other: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(chance.choice(("utf-16", "utf-32", "utf-8-sig")))


MUTATIONS: tuple[Callable[[random.Random, bytes, bytes], bytes], ...] = (
    flip, cut, splice, controls, repeat, nest, one_line, numbers, extremes, wide,
)  # fmt: skip

ODD_NAMES = (
    "\x1b[2Jred", "\u202egnp", "a b", "-rf", "$(touch x)", "new\nline", "tab\there", "q'\"q",
    "\udcff\udcfe", "[b]bold[/b]", "{x}", "%s%n", "l" * 200,
)  # fmt: skip


def _name(chance: random.Random, number: int, path: str) -> str:
    """A name that is read as the same kind of file, in a folder of its own."""
    own = path.rpartition("/")[2]
    odd = chance.choice(ODD_NAMES) if chance.random() < 0.05 else ""
    return f"d{number % 97}/{odd}{number}/{own}"


def mutants(seed: int, count: int, trace: Path) -> Iterator[Seed]:
    """That many files, as path and content."""
    chance = random.Random(seed)
    texts, binaries, harmful = text_seeds(), binary_seeds(), bombs(trace)
    yield from harmful[:count]
    for number in range(max(count - len(harmful), 0)):
        path, data = chance.choice(chance.choice((texts, texts, binaries)))
        _other_path, other = chance.choice(chance.choice((texts, binaries)))
        for _each in range(chance.randint(1, 3)):
            data = chance.choice(MUTATIONS)(chance, data, other)[:LARGEST]
        yield _name(chance, number, path), data


# -- the repository -------------------------------------------------------------------------------

HOOKS = ("post-index-change", "fsmonitor-watchman", "pre-auto-gc", "post-checkout", "pre-commit")


def write(folder: Path, count: int, seed: int) -> Path:
    """Write the project into ``folder``, which must be empty or missing, and arm its traps."""
    root, trace, tools = folder / "project", folder / "trace", folder / "tools"
    for each in (root, trace, tools):
        each.mkdir(parents=True)
    for path, data in mutants(seed, count, trace):
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    git(root, "init", "--quiet")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=All", "--no-gpg-sign")
    _arm(root, trace, tools)
    # What looks touched has to be looked into by git, through the filters.
    for target in sorted(root.rglob("*.py"))[:20]:
        os.utime(target, (2, 2))
    return root


def git(root: Path, *arguments: str) -> bytes:
    """git as a person would run it, with everything that the repository configures."""
    # Cleaning up behind the scenes would look like harm that the scan does.
    who = ["-c", "user.name=x", "-c", "user.email=x@example.invalid", "-c", "gc.auto=0"]
    who += ["-c", "maintenance.auto=false"]
    done = subprocess.run(["git", *who, *arguments], cwd=root, capture_output=True, check=True)
    return done.stdout


def _arm(root: Path, trace: Path, tools: Path) -> None:
    def script(name: str) -> str:
        path = tools / name
        path.write_text(f"#!/bin/sh\necho ran >> '{trace}/{name}'\ncat 2>/dev/null\nexit 0\n")
        path.chmod(0o755)
        return str(path)

    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "diff.external",
        "diff.x.textconv", "diff.x.command", "filter.x.clean", "filter.x.smudge",
        "filter.y.process", "pager.ls-files", "gpg.program", "credential.helper",
    ):  # fmt: skip
        git(root, "config", key, script(key))
    for hook in HOOKS:
        (root / ".git" / "hooks").mkdir(exist_ok=True)
        (root / ".git" / "hooks" / hook).symlink_to(script(f"hook-{hook}"))
    (root / ".git" / "info").mkdir(exist_ok=True)
    (root / ".git" / "info" / "attributes").write_text(
        "*.py filter=x diff=x\n*.txt filter=y\n", encoding="utf-8"
    )


# -- the scan -------------------------------------------------------------------------------------


@dataclass
class Outcome:
    """What a scan of the project did."""

    files: int = 0
    findings: int = 0
    skipped: int = 0
    slowest: tuple[float, str] = (0.0, "")
    crashes: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)
    traces: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    controls: list[str] = field(default_factory=list)

    def harm(self) -> list[str]:
        """Everything that must not happen, a line each."""
        return [
            f"{what}: {one}"
            for what in ("crashes", "slow", "traces", "changed", "controls")
            for one in getattr(self, what)
        ]


def contents(root: Path) -> dict[str, str]:
    """The SHA-256 of each file, git's own included, and all but the program's own state."""
    return {
        str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.relative_to(root).parts[:2] != (".git", "cuda2mps")
    }


def examine(root: Path) -> Outcome:
    """Scan each file alone, with a clock beside it, then all as a session does."""
    outcome = Outcome()
    before = contents(root)
    signal.signal(signal.SIGALRM, _give_up)
    workspace = Workspace.open(root)
    options = replace(ScanOptions.from_config(workspace.config), jobs=1, cache=False)
    then = Proposing(Style(workspace.config.style))
    for path in files.listed(workspace)[0]:
        start = time.perf_counter()
        signal.alarm(GIVEN_UP)
        try:
            for report in scan(workspace, options, [path], then):
                outcome.findings += len(report.findings)
                outcome.skipped += len(report.skipped)
        except Exception:
            outcome.crashes.append(f"{path!r}: {traceback.format_exc(limit=-5)}")
        signal.alarm(0)
        seconds = time.perf_counter() - start
        outcome.files += 1
        outcome.slowest = max(outcome.slowest, (seconds, repr(path)))
        if seconds > SECONDS:
            outcome.slow.append(f"{path!r}: {seconds:.1f} s")
    signal.alarm(SESSION_GIVEN_UP)
    try:
        session = Session.open(root, replace(options, jobs=None))
        session.scan()
        for write_out in (
            findings.as_text,
            findings.as_json,
            findings.as_sarif,
            findings.as_github,
        ):
            text = (
                write_out(session, 100, False)
                if write_out is findings.as_text
                else write_out(session)
            )
            outcome.controls += [
                f"{write_out.__name__}: {one!r}" for one in sorted(_controls(text))
            ]
    except Exception:
        outcome.crashes.append(f"the session: {traceback.format_exc(limit=-5)}")
    signal.alarm(0)
    after = contents(root)
    outcome.changed = [one for one in {**before, **after} if before.get(one) != after.get(one)]
    outcome.traces = sorted(path.name for path in (root.parent / "trace").iterdir())
    return outcome


def _give_up(_signal: int, _frame: object) -> None:
    raise TimeoutError


def _controls(text: str) -> set[str]:
    return {one for one in set(text) if one != "\n" and unicodedata.category(one) in ("Cc", "Cf")}


def main() -> int:
    """Write, and scan if asked to."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, metavar="DIR", help="a folder that does not exist yet")
    parser.add_argument("--count", type=int, default=10_000, help="how many files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scan", action="store_true", help="scan it, and say what that did")
    chosen = parser.parse_args()
    root = write(chosen.folder.resolve(), chosen.count, chosen.seed)
    print(f"{chosen.count} files in {root}")
    if not chosen.scan:
        return 0
    outcome = examine(root)
    seconds, path = outcome.slowest
    print(f"{outcome.files} files, {outcome.findings} findings, {outcome.skipped} skipped")
    print(f"slowest: {seconds:.2f} s, {path}")
    for line in outcome.harm():
        print(line)
    return 1 if outcome.harm() else 0


if __name__ == "__main__":
    raise SystemExit(main())
