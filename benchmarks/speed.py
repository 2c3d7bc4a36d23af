"""Time a scan beside ast-grep and ripgrep, on packages that anyone can download.

    python benchmarks/speed.py DIR [--rounds 5]

``DIR`` is made and filled once: the wheels ``transformers`` 4.56.2 and ``diffusers`` 0.42.1 from
PyPI, unpacked. Then, in turns, so that a busy machine is busy for all of them:

- ``cuda2mps scan --no-cache``, all rules; and with ``--layer device``;
- ``cuda2mps scan`` again after one edit, its cache filled before;
- ``ast-grep scan`` with rules for the device layer alone (``pip install ast-grep-cli``): one for
  each of ours, as in ``device_rules.py``; and six patterns that somebody in a hurry would write;
- ``rg -n -i cuda``.

Printed is the median of the wall time of each in seconds, the ratio to ours, and the most memory
that the processes of the scan take together. Output goes to nowhere.
"""

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

import device_rules

WHEELS = ("transformers==4.56.2", "diffusers==0.42.1")
OURS = (sys.executable, "-c", "from tui.cli import main; main()")
_SIX = {
    "six": (
        "$X.cuda($$$A)",
        '$X.to("cuda")',
        "torch.cuda.$F",
        "torch.backends.cudnn.$F",
        "torch.device($$$A)",
        '"cuda"',
    )
}


def fetch(folder: Path) -> Path:
    """The unpacked packages, downloaded if they are not there yet."""
    tree = folder / "tree"
    if not tree.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        pip = (sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:")
        subprocess.run((*pip, "-d", str(folder), *WHEELS), check=True)
        for wheel in folder.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(tree / wheel.name.split("-")[0])
    return tree


def rules(folder: Path, patterns: Mapping[str, Sequence[str]]) -> Path:
    """Rules for ast-grep in a folder of their own; the configuration that names them."""
    (folder / "rules").mkdir(parents=True, exist_ok=True)
    (folder / "rules" / "device.yml").write_text(device_rules.as_yaml(patterns))
    config = folder / "sgconfig.yml"
    config.write_text("ruleDirs: [rules]\n")
    return config


def timed(command: tuple[str, ...], cache: Path) -> float:
    """Seconds that a command takes.

    Raises:
        RuntimeError: the command fails with more than the status for "something was found".
    """
    environment = {**os.environ, "XDG_CACHE_HOME": str(cache)}
    # An installed program has been compiled to byte code, whatever this machine prefers.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = time.perf_counter()
    done = subprocess.run(
        command,
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=environment,
        check=False,
    )
    took = time.perf_counter() - started
    if done.returncode not in (0, 1):
        raise RuntimeError(f"{command[0]} ended with {done.returncode}")
    return took


def main() -> int:
    """Run all in turns and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    folder = options.folder.resolve()
    tree = fetch(folder)
    scan = (*OURS, "scan", str(tree), "--format", "json")
    edited = next(tree.rglob("training_utils.py"))
    with tempfile.TemporaryDirectory() as scratch:
        cache = Path(scratch)
        timed(scan, cache)
        time.sleep(3)  # A file that has just been written is read again, as git does it.
        timed(scan, cache)

        def warm() -> float:
            edited.write_bytes(edited.read_bytes() + b"# edited\n")
            return timed(scan, cache)

        tools: dict[str, Callable[[], float]] = {
            "cuda2mps scan --no-cache": lambda: timed((*scan, "--no-cache"), cache),
            "cuda2mps scan --no-cache --layer device": lambda: timed(
                (*scan, "--no-cache", "--layer", "device"), cache
            ),
            "cuda2mps scan, one edit": warm,
        }
        if shutil.which("ast-grep"):
            for name, patterns in (("all rules", device_rules.PATTERNS), ("six patterns", _SIX)):
                config = rules(folder / name.replace(" ", "-"), patterns)
                peer = ("ast-grep", "scan", "-c", str(config), str(tree), "--json=stream")
                tools[f"ast-grep scan, {name}"] = partial(timed, peer, cache)
        if shutil.which("rg"):
            tools["rg -n -i cuda"] = lambda: timed(("rg", "-n", "-i", "cuda", str(tree)), cache)
        seconds: dict[str, list[float]] = {name: [] for name in tools}
        for _round in range(options.rounds):
            for name, run in tools.items():
                seconds[name].append(run())
    ours = statistics.median(seconds["cuda2mps scan --no-cache"])
    print("| command | seconds | ratio |\n| --- | ---: | ---: |")
    for name, times in seconds.items():
        median = statistics.median(times)
        print(f"| {name} | {median:.2f} | {median / ours:.2f} |")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"\nThe largest process took {largest:.0f} MB.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
