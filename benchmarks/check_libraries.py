"""Ask the package index again what the table of libraries says about macOS arm64.

    python benchmarks/check_libraries.py bitsandbytes triton     # these names
    python benchmarks/check_libraries.py --all                   # every row with a distribution

A maintainer runs it with ``--all`` before a release; while working on a row its own name is
enough. pip is asked as a Mac would ask: for a binary package alone, without its dependencies and
without installing anything (``--dry-run``), so that no build script of a library ever runs. A
wheel for any platform is told apart from one for macOS: it installs, and may still need binaries
that only Linux has, which is why NVIDIA's packages among its dependencies are listed too. Only an
index is asked here: whether a library computes anything on a Mac, only a Mac can show.

Rows that rest on documentation are shown beside what the index has, and marked where that speaks
against them. Exit status 1 when a row disagrees with the index, or pip could not say.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzers.libraries import Library, OnMac, Wheel, rows

PLATFORM = "macosx_14_0_arm64"
_NVIDIA = re.compile(r"(?:nvidia|cuda|cupy|cudf|tensorrt|triton)[\w-]*|[\w-]+-cu\d+x?\b")


@dataclass(frozen=True)
class Answer:
    """What the index offers to a Mac: the kind of wheel, its file, and what it asks of NVIDIA."""

    wheel: Wheel
    file: str = ""
    asks_for: tuple[str, ...] = ()


def answer_of(report: dict[str, object]) -> Answer:
    """What pip's installation report says about the one package in it."""
    (package,) = report["install"]
    file = str(package["download_info"]["url"]).rpartition("/")[2]
    native = re.search(r"-macosx_\d+_\d+_(?:arm64|universal2)\.whl\Z", file) is not None
    needed = (
        _NVIDIA.match(line)
        for line in package["metadata"].get("requires_dist", ())
        if "extra ==" not in line
    )
    names = tuple(sorted({found[0] for found in needed if found is not None}))
    return Answer(Wheel.NATIVE if native else Wheel.ANY, file, names)


def ask(name: str, python: str, seconds: float = 300.0) -> Answer:
    """Ask pip for one distribution as a Mac would; RuntimeError when it cannot say."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder, "report.json")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--no-deps"]
        command += ["--disable-pip-version-check", "--ignore-installed", "--report", str(report)]
        command += ["--only-binary", ":all:", "--platform", PLATFORM, "--python-version", python]
        command += ["--target", str(Path(folder, "target")), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        if done.returncode == 0:
            return answer_of(json.loads(report.read_text(encoding="utf-8")))
    if "No matching distribution" in done.stderr:
        return Answer(Wheel.NONE)
    lines = done.stderr.strip().splitlines()
    raise RuntimeError(lines[-1] if lines else "no answer")


def disagreement(row: Library, name: str, answer: Answer) -> str:
    """How the index's answer speaks against a row, in a few words; empty where it does not."""
    if row.index is not None and name == row.distributions[0]:
        # Only wheels are asked for: nothing is said of sources.
        if answer.wheel is (Wheel.NONE if row.index is Wheel.NOTHING else row.index):
            return ""
        return f"the table says {row.index.value}"
    if answer.wheel is Wheel.NATIVE and row.on_mac is OnMac.CUDA_ONLY:
        return "there is a wheel for macOS"
    if answer.wheel is not Wheel.NONE and answer.asks_for and row.on_mac is OnMac.WORKS:
        return "it asks for packages of NVIDIA"
    return ""


def asked_for(names: Sequence[str], everything: bool) -> dict[str, Library]:
    """The rows to ask about, by name; every row's first name for ``everything``."""
    if everything:
        return {row.distributions[0]: row for row in rows() if row.distributions}
    table = {name: row for row in rows() for name in row.distributions}
    unknown = [name for name in names if name not in table]
    if unknown:
        raise KeyError(", ".join(unknown))
    return {name: table[name] for name in names}


def main() -> int:
    """Print one line a name, as a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="distributions to ask about")
    parser.add_argument("--all", action="store_true", help="ask about every row")
    parser.add_argument("--python", default="3.12", help="the Python that the Mac has")
    chosen = parser.parse_args()
    if not chosen.names and not chosen.all:
        parser.error("name distributions of the table, or say --all")
    try:
        wanted = asked_for(chosen.names, chosen.all)
    except KeyError as error:
        parser.error(f"not in the table: {error.args[0]}")
    today = datetime.now(timezone.utc).date()
    print(f"| distribution | on a Mac | basis, date | index on {today}, {PLATFORM} | |")
    print("| --- | --- | --- | --- | --- |")
    wrong = 0
    for name, row in wanted.items():
        try:
            answer = ask(name, chosen.python)
            offered = " ".join((answer.file or answer.wheel.value, *answer.asks_for))
            mark = disagreement(row, name, answer)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            offered, mark = "?", f"not answered: {error}"
        wrong += bool(mark)
        checked = f"{row.basis.value}, {row.checked}"
        print(f"| {name} | {row.on_mac.value} | {checked} | {offered} | {mark} |", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
