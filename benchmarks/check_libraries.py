"""Ask the package index again what the table of libraries says about macOS arm64.

    python benchmarks/check_libraries.py bitsandbytes triton     # these rows
    python benchmarks/check_libraries.py --all                   # every row with a distribution

For each name pip is asked for a binary package alone, without its dependencies, as a Mac would
ask. A wheel for any platform is told apart from one for macOS: it installs, and may still hold
binaries for Linux. Nothing is installed and what is fetched is thrown away. Only an index is asked
here: whether a library computes anything on a Mac, only a Mac can show.

Exit status 1 when a row that rests on the index disagrees with it.
"""

import argparse
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzers.libraries import LIBRARIES, Basis, Library, OnMac

PLATFORM = "macosx_14_0_arm64"


def wheel_for(name: str, python: str, seconds: float = 300.0) -> str | None:
    """The file name of the wheel that a Mac would get, or None; raises when pip cannot say."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
        command += ["--disable-pip-version-check", "--only-binary", ":all:"]
        command += ["--platform", PLATFORM, "--python-version", python, "-d", folder, name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
        files = [path.name for path in Path(folder).iterdir()]
    if files:
        return files[0]
    if "No matching distribution" in done.stderr:
        return None
    raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "no answer")


def agrees(row: Library, wheel: str | None) -> bool:
    """Whether a row that rests on the index still fits what the index answers."""
    if row.basis is not Basis.INDEX:
        return True
    native = wheel is not None and "macosx" in wheel
    return native == (row.on_mac is OnMac.WORKS)


def main() -> int:
    """Print one line a name, as a table in Markdown."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", help="distributions to ask about")
    parser.add_argument("--all", action="store_true", help="ask about every row")
    parser.add_argument("--python", default="3.11", help="the Python that the Mac has")
    chosen = parser.parse_args()
    if not chosen.names and not chosen.all:
        parser.error("name distributions of the table, or say --all")
    rows = {name: row for row in LIBRARIES for name in row.distributions}
    unknown = [name for name in chosen.names if name not in rows]
    if unknown:
        parser.error(f"not in the table: {', '.join(unknown)}")
    today = datetime.now(timezone.utc).date()
    print(f"| distribution | table ({today}: asked again) | basis | wheel for {PLATFORM} | |")
    print("| --- | --- | --- | --- | --- |")
    wrong = 0
    for name in chosen.names or sorted(rows):
        row = rows[name]
        try:
            wheel = wheel_for(name, chosen.python)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            print(
                f"| {name} | {row.on_mac.value} | {row.basis.value} | not answered: {error} | ? |"
            )
            wrong += 1
            continue
        good = agrees(row, wheel)
        wrong += not good
        mark = "" if good else "look again"
        print(
            f"| {name} | {row.on_mac.value} | {row.basis.value} | {wheel or 'none'} | {mark} |",
            flush=True,
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
