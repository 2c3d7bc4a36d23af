"""Draw findings at random for a judge who does not see how they are graded, and compare.

    python benchmarks/precision.py draw CLONES_DIR OUT_DIR --seed N [--count 200] [--context 12]
    python benchmarks/precision.py compare OUT_DIR [--table FILE.tsv] [--summary FILE.md]

``draw`` scans every working tree in ``CLONES_DIR`` (named ``owner+name``) and draws ``--count``
findings, as many from each repository as from any other; one that has fewer gives all, and the
others share the rest. Within a repository the draw is random, but at most a third of it may come
from one rule, as far as there are others. It writes

- ``sheet.md``, for the judge: repository, commit, place, the text found, the claim and the lines
  around it; neither the rule nor its layer nor the severity;
- ``verdicts.tsv``, for the judge to fill in: ``true`` (``yes`` or ``no``: is the sentence right,
  and is the place more than a mention of CUDA), ``layer``, ``severity`` and ``why``;
- ``key.tsv``: how the tool grades each; not to be opened before the verdicts are written.

The severities, as the judge applies them to a Mac:

- ``blocks``: the step that the place belongs to fails there when it is reached;
- ``degrades``: it runs, but slower, elsewhere or wrong; or it fails with some inputs alone, such as
  a checkpoint that was saved on CUDA, or for those alone who ask for it, such as an extra;
- ``cosmetic``: nothing depends on it there. A flag, a count or a question about CUDA is cosmetic in
  itself, unless the program stops or a device is chosen by it: what it lets through is judged at
  its own place. So is a test that is skipped without CUDA, a directive for a batch system, and a
  command in a text for readers, unless it installs something (``degrades``).

``compare`` joins the two. A finding counts as right when it is true, in the layer and of the
severity that the judge named. Exit status 1 when less than 97 % are right.

The same trees, seed and version of the tool give the same draw. Nothing of a clone is executed.
"""

import argparse
import csv
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzers.scan import ScanOptions, scan
from project.vocabulary import Finding, Layer, Severity
from project.workspace import Workspace

WANTED = 0.97
LONGEST = 400

KEY = ("number", "rule", "layer", "severity", "fix")
PLACE = ("number", "repository", "commit", "path", "cell", "line", "column", "text", "message")
VERDICT = ("number", "true", "layer", "severity", "why")

Row = dict[str, str]


# -- drawing ---------------------------------------------------------------------------------


def findings_of(tree: Path) -> list[Finding]:
    """Every finding of a working tree, in an order that does not depend on the processes.

    Raises:
        UserError: the directory cannot be read, or git refuses it.
    """
    reports = scan(Workspace.open(tree), ScanOptions(cache=False))
    found = (finding for report in reports for finding in report.findings)
    return sorted(found, key=lambda one: (one.path, one.start, one.end, one.rule, one.id))


def shares(available: Sequence[int], count: int) -> list[int]:
    """How many to draw from each of several stocks, as evenly as they allow."""
    drawn = [0] * len(available)
    left = min(count, sum(available))
    while left:
        for index, stock in enumerate(available):
            if left and drawn[index] < stock:
                drawn[index] += 1
                left -= 1
    return drawn


def draw(findings: Sequence[Finding], count: int, chance: random.Random) -> list[Finding]:
    """``count`` findings at random, at most a third of one rule as far as there are others."""
    most = max(1, -(-count // 3))
    mixed = chance.sample(list(findings), len(findings))
    taken: list[Finding] = []
    spare: list[Finding] = []
    rules: Counter[str] = Counter()
    for one in mixed:
        rules[one.rule] += 1
        (taken if rules[one.rule] <= most else spare).append(one)
    return (taken + spare)[:count]


def _source(tree: Path, finding: Finding) -> list[str]:
    """The lines of the file, or notebook cell, that a finding lies in; a binary has none."""
    data = (tree / finding.path).read_bytes()
    if b"\0" in data[:8192]:
        return []
    text = data.decode("utf-8", "replace")
    if finding.cell is None or not finding.path.endswith(".ipynb"):
        return text.splitlines()
    notebook = json.loads(text)
    cells = [one for one in notebook.get("cells", ()) if one.get("cell_type") == "code"]
    return "".join(cells[finding.cell].get("source", "")).splitlines()


def _context(tree: Path, finding: Finding, lines: int) -> Iterator[str]:
    source = _source(tree, finding)
    first = max(1, finding.line - lines // 2)
    last = max(finding.line + lines // 2, min(finding.end_line, finding.line + lines))
    for number in range(first, min(len(source), last) + 1):
        mark = ">" if finding.line <= number <= finding.end_line else " "
        yield f"{mark}{number:5} {source[number - 1][:LONGEST]}".rstrip()


def _entry(number: int, place: Row, context: Sequence[str]) -> str:
    cell = f" cell {place['cell']}" if place["cell"] else ""
    where = f"{place['path']}{cell}:{place['line']}:{place['column']}"
    return "\n".join(
        (
            f"## {number}. {place['repository']} at {place['commit'][:12]}",
            f"\n{where}\n",
            f"    text:  {_one_line(place['text'])[:LONGEST]}",
            f"    claim: {place['message']}\n",
            *(f"    {line}" for line in context),
            "",
        )
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


def draw_all(clones: Path, out: Path, seed: int, count: int, context: int) -> None:
    """Scan, draw, and write the judge's sheet, the form for the verdicts, and the key.

    Raises:
        UserError: a tree cannot be read.
    """
    chance = random.Random(seed)
    trees = sorted(one for one in clones.iterdir() if (one / ".git").exists())
    stocks = [findings_of(tree) for tree in trees]
    places: list[Row] = []
    keys: list[Row] = []
    entries: list[str] = []
    for tree, stock, share in zip(
        trees, stocks, shares([len(one) for one in stocks], count), strict=True
    ):
        git = Workspace.open(tree).git
        commit = git.run("rev-parse", "HEAD").decode().strip() if git else ""
        repository = tree.name.replace("+", "/", 1)
        print(f"{repository} {commit[:12]}: {share} of {len(stock)} findings", flush=True)
        for one in draw(stock, share, chance):
            number = len(places) + 1
            cell = "" if one.cell is None else str(one.cell)
            values = (number, repository, commit, one.path, cell, one.line, one.column)
            texts = (_one_line(one.text)[:LONGEST], _one_line(one.message))
            place = dict(zip(PLACE, map(str, (*values, *texts)), strict=True))
            places.append(place)
            grade = map(str, (number, one.rule, one.layer, one.severity, one.fix))
            keys.append(dict(zip(KEY, grade, strict=True)))
            entries.append(_entry(number, place, list(_context(tree, one, context))))
    out.mkdir(parents=True, exist_ok=True)
    (out / "sheet.md").write_text("\n".join(entries), "utf-8")
    write(out / "places.tsv", PLACE, places)
    write(out / "key.tsv", KEY, keys)
    if not (out / "verdicts.tsv").exists():
        write(out / "verdicts.tsv", VERDICT, [{"number": one["number"]} for one in places])


# -- comparing -------------------------------------------------------------------------------


def read(path: Path) -> list[Row]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def write(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Write a table of texts without tabs and line ends."""
    lines = ["\t".join(columns)]
    lines += ["\t".join(_one_line(row.get(one, "")) for one in columns) for row in rows]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def compare(verdict: Row, key: Row) -> str:
    """What a verdict and a grade differ in: ``""``, ``untrue``, ``layer`` or ``severity``.

    Raises:
        ValueError: a verdict that is not filled in, or not with the words of this table.
    """
    if verdict["true"] == "no":
        return "untrue"
    if verdict["true"] != "yes":
        raise ValueError(f"number {verdict['number']}: neither yes nor no")
    if Layer(verdict["layer"]) != key["layer"]:
        return "layer"
    return "" if Severity(verdict["severity"]) == key["severity"] else "severity"


def joined(out: Path) -> list[Row]:
    """Each finding of a draw with its grade, its verdict, and what these differ in.

    Raises:
        ValueError: a verdict that is not filled in.
    """
    rows = []
    tables = (read(out / f"{name}.tsv") for name in ("places", "key", "verdicts"))
    for place, key, verdict in zip(*tables, strict=True):
        judged = {f"judge {one}": verdict[one] for one in VERDICT[1:]}
        rows.append({**place, **key, **judged, "differs": compare(verdict, key)})
    return rows


def summary(rows: Sequence[Row]) -> str:
    """The counts by repository and the disagreements, in Markdown."""
    lines = ["| repository | commit | drawn | true | rightly graded |"]
    lines.append("| --- | --- | ---: | ---: | ---: |")
    for name, commit in dict.fromkeys((row["repository"], row["commit"]) for row in rows):
        mine = [row for row in rows if row["repository"] == name]
        lines.append(f"| {name} | `{commit[:12]}` | {' | '.join(map(str, counts(mine)))} |")
    drawn, true, right = counts(rows)
    percent = f" ({100 * right / drawn:.1f} %)" if drawn else ""
    lines.append(f"| **all** | | {drawn} | {true} | {right}{percent} |")
    lines += ["", "| number | place | rule | tool | judge | judge's reason |"]
    lines.append("| ---: | --- | --- | --- | --- | --- |")
    for row in rows:
        if row["differs"]:
            place = f"{row['repository']} `{row['path']}:{row['line']}`"
            judged = "untrue" if row["differs"] == "untrue" else row[f"judge {row['differs']}"]
            tool = row["layer"] if row["differs"] == "layer" else row["severity"]
            cells = (row["number"], place, row["rule"], tool, judged, row["judge why"])
            lines.append("| " + " | ".join(one.replace("|", "\\|") for one in cells) + " |")
    return "\n".join(lines) + "\n"


def counts(rows: Sequence[Row]) -> tuple[int, int, int]:
    """How many were drawn, are true, are true and rightly graded."""
    true = [row for row in rows if row["differs"] != "untrue"]
    return len(rows), len(true), sum(not row["differs"] for row in true)


def main() -> int:
    """Draw, or compare."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    modes = parser.add_subparsers(dest="mode", required=True)
    drawing = modes.add_parser("draw")
    drawing.add_argument("clones", type=Path)
    drawing.add_argument("out", type=Path)
    drawing.add_argument("--seed", type=int, required=True)
    drawing.add_argument("--count", type=int, default=200)
    drawing.add_argument("--context", type=int, default=12)
    comparing = modes.add_parser("compare")
    comparing.add_argument("out", type=Path)
    comparing.add_argument("--table", type=Path, help="write the whole draw here")
    comparing.add_argument("--summary", type=Path, help="write the counts here")
    chosen = parser.parse_args()
    if chosen.mode == "draw":
        draw_all(chosen.clones, chosen.out, chosen.seed, chosen.count, chosen.context)
        return 0
    rows = joined(chosen.out)
    if chosen.table is not None:
        columns = (*PLACE, *KEY[1:], *(f"judge {one}" for one in VERDICT[1:]), "differs")
        write(chosen.table, columns, rows)
    text = summary(rows)
    if chosen.summary is not None:
        chosen.summary.write_text(text, "utf-8")
    print(text)
    _drawn, _true, right = counts(rows)
    return int(right < WANTED * len(rows))


if __name__ == "__main__":
    sys.exit(main())
