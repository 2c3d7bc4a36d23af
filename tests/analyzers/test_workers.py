"""Work in several processes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from analyzers import workers


def length(path: str) -> int:
    return len(path)


def dies_of_seven(path: str) -> int:
    if path == "7":
        os.kill(os.getpid(), signal.SIGKILL)
    return int(path)


def never(path: str) -> int:
    return -1


def test_results_come_in_order() -> None:
    paths = ["x" * n for n in range(200)]
    assert list(workers.each(length, paths, never, jobs=2)) == list(range(200))
    assert list(workers.each(length, paths[:3], never)) == [0, 1, 2]


def test_a_process_that_dies_takes_one_file_with_it() -> None:
    paths = [str(n) for n in range(60)]
    expected = [-1 if n == 7 else n for n in range(60)]
    assert list(workers.each(dies_of_seven, paths, never, jobs=2)) == expected


SCRIPT = """
import os, sys, time
sys.path.insert(0, {root!r})
from analyzers import workers

def slow(path):
    open(path, "w").write(str(os.getpid()))
    time.sleep(60)

def main():
    list(workers.each(slow, [{folder!r} + "/" + str(n) for n in range(100)], slow, jobs=2))

if __name__ == "__main__":
    main()
"""


def alive(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False


def test_no_process_outlives_one_that_was_killed(tmp_path: Path) -> None:
    root = str(Path(workers.__file__).parent.parent)
    script = tmp_path / "script.py"
    folder = tmp_path / "pids"
    folder.mkdir()
    script.write_text(SCRIPT.format(root=root, folder=str(folder)))
    parent = subprocess.Popen([sys.executable, str(script)])
    deadline = time.monotonic() + 30
    while len(list(folder.iterdir())) < 2 and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.2)
    pids = [int(file.read_text()) for file in folder.iterdir()]
    assert len(pids) == 2
    parent.kill()
    parent.wait()
    deadline = time.monotonic() + 10
    while any(map(alive, pids)) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(map(alive, pids))
