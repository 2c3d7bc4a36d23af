"""Ask of ports that people made by hand: do rewrites change the lines that people had to change?

    python benchmarks/replay_rewrites.py CLONES_DIR LIST.json [--table FILE.md] [--show] [--whole]

``CLONES_DIR`` and ``LIST.json`` are those of ``replay_ports.py``. How a line is counted is written
down in ``docs/rewrites.md``. ``--show`` prints every line that is not settled. ``--whole`` also
checks out each parent, and asks the program itself: ``git apply --check`` takes the patch, every
file parses as before, ``diff`` after ``apply`` is empty, every finding that was fixed is gone and
there is no new one.

Nothing of a clone is executed, and git is asked with its configuration switched off. Exit status 1
when fewer lines are settled than wanted, or ``--whole`` finds something.
"""

import argparse
import ast
import difflib
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from replay_ports import _changed, _python_files, _texts, clone_of, judge

from analyzers.examine import examine
from analyzers.registry import rules
from project.errors import UserError
from project.git import Git
from project.vocabulary import Finding, Fix
from rewriters.combine import combine
from rewriters.propose import Style, propose

WANTED, WANTED_SAFE = 0.80, 0.45

# -- the judge -------------------------------------------------------------------------------

_ASKS = re.compile(
    r"is_available|use_cuda|no_cuda|\bcuda\b|is_cuda|device_count|gpu|GPU|CUDA|use_gpu|mps"
)
_HARMLESS = re.compile(
    r"torch\.cuda\.(?:is_available|device_count|manual_seed(?:_all)?|seed(?:_all)?|empty_cache|"
    r"is_bf16_supported|is_initialized|(?:max_)?memory_(?:allocated|reserved)|memory_stats)\Z"
    r"|torch\.backends\.c(?:udnn|uda)\b.*"
)
_DEVICE = re.compile(r"cuda(?::.*)?\Z", re.DOTALL)


def wrong_places(text: str, lines: set[int]) -> list[str]:
    """The places on these lines that name CUDA and do not hold on all three machines.

    Args:
        text: a Python text.
        lines: numbers of lines, from 1.

    Raises:
        SyntaxError: the text does not parse.
    """
    tree = ast.parse(text)
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    wrong = []
    for node in ast.walk(tree):
        where = getattr(node, "lineno", None)
        if where is None or not lines & set(range(where, (node.end_lineno or where) + 1)):
            continue
        kind = _kind(node, parents)
        holds = {"placing": _is_chosen, "calling": _is_guarded}.get(kind or "")
        if holds is not None and not holds(node, parents):
            wrong.append(ast.unparse(node))
    return wrong


def _kind(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> str | None:
    parent = parents.get(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if node.value == "nccl":
            return None if _is_question(node, parents) else "calling"
        if not _DEVICE.match(node.value) or _is_question(node, parents):
            return None
        if isinstance(parent, ast.Expr):
            return None
        return "calling" if _in_amp(node, parents) else "placing"
    if isinstance(node, ast.Attribute):
        name = ast.unparse(node)
        if isinstance(parent, ast.Attribute) and name.startswith("torch."):
            return None
        if re.match(r"torch\.cuda\.\w*Tensor\Z", name):
            return "placing"
        if name.startswith("torch.cuda.amp."):
            return "calling"
        if name.startswith(("torch.cuda.", "torch.backends.cud")):
            return None if _HARMLESS.match(name) else "calling"
        if node.attr == "cuda" and isinstance(parent, ast.Call) and parent.func is node:
            return "placing"
    return None


def _ancestors(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> Iterator[tuple[ast.AST, ast.AST]]:
    child, parent = node, parents.get(node)
    while parent is not None:
        yield child, parent
        child, parent = parent, parents.get(parent)


def _is_question(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a string is compared, looked up, looked for or described, and is no device here."""
    for child, parent in _ancestors(node, parents):
        if isinstance(parent, ast.Compare) or (
            isinstance(parent, ast.Dict) and child in parent.keys
        ):
            return True
        if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Attribute):
            return parent.func.attr in ("startswith", "endswith", "replace", "split", "find")
        if isinstance(parent, (ast.stmt, ast.IfExp, ast.Call)):
            return False
    return False


def _in_amp(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    parent = parents.get(node)
    if isinstance(parent, ast.keyword):
        parent = parents.get(parent)
    return (
        isinstance(parent, ast.Call)
        and re.search(r"(?:autocast|GradScaler|custom_fwd|custom_bwd)\Z", ast.unparse(parent.func))
        is not None
    )


def _is_guarded(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a condition around a node, or the ``enabled`` of a call, asks for CUDA first."""
    for child, parent in _ancestors(node, parents):
        asked: ast.AST | None = None
        if isinstance(parent, (ast.If, ast.IfExp)) and child is not parent.test:
            asked = parent.test
        elif isinstance(parent, ast.BoolOp) and child is not parent.values[0]:
            asked = parent.values[0]
        elif isinstance(parent, ast.Call) and child is not parent.func:
            asked = next((one.value for one in parent.keywords if one.arg == "enabled"), None)
        if asked is not None and _ASKS.search(ast.unparse(asked)):
            return True
    return False


def _is_chosen(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    """Whether a node is the CUDA branch of a choice that has one for MPS too."""
    for child, parent in _ancestors(node, parents):
        asks = _ASKS.search(ast.unparse(getattr(parent, "test", parent))) is not None
        inside = child is not getattr(parent, "test", None)
        if isinstance(parent, ast.IfExp) and inside and asks and "mps" in ast.unparse(parent):
            return True
        if isinstance(parent, ast.If) and inside:
            rest = "".join(ast.unparse(one) for one in [*parent.body, *parent.orelse])
            if asks and ("mps" in rest or ".to(" in rest.replace(ast.unparse(child), "")):
                return True
        if isinstance(parent, (ast.List, ast.Tuple, ast.Set)) and "mps" in ast.unparse(parent):
            return True
    return False


# -- the ports -------------------------------------------------------------------------------


@dataclass
class Replay:
    """What one port gave."""

    repo: str
    commit: str
    absent: str = ""
    lines: int = 0
    before: int = 0
    changed: int = 0
    settled: int = 0
    safe: int = 0
    untold: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def replay(clones: Path, port: dict[str, Any]) -> Replay:
    """Judge what rewrites do to the lines that a port changed."""
    result = Replay(port["repo"], port["commit"])
    path = clone_of(clones, port["repo"])
    if path is None:
        result.absent = "no clone"
        return result
    git = Git(path, path)
    try:
        for one in (port["parent"], port["commit"]):
            git.run("cat-file", "-e", one + "^{commit}")
        changed = _changed(git, port["parent"], port["commit"], [])
    except UserError:
        result.absent = "commit is not in the clone"
        return result
    for name, data in _python_files(git, port["parent"]):
        if name in changed:
            _one_file(result, name, data, changed[name])
    return result


def _one_file(result: Replay, name: str, data: bytes, lines: set[int]) -> None:
    findings = examine(name, data, rules()).findings
    made = propose(name, data, findings, Style())
    safe = combine(data, [one for one in made if one.fix is Fix.SAFE])
    full = combine(data, made)
    old = list(_texts(name, data, lines))
    cautious = {cell: text for cell, text, _lines in _texts(name, safe, set())}
    complete = {cell: text for cell, text, _lines in _texts(name, full, set())}
    for cell, text, mine in old:
        naming = sorted(mine & judge(text).naming)
        if not naming:
            continue
        told = [one for one in findings if one.cell == cell]
        first = _Compared(text, cautious[cell])
        both = _Compared(text, complete[cell])
        for line in naming:
            _one_line(result, f"{name}:{line}", line, first, both, told)


def _one_line(
    result: Replay,
    where: str,
    line: int,
    safe: "_Compared",
    both: "_Compared",
    findings: Sequence[Finding],
) -> None:
    result.lines += 1
    result.safe += line in safe.changed and not safe.wrong(line)
    source = both.old[line - 1].strip()
    if line in both.changed:
        result.changed += 1
        wrong = both.wrong(line)
        result.settled += not wrong
        if wrong:
            result.left.append(f"{where}: CHANGED, BUT {wrong}: {source}")
        return
    if not both.wrong(line):
        result.before += 1
        return
    mine = [one for one in findings if one.line <= line <= one.end_line]
    codes = ",".join(sorted({one.rule for one in mine}))
    result.left.append(f"{where}: {codes or 'NOTHING'}: {source}")
    if not mine:
        result.untold.append(where)


class _Compared:
    """A text before and after."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old.splitlines(), new.splitlines()
        self.text = new
        self.changed: dict[int, set[int]] = {}
        self.same: dict[int, int] = {}
        matcher = difflib.SequenceMatcher(None, self.old, self.new, autojunk=False)
        for kind, a, b, c, d in matcher.get_opcodes():
            for line in range(a, b):
                if kind == "equal":
                    self.same[line + 1] = c + line - a + 1
                else:
                    self.changed[line + 1] = set(range(c + 1, d + 1))

    def wrong(self, line: int) -> list[str]:
        """The places that do not hold on the lines that one line became."""
        lines = self.changed.get(line) or {self.same.get(line, 0)}
        try:
            return wrong_places(self.text, lines)
        except SyntaxError:
            return ["does not parse"]


# -- the program itself ----------------------------------------------------------------------

OURS = (sys.executable, "-c", "from tui.cli import main; main()")


def whole(clones: Path, port: dict[str, Any]) -> list[str]:
    """What goes wrong when the program itself rewrites a port's parent."""
    path = clone_of(clones, port["repo"])
    assert path is not None
    faults: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        ask = partial(_ask, tree)
        subprocess.run(["git", "clone", "-q", "--shared", "-n", str(path), str(tree)], check=True)
        checkout = ask("git", "-c", "advice.detachedHead=false", "checkout", "-q", port["parent"])
        if checkout.returncode:
            return [f"cannot be checked out: {checkout.stderr.decode()[-200:]}"]
        scanned = json.loads(ask(*OURS, "scan", "--format", "json", "--no-cache").stdout)
        patch = ask(*OURS, "diff", "--review").stdout
        (Path(folder) / "patch").write_bytes(patch)
        if patch:
            checked = ask("git", "apply", "--check", str(Path(folder) / "patch"))
            if checked.returncode:
                faults.append(f"git apply --check: {checked.stderr.decode()[:300]}")
            parsed = _parsing(tree)
            applied = ask(*OURS, "apply", "--review")
            if applied.returncode:
                return [*faults, f"apply: {applied.stderr.decode()[:300]}"]
            faults.extend(f"no longer parses: {one}" for one in sorted(parsed - _parsing(tree)))
            again = ask(*OURS, "diff", "--review").stdout
            if again:
                faults.append(f"diff after apply: {again[:300]!r}")
            after = json.loads(ask(*OURS, "scan", "--format", "json", "--no-cache").stdout)
            faults.extend(_new(scanned, after))
    return faults


def _ask(tree: Path, *command: str) -> "subprocess.CompletedProcess[bytes]":
    home = str(Path(__file__).resolve().parent.parent)
    environment = {**os.environ, "PYTHONPATH": home, "GIT_LFS_SKIP_SMUDGE": "1"}
    return subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)


def _parsing(tree: Path) -> set[str]:
    found = set()
    for path in tree.rglob("*.py"):
        try:
            ast.parse(path.read_bytes())
        except (SyntaxError, ValueError, OSError):
            continue
        found.add(str(path.relative_to(tree)))
    return found


def _new(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Findings that are more than cosmetic and of which a file has more than it had."""
    counts = [
        Counter(
            (one["path"], one["rule"])
            for one in scanned["findings"]
            if one["severity"] != "cosmetic"
        )
        for scanned in (before, after)
    ]
    for key in counts[1] - counts[0]:
        yield f"new finding: {key[0]} {key[1]}"


# -- what is printed -------------------------------------------------------------------------


def table(results: Sequence[Replay]) -> str:
    """A table in Markdown, one row a port, the sum below."""
    rows = [
        "| repository | commit | lines naming CUDA | right before | changed | settled | safe |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for one in results:
        rest = (
            f"{one.lines} | {one.before} | {one.changed} | {one.settled} | {one.safe}"
            if not one.absent
            else f"{one.absent} | | | | "
        )
        rows.append(f"| {one.repo} | {one.commit[:8]} | {rest} |")
    lines, before = sum(one.lines for one in results), sum(one.before for one in results)
    changed = sum(one.changed for one in results)
    settled, safe = sum(one.settled for one in results), sum(one.safe for one in results)
    rows.append(
        f"| **all** | | **{lines}** | {before} | {_share(changed, lines)} | "
        f"**{_share(settled, lines)}** | **{_share(safe, lines)}** |"
    )
    need = lines - before
    rows.append(
        f"| without those that were right before | | {need} | | {_share(changed, need)} | "
        f"{_share(settled, need)} | {_share(safe, need)} |"
    )
    return "\n".join(rows) + "\n"


def _share(part: int, lines: int) -> str:
    return f"{part} ({100 * part / lines:.1f} %)" if lines else "0"


def main() -> int:
    """Replay the ports of a list and say what was settled and what was not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("--table", type=Path, help="write the table here")
    parser.add_argument("--show", action="store_true", help="print every line not settled")
    parser.add_argument("--whole", action="store_true", help="ask the program itself too")
    chosen = parser.parse_args()
    results = []
    for port in json.loads(chosen.list.read_text("utf-8")):
        result = replay(chosen.clones, port)
        if chosen.whole and not result.absent:
            result.faults = whole(chosen.clones, port)
        results.append(result)
        share = result.absent or f"{result.settled}/{result.lines}"
        print(f"{result.repo} {result.commit[:8]}: {share}", flush=True)
        for line in [*result.faults, *(f"not told: {one}" for one in result.untold)]:
            print(f"  {line}")
        for line in result.left if chosen.show else ():
            print(f"  left {line}")
    text = table(results)
    print(text)
    if chosen.table is not None:
        chosen.table.write_text(text, "utf-8")
    lines = sum(one.lines for one in results)
    settled, safe = sum(one.settled for one in results), sum(one.safe for one in results)
    short = settled < WANTED * lines or safe < WANTED_SAFE * lines
    return int(short or any(one.faults or one.untold for one in results))


if __name__ == "__main__":
    sys.exit(main())
