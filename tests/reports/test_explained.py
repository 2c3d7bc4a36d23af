"""What `diff --explain` prints is still a patch, whatever the project holds."""

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from project.git import diff_trees
from project.journal import Change
from project.vocabulary import Edit, Finding, Fix, Layer, Proposal, Severity
from reports.explained import explained
from reports.session import Session
from rewriters.combine import apply_edits

FILLER = "".join(f"a{n} = {n}\n" for n in range(12))
PROGRAM = f"import torch\nx = torch.ones(1).cuda()\n{FILLER}torch.cuda.synchronize()"


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        ["git", *arguments], cwd=folder, input=stdin, capture_output=True, check=False
    )


@pytest.mark.parametrize("how", [[], ["--index"], ["--3way"]])
def test_git_applies_it_and_takes_it_back(tmp_path, how):
    (tmp_path / "one.py").write_text(PROGRAM)
    (tmp_path / "two words.py").write_text(PROGRAM + "\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=b", "commit", "--quiet", "-mx")
    session = Session.open(tmp_path)
    session.scan()
    chosen = session.chosen(review=True)
    patch = session.patch(chosen, explain=True)
    assert git(tmp_path, "apply", "--check", stdin=patch).stderr == b""
    assert git(tmp_path, "apply", *how, stdin=patch).returncode == 0
    for change in session.workspace.root.glob("*.py"):
        assert b".cuda()\n" not in change.read_bytes()
    assert git(tmp_path, "diff", "HEAD").stdout == session_patch(tmp_path, PROGRAM, session)
    assert git(tmp_path, "apply", "--reverse", stdin=patch).returncode == 0
    assert (tmp_path / "one.py").read_text() == PROGRAM


def session_patch(root: Path, text: str, session: Session) -> bytes:
    """The plain patch of the same files, from before they were changed."""
    before = {"one.py": text.encode(), "two words.py": text.encode() + b"\n"}
    after = {name: (root / name).read_bytes() for name in before}
    return diff_trees(before, after, {})


def test_each_hunk_has_its_own_reasons(tmp_path):
    (tmp_path / "one.py").write_text(PROGRAM)
    session = Session.open(tmp_path)
    session.scan()
    patch = session.patch(session.chosen(review=True), explain=True).decode()
    assert len(re.findall("(?m)^@@ ", patch)) == len(re.findall("(?m)^diff --git ", patch)) == 2
    first, second = (
        [line for line in part.splitlines() if line.startswith("# ")]
        for part in re.split("(?m)^ a[0-9]", patch, maxsplit=1)
    )
    assert first[0].startswith("# D103 cuda-method, line 2: ")
    assert first[1].startswith("#   ")
    assert second[0].startswith("# D107 cuda-call, line 15: ")
    assert len(first) == len(second) == 2


def test_without_proposals_there_is_no_patch(tmp_path):
    session = Session.open(tmp_path)
    session.scan()
    assert session.patch([], explain=True) == b""


FINDING = Finding(
    "id", "D103", "cuda-method", Layer.DEVICE, Severity.BLOCKS, Fix.SAFE,
    "f.py", 1, 1, 1, 1, 0, 1, "x", "message",
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(message=st.text(), why=st.text(), lines=st.lists(st.binary(max_size=4), max_size=30))
def test_no_text_gets_out_of_its_comment(message, why, lines):
    data = b"\n".join([b"first", *lines])
    edits = tuple(sorted({Edit(0, 5, b"new"), Edit(len(data), len(data), b"end")}))
    change = Change("f.py", data, apply_edits(data, edits))
    plain = diff_trees({"f.py": data}, {"f.py": change.after}, {})
    proposal = Proposal("id", "D103", "f.py", "", edits, Fix.SAFE, why)
    finding = replace(FINDING, message=f"\n--- a/f.py\n@@ -1 +1 @@\n{message}")
    patch = explained(plain, [change], [proposal], {"id": finding})
    parts = re.split(rb"(?m)^(?=diff --git )", patch)
    comments, rest = parts[0], parts[1:]
    assert rest
    assert all(line.startswith(b"# ") for line in comments.splitlines())
    assert not set(comments) - {10} & set(range(32))
    assert 1 <= comments.count(b"\n") <= 2
    hunks = b"".join(re.split(rb"(?m)^(?=@@ -)", plain)[1:])
    body = b"".join(re.sub(rb"(?m)^# .*\n", b"", part.split(b"+++ b/f.py\n")[1]) for part in rest)
    assert body == hunks
