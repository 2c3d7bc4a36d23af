"""Ask of ports that people made by hand: does the tool name the lines that they had to change?

    python benchmarks/replay_ports.py CLONES_DIR LIST.json [--table FILE.md]

``CLONES_DIR`` holds clones, bare or not, named ``owner+name``, ``owner__name`` or ``name``.
``LIST.json`` lists ports: ``[{"repo": "owner/name", "parent": SHA, "commit": SHA}, ...]``.

For every port, the lines of Python (files, and code cells of notebooks) that the commit removed or
changed are judged at the parent: does the line's code name CUDA? The judge is Python's own
tokenizer and the few patterns below; it shares nothing with the analyzers. Naming CUDA is the API
(``torch.cuda``, ``.cuda(``, ``torch.backends.cuda``), a device string, a flag (``use_cuda``,
``args.cuda``, ``--no-cuda``, ``is_cuda``), cuDNN, NCCL, a ``CUDA_*`` variable. Comments,
docstrings, texts of several words, names that merely contain the word and the path of a module that
is not PyTorch's are not. Counted is how many of those lines carry a finding.

Then every Python file of the parent is scanned, and each finding that is more than cosmetic must
have at least one byte outside of comments and docstrings.

Nothing of a clone is executed, and git is asked with its configuration switched off. Exit status 1
when less than 98 % is covered, or a finding lies wholly in a comment or docstring.
"""

import argparse
import io
import json
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from analyzers.examine import examine
from analyzers.registry import rules
from project.errors import UserError
from project.git import Git
from project.vocabulary import Finding, Severity

WANTED = 0.98
LARGEST = 2_000_000

# -- the judge -------------------------------------------------------------------------------

_CODE = re.compile(
    r"""
      \btorch\s*\.\s*(?:backends\s*\.\s*)?(?:cuda|cudnn)\b
    | \.\s*cuda\b                                   # x.cuda(), args.cuda, torch.cuda
    | \bimport\s+(?:[\w., ]*\W)?cuda\b              # from torch import cuda
    | \bcudnn\b
    | \bnccl\b
    | \b(?:not?_|use_|is_|has_|with_|enable_|disable_|try_)+cuda\b | \bcuda_(?:is_)?available\b
    | \bcuda\s*=(?!=) | \bCUDA(?:NN)?_[A-Z0-9_]+\b
    """,
    re.VERBOSE,
)
#: An import from a module that is not PyTorch's: its path is somebody's own name, what it gives is
#: judged like any other.
_OWN_MODULE = re.compile(r"^\s*from\s+(?!torch\b)[\w.\s]+?\bimport\b")
_DEVICE = re.compile(r"cuda(?::\S*)?\Z")
_WORD = re.compile(
    r"(?:-{1,2}(?:[\w]+[-_])*cuda(?:[-_](?:available|device|id))?|(?:no|use|is|has|with)_cuda"
    r"|nccl|cudnn|CUDA_[A-Z0-9_]+|(?:torch\.)?cuda\.\w+|torch\.cuda)\Z"
)
_PREFIX = re.compile(r"(?i)[rbuft]{0,3}(\"\"\"|'''|\"|')")
_BLANK = (tokenize.NL, tokenize.COMMENT)
_START = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


@dataclass
class Judged:
    """Lines whose code names CUDA, and lines that are nothing but comment or docstring."""

    naming: set[int] = field(default_factory=set)
    code: set[int] = field(default_factory=set)


def judge(text: str) -> Judged:
    """Which lines of a Python text name CUDA in their code, by Python's own tokenizer.

    A text that it cannot finish (Python 2, broken code) is judged line by line from there on.
    """
    judged = Judged()
    tokens: list[tokenize.TokenInfo] = []
    reached = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            tokens.append(token)
    except (tokenize.TokenError, SyntaxError):
        reached = tokens[-1].end[0] if tokens else 0
        lines = text.splitlines()
        for number in range(reached + 1, len(lines) + 1):
            _judge_code(judged, number, lines[number - 1].partition("#")[0])
    code: dict[int, list[str]] = {}
    for kind, line, last, word in _words(tokens):
        # A text of several lines that is a value, such as a kernel's source, is code throughout.
        judged.code.update(range(line, last + 1))
        if kind == "string":
            content = word
            if _DEVICE.match(content) or _WORD.match(content):
                judged.naming.add(line)
        else:
            code.setdefault(line, []).append(word)
    for line, words in code.items():
        _judge_code(judged, line, " ".join(words))
    return judged


def _judge_code(judged: Judged, line: int, code: str) -> None:
    if code.strip():
        judged.code.add(line)
    if _CODE.search(_OWN_MODULE.sub("import", code)):
        judged.naming.add(line)


def _words(tokens: list[tokenize.TokenInfo]) -> Iterator[tuple[str, int, int, str]]:
    """Code tokens and the contents of strings with their lines; no comments, no docstrings."""
    waiting = _joined(tokens)
    for index, (kind, text, line, last) in enumerate(waiting):
        if kind in _BLANK or kind in _START or kind == tokenize.ENDMARKER:
            continue
        if kind != tokenize.STRING:
            yield "code", line, last, text
            continue
        before = next((k for k, *_ in reversed(waiting[:index]) if k not in _BLANK), None)
        after = next((k for k, *_ in waiting[index + 1 :] if k not in _BLANK), None)
        if before in (None, *_START) and after in (None, tokenize.NEWLINE, tokenize.ENDMARKER):
            continue
        opening = _PREFIX.match(text)
        if opening is not None and line == last:
            yield "string", line, last, text[opening.end() : -len(opening[1])]
        else:
            yield "code", line, last, '""'


def _joined(tokens: list[tokenize.TokenInfo]) -> list[tuple[int, str, int, int]]:
    """The tokens, with the parts of an f-string (Python 3.12 and newer) put together again."""
    first = getattr(tokenize, "FSTRING_START", -1)
    final = getattr(tokenize, "FSTRING_END", -1)
    out: list[tuple[int, str, int, int]] = []
    depth, parts, begin = 0, "", 0
    for token in tokens:
        if token.type == first:
            depth += 1
            begin = token.start[0] if depth == 1 else begin
        if depth:
            parts += token.string
            if token.type == final:
                depth -= 1
                if not depth:
                    out.append((tokenize.STRING, parts, begin, token.end[0]))
                    parts = ""
            continue
        out.append((token.type, token.string, token.start[0], token.end[0]))
    return out


# -- the ports -------------------------------------------------------------------------------


@dataclass
class Replay:
    """What one port gave."""

    repo: str
    commit: str
    absent: str = ""
    lines: int = 0
    missed: list[str] = field(default_factory=list)
    files: int = 0
    findings: int = 0
    stray: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)

    @property
    def covered(self) -> int:
        return self.lines - len(self.missed)


_HUNK = re.compile(rb"^@@ -(\d+)(?:,(\d+))? \+", re.MULTILINE)


def clone_of(clones: Path, repo: str) -> Path | None:
    """The clone of a repository in a folder, by any of its names."""
    owner, _slash, name = repo.partition("/")
    for folder in (f"{owner}+{name}", f"{owner}__{name}", name):
        for path in (clones / folder, clones / folder / "repo"):
            if (path / ".git").exists() or (path / "HEAD").is_file():
                return path
    return None


def replay(clones: Path, port: dict[str, Any]) -> Replay:
    """Judge the lines that a port changed, and scan the whole parent."""
    result = Replay(port["repo"], port["commit"])
    path = clone_of(clones, port["repo"])
    if path is None:
        result.absent = "no clone"
        return result
    git = Git(path, path)
    parent, commit = port["parent"], port["commit"]
    try:
        for one in (parent, commit):
            git.run("cat-file", "-e", one + "^{commit}")
        changed = _changed(git, parent, commit, result.lacking)
    except UserError:
        result.absent = "commit is not in the clone"
        return result
    for name, data in _python_files(git, parent):
        _one_file(result, name, data, changed.get(name, set()))
    return result


def _changed(git: Git, parent: str, commit: str, lacking: list[str]) -> dict[str, set[int]]:
    """The lines of the parent that a commit removed or changed, by file."""
    names = git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", parent, commit)
    found: dict[str, set[int]] = {}
    for raw in names.split(b"\0")[:-1]:
        name = raw.decode("utf-8", "surrogateescape")
        if not name.endswith((".py", ".ipynb")):
            continue
        options = ("-p", "-U0", "--no-renames", "--no-color", "--text", parent, commit)
        try:
            patch = git.run("diff-tree", *options, "--", f":(literal){name}")
        except UserError:
            # A clone can lack its largest files, notebooks with pictures among them.
            lacking.append(name)
            continue
        for hunk in _HUNK.finditer(patch):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(name, set()).update(range(start, start + count))
    return found


def _python_files(git: Git, commit: str) -> Iterator[tuple[str, bytes]]:
    listing = git.run("ls-tree", "-r", "-z", "-l", commit).split(b"\0")[:-1]
    for entry in listing:
        facts, _tab, raw = entry.partition(b"\t")
        mode, kind, blob, size = facts.split()
        name = raw.decode("utf-8", "surrogateescape")
        if kind != b"blob" or mode == b"120000" or not name.endswith((".py", ".ipynb")):
            continue
        # A clone can lack its largest files; git then says `BAD` for the size.
        if size.isdigit() and int(size) <= LARGEST:
            yield name, git.run("cat-file", "blob", blob.decode())


def _one_file(result: Replay, name: str, data: bytes, changed: set[int]) -> None:
    result.files += 1
    findings = examine(name, data, rules()).findings
    result.findings += len(findings)
    for cell, text, lines in _texts(name, data, changed):
        mine = [one for one in findings if one.cell == cell]
        judged = judge(text)
        carried = {line for one in mine for line in range(one.line, one.end_line + 1)}
        source = text.splitlines()
        for line in sorted(lines & judged.naming):
            result.lines += 1
            if line not in carried:
                where = name if cell is None else f"{name} cell {cell}"
                result.missed.append(f"{where}:{line}: {source[line - 1].strip()}")
        result.stray.extend(
            f"{one.path}:{one.line}: {one.rule} {one.text}" for one in mine if _stray(one, judged)
        )


def _stray(finding: Finding, judged: Judged) -> bool:
    """Whether a finding that is more than cosmetic lies in comments and docstrings alone."""
    if finding.severity is Severity.COSMETIC:
        return False
    lines = range(finding.line, finding.end_line + 1)
    return finding.text.lstrip().startswith("#") or not any(one in judged.code for one in lines)


def _texts(name: str, data: bytes, changed: set[int]) -> Iterator[tuple[int | None, str, set[int]]]:
    """The Python texts of a file with the lines that were changed: one, or one for each cell."""
    text = data.decode("utf-8", "replace")
    if not name.endswith(".ipynb"):
        yield None, text, changed
        return
    try:
        cells = json.loads(text)["cells"]
    except (ValueError, KeyError, TypeError):
        return
    removed = {text.split("\n")[line - 1].strip().rstrip(",") for line in changed}
    number = 0
    for cell in cells:
        if cell.get("cell_type") != "code":
            continue
        source = cell.get("source", "")
        parts = source if isinstance(source, list) else source.splitlines(keepends=True)
        lines = "".join(parts).splitlines()
        written = [json.dumps(line, ensure_ascii=False)[1:-1] for line in lines]
        gone = {
            index
            for index, line in enumerate(written, 1)
            if f'"{line}\\n"' in removed or f'"{line}"' in removed
        }
        # Shell lines and magics are code, but none that Python's tokenizer could judge.
        plain = [re.sub(r"^(\s*)[!%?].*", r"\1pass", line) for line in lines]
        yield number, "\n".join(plain) + "\n", gone
        number += 1


# -- what is printed -------------------------------------------------------------------------


def table(results: list[Replay]) -> str:
    """A table in Markdown, one row a port, the sum below."""
    rows = ["| repository | commit | lines naming CUDA | with a finding | findings in the tree |"]
    rows.append("| --- | --- | ---: | ---: | ---: |")
    for one in results:
        if one.absent:
            rows.append(f"| {one.repo} | {one.commit[:8]} | {one.absent} | | |")
            continue
        rows.append(
            f"| {one.repo} | {one.commit[:8]} | {one.lines} | {one.covered} | {one.findings} |"
        )
    lines, covered = sum(one.lines for one in results), sum(one.covered for one in results)
    findings = sum(one.findings for one in results)
    rows.append(
        f"| **all** | | **{lines}** | **{covered} ({_share(covered, lines)})** | {findings} |"
    )
    return "\n".join(rows) + "\n"


def _share(covered: int, lines: int) -> str:
    return f"{100 * covered / lines:.1f} %" if lines else "nothing to cover"


def main() -> int:
    """Replay the ports of a list and say what was covered and what was not."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("clones", type=Path)
    parser.add_argument("list", type=Path)
    parser.add_argument("--table", type=Path, help="write the table here")
    chosen = parser.parse_args()
    results = []
    for port in json.loads(chosen.list.read_text("utf-8")):
        result = replay(chosen.clones, port)
        results.append(result)
        share = result.absent or f"{result.covered}/{result.lines}"
        print(f"{result.repo} {result.commit[:8]}: {share}", flush=True)
        for name in result.lacking:
            print(f"  not in the clone: {name}")
        for line in result.missed:
            print(f"  missed {line}")
        for line in result.stray:
            print(f"  in a comment or docstring {line}")
    text = table(results)
    print(text)
    if chosen.table is not None:
        chosen.table.write_text(text, "utf-8")
    lines, covered = sum(one.lines for one in results), sum(one.covered for one in results)
    return int(covered < WANTED * lines or any(one.stray for one in results))


if __name__ == "__main__":
    sys.exit(main())
