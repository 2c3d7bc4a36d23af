"""Count CUDA kernels and launches a second way, and compare.

    python benchmarks/count_kernels.py CLONE...

For each clone it prints how many kernels (``__global__`` functions with a body) and launches the
rules K201 and K202 name, and how many a count that shares no code with them finds. That count
takes the files that git tracks and whose suffix is one of CUDA or C++, has Pygments split each
into tokens, drops comments, strings and white space, and reads what is left in order:

- a kernel is ``__global__`` with a ``{`` before the next ``;`` outside of parentheses and before
  the next ``__global__``;
- a launch is three ``<`` in a row, not more, where a ``>>>`` with a ``(`` behind it follows; or the
  name of a launching function of CUDA's runtime, its driver or CUTLASS, with a ``(`` behind it.

Each place where only one of the two counts has something is printed with its line; the exit
status is 1 if there is one.
"""

import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from pygments.lexers.c_like import CudaLexer  # type: ignore[import-untyped]
from pygments.token import (  # type: ignore[import-untyped]
    Comment,
    String,
    Text,
    Token,
    Whitespace,
)

sys.path.insert(0, str(Path(__file__).parent.parent))

from analyzers.examine import examine
from analyzers.registry import rules

SUFFIXES = (
    *(".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c++", ".h", ".hpp", ".hh", ".hxx", ".h++"),
    *(".inl", ".ipp", ".tpp"),
)
LAUNCHERS = {
    *("cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchKernelEx"),
    *("cudaLaunchCooperativeKernel", "cudaLaunchCooperativeKernelMultiDevice"),
    *("cuLaunchKernel", "cuLaunchKernelEx", "cuLaunchCooperativeKernel"),
}
RULES = [one for one in rules() if one.code in ("K201", "K202")]
Place = tuple[int, str]


def main(clones: Sequence[str]) -> int:
    """Print the table for these clones, and every place where the counts differ."""
    differences: list[str] = []
    print("| repository | commit | files | K201 | counted | K202 | counted |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for clone in map(Path, clones):
        totals = [0, 0, 0, 0]
        files = 0
        for path in tracked(clone):
            data = (clone / path).read_bytes()
            if not any(word in data for word in (b"__global__", b"<<<", b"<< <", b"aunch")):
                continue
            counts = (*named(path, data), *counted(data))
            files += any(counts)
            for index, places in enumerate((counts[0], counts[2], counts[1], counts[3])):
                totals[index] += len(places)
            for what, one, other in zip(("kernel", "launch"), counts[:2], counts[2:], strict=True):
                differences.extend(
                    f"{clone.name}/{path}:{line}: {what}: {who} alone"
                    for who, mine, theirs in (("cuda2mps", one, other), ("count", other, one))
                    for line in mine
                    if line not in theirs
                )
        print(f"| {clone.name} | {commit(clone)} | {files} | {' | '.join(map(str, totals))} |")
    print(*differences, sep="\n")
    return 1 if differences else 0


def tracked(clone: Path) -> list[str]:
    """The CUDA and C++ files that git tracks, without links."""
    run = ["git", "-c", "core.fsmonitor=", "-C", str(clone), "ls-files", "-z"]
    names = subprocess.run(run, capture_output=True, check=True).stdout.decode().split("\0")
    return [
        name
        for name in names
        if name.lower().endswith(SUFFIXES)
        and (clone / name).is_file()
        and not (clone / name).is_symlink()
    ]


def commit(clone: Path) -> str:
    """The commit that is checked out, shortened."""
    run = ["git", "-C", str(clone), "rev-parse", "--short=10", "HEAD"]
    return subprocess.run(run, capture_output=True, check=True).stdout.decode().strip()


def named(path: str, data: bytes) -> tuple[list[int], list[int]]:
    """The lines of the kernels and launches that the rules name: of the word, not the start."""
    kernels: list[int] = []
    launches: list[int] = []
    for finding in examine(path, data, RULES).findings:
        if finding.rule == "K201":
            kernels.append(data.index(b"__global__", finding.start, finding.end))
        else:
            chevrons = re.compile(rb"<<\s?<").search(data, finding.start, finding.end)
            launches.append(chevrons.start() if chevrons else finding.start)
    return _lines(data, kernels), _lines(data, launches)


def _lines(data: bytes, offsets: Sequence[int]) -> list[int]:
    return [data.count(b"\n", 0, offset) + 1 for offset in offsets]


def counted(data: bytes) -> tuple[list[int], list[int]]:
    """The lines of the kernels and launches that the tokens of Pygments show."""
    tokens = list(_tokens(data.decode("utf-8", "replace")))
    kernels = [line for index, (line, word) in enumerate(tokens) if _is_kernel(tokens, index, word)]
    launches = [line for index, (line, word) in enumerate(tokens) if _is_launch(tokens, index)]
    return kernels, launches


def _tokens(text: str) -> Iterator[Place]:
    """Words and single characters of the code, each with its line."""
    line = 1
    for kind, value in CudaLexer(stripnl=False, ensurenl=False).get_tokens(text):
        start = line
        line += value.count("\n")
        if kind in String or kind in Text or kind in Whitespace:
            continue
        if kind in Comment:
            # Pygments calls a whole #define a comment of its own kind: read what is in it.
            if kind in Comment.Preproc and "/*" not in value:
                for number, part in enumerate(value.split("\n")):
                    yield from ((start + number, word) for word in _words(part))
            continue
        assert kind in Token
        yield from ((start, word) for word in _words(value))


def _words(text: str) -> Iterator[str]:
    word = ""
    for character in text:
        if character.isalnum() or character == "_":
            word += character
            continue
        if word:
            yield word
        word = ""
        if not character.isspace() and character != "\\":
            yield character
    if word:
        yield word


def _is_kernel(tokens: Sequence[Place], index: int, word: str) -> bool:
    if word != "__global__":
        return False
    depth = 0
    for _line, after in tokens[index + 1 : index + 2000]:
        depth += (after == "(") - (after == ")")
        if after == "{" and depth == 0:
            return True
        if (after == ";" and depth == 0) or after == "__global__":
            return False
    return False


def _is_launch(tokens: Sequence[Place], index: int) -> bool:
    word = tokens[index][1]
    following = [after for _line, after in tokens[index + 1 : index + 400]]
    if word in LAUNCHERS:
        return following[:1] == ["("]
    if word == "ClusterLauncher":
        return following[:3] == [":", ":", "launch"]
    if word == "kernel_launch":
        return following[:1] == ["<"] and tokens[index - 3][1] == "cutlass"
    if word != "<" or following[:2] != ["<", "<"] or following[2:3] == ["<"]:
        return False
    if index and tokens[index - 1][1] == "<":
        return False
    for place in range(2, len(following) - 3):
        if following[place] in (";", "#"):
            return False
        if following[place : place + 4] == [">", ">", ">", "("]:
            return True
    return False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
