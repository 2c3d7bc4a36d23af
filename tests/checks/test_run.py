"""Real children: this Python with the real probe, and interpreters that misbehave."""

import hashlib
import stat
import sys
import textwrap
import time
from pathlib import Path

import pytest

from checks import checklist
from checks.child import Bounded
from checks.plan import plan
from checks.run import run
from project.vocabulary import On, Result, Status

LINUX = pytest.mark.skipif(sys.platform == "darwin", reason="asks what Linux answers")


def interpreter(folder: Path, body: str) -> Path:
    """A program that is called like the interpreter, with the channel opened for it."""
    path = folder / "python"
    head = f"""\
        #!{sys.executable}
        import json, os, signal, sys, time
        channel = int(sys.argv[sys.argv.index("--channel") + 1])
        asked = sys.argv[sys.argv.index("--questions") + 1 : sys.argv.index("--channel")]
        def say(**line): os.write(channel, json.dumps(line).encode() + b"\\n")
        """
    path.write_text(textwrap.dedent(head) + textwrap.dedent(body))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def checked(workspace, folder, body, only=("environment",), **options):
    planned = plan(workspace, python=str(interpreter(folder, body)), only=only)
    return {one.item: one for one in run(workspace, planned, **options)}


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state not in "ZX"


def gone(pid: int) -> bool:
    end = time.monotonic() + 2
    while alive(pid) and time.monotonic() < end:
        time.sleep(0.02)
    return not alive(pid)


def test_this_very_python_answers_everything(workspace, project):
    (project / "requirements.txt").write_text("pytest\nno-such-package-here\n")
    steps = []
    planned = plan(workspace, python=sys.executable)
    made = {one.item: one for one in run(workspace, planned, progress=steps.append)}
    assert list(made) == list(planned.items)
    version = ".".join(map(str, sys.version_info[:3]))
    assert version in made["environment.python"].summary
    assert made["environment.python"].facts["executable"] == sys.executable
    assert made["environment.packages"].facts["versions"]["pytest"] == pytest.__version__
    assert made["environment.packages"].facts["versions"]["no-such-package-here"] is None
    assert made["environment.imports"].facts["import:pytest"]["exit"] == 0
    assert made["inventory.dependencies"].on is On.STATIC
    assert made["inventory.dependencies"].result is Result.PASSED
    assert all(one.at and one.target == "local" for one in made.values())
    done = [step.item for step in steps if step.state == "done"]
    assert done == list(planned.items)
    assert all(step.evidence for step in steps if step.state == "done")


@LINUX
def test_on_linux_no_item_about_the_mac_is_passed(workspace):
    made = run(workspace, plan(workspace, python=sys.executable, only=["environment"]))
    for one in checklist.fill([], {}, [], made, scanned=False):
        if On.MPS in one.item.needs:
            assert one.status in (Status.BLOCKED, Status.NOT_RUN)
    by_item = {one.item: one for one in made}
    assert by_item["environment.mps-tensor"].summary.startswith("This is Linux on ")


def test_a_crash_in_one_question_leaves_the_others(workspace, tmp_path):
    made = checked(workspace, tmp_path, """
        for question in asked:
            say(begin=question)
            if question == "mps_tensor":
                print("going down", file=sys.stderr, flush=True)
                os.kill(os.getpid(), signal.SIGABRT)
            say(question=question, answer={"question": question})
        say(end=True)
        """)  # fmt: skip
    tensor = made["environment.mps-tensor"]
    assert (tensor.result, tensor.exit) == (Result.FAILED, -6)
    assert tensor.summary == "The process died of SIGABRT. going down"
    assert tensor.facts["stderr"] == "going down\n"
    # What comes behind the crash was asked in a second process.
    assert made["environment.torch"].facts["cuda"] == {"question": "cuda"}
    assert made["environment.python"].facts["question"] == "python"


def test_a_hang_is_ended_and_what_was_answered_stays(workspace, tmp_path):
    began = time.monotonic()
    made = checked(workspace, tmp_path, """
        say(begin="system")
        say(question="system", answer={"system": "Darwin", "macos": "15.1"})
        say(begin="python")
        time.sleep(60)
        """, timeout=0.5)  # fmt: skip
    assert time.monotonic() - began < 5
    assert made["environment.python"].result is Result.FAILED
    assert made["environment.python"].summary.startswith("No answer within 0.5 seconds")
    assert made["environment.macos"].summary == "macOS 15.1."
    assert made["environment.torch"].result is Result.BLOCKED


def test_a_program_that_is_no_interpreter(workspace, tmp_path):
    made = checked(workspace, tmp_path, "sys.exit('what is this?')")
    assert sum(one.result is Result.FAILED for one in made.values()) == 3  # all ask `system`
    macos = made["environment.macos"]
    assert macos.summary == ("The interpreter ended with status 1 without an answer. what is this?")
    assert made["environment.mps-tensor"].result is Result.BLOCKED


def test_a_program_that_cannot_be_started(workspace, tmp_path):
    path = tmp_path / "python"
    path.write_text("#!/no/such/program\n")
    path.chmod(0o700)
    made = run(workspace, plan(workspace, python=str(path), only=["environment.macos"]))
    assert made[0].result is Result.FAILED
    assert made[0].summary.startswith("The interpreter could not be started")
    assert made[0].exit is None


def test_an_early_exit_with_success_is_no_answer(workspace, tmp_path):
    made = checked(workspace, tmp_path, 'say(begin="system")\nos._exit(0)')
    assert made["environment.macos"].result is Result.FAILED
    states = checklist.fill([], {}, [], list(made.values()), scanned=False)
    assert Status.PASSED not in {one.status for one in states}


def test_output_without_end_is_kept_in_part(workspace, tmp_path):
    made = checked(workspace, tmp_path, """
        sys.stdout.write("the first words ")
        while True: sys.stdout.write("x" * 65536)
        """, timeout=0.6, only=["environment.macos"])  # fmt: skip
    kept = made["environment.macos"].facts["stdout"]
    assert kept.startswith("the first words xxx")
    assert " bytes ...]" in kept
    assert len(kept) < 20_000


@LINUX
def test_no_child_of_a_child_is_left(workspace, tmp_path):
    noted = tmp_path / "pid"
    made = checked(workspace, tmp_path, f"""
        pid = os.fork()
        if not pid:
            time.sleep(300)
        open({str(noted)!r}, "w").write(str(pid))
        say(begin="system"); say(question="system", answer={{"system": "Darwin", "macos": "1"}})
        """, only=["environment.macos"])  # fmt: skip
    assert made["environment.macos"].summary == "macOS 1."
    assert gone(int(noted.read_text()))


@LINUX
def test_a_hang_takes_its_whole_group_along(workspace, tmp_path):
    noted = tmp_path / "pid"
    checked(workspace, tmp_path, f"""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pid = os.fork()
        if pid: open({str(noted)!r}, "w").write(str(pid))
        time.sleep(300)
        """, timeout=0.5, only=["environment.macos"])  # fmt: skip
    assert gone(int(noted.read_text()))


def test_nonsense_on_the_channel_is_passed_over(workspace, tmp_path):
    made = checked(workspace, tmp_path, """
        os.write(channel, b"\\xff\\x00 garbage\\n[1, 2]\\n{}\\n" + b"[" * 100000 + b"\\n")
        say(question="system", answer={"system": "Darwin", "macos": "forged before it was asked"})
        say(begin=["system"]); say(begin="nothing that was asked")
        say(begin="system"); say(question="mps_tensor", answer={"sum": 16})
        say(question="system", answer={"system": "Darwin", "macos": "15.1"})
        say(question="system", answer={"system": "Darwin", "macos": "said twice"})
        say(end=True)
        """, only=["environment.macos", "environment.mps-tensor"])  # fmt: skip
    assert made["environment.macos"].summary == "macOS 15.1."
    assert made["environment.mps-tensor"].result is not Result.PASSED


def test_answers_without_end_end_the_process(workspace, tmp_path):
    made = checked(workspace, tmp_path, """
        say(begin="system")
        while True: os.write(channel, b"x" * 65536)
        """, only=["environment.macos"], timeout=30)  # fmt: skip
    assert made["environment.macos"].summary == "It answered without end; the process was ended."


def test_cancelling_keeps_what_was_answered_and_claims_nothing_more(workspace, tmp_path):
    heard = []
    began = time.monotonic()
    made = checked(workspace, tmp_path, """
        say(begin="system"); say(question="system", answer={"system": "Darwin", "macos": "15.1"})
        say(begin="python"); time.sleep(60)
        """, progress=heard.append,
        cancelled=lambda: any(step.line == "python" for step in heard))  # fmt: skip
    assert time.monotonic() - began < 5
    assert made["environment.macos"].summary == "macOS 15.1."
    assert "environment.python" not in made
    assert "environment.mps-tensor" not in made


def test_the_child_has_the_users_environment_and_evidence_has_no_secret(workspace, monkeypatch):
    monkeypatch.setenv("PYTORCH_HUB_TOKEN", "hush")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    monkeypatch.setenv("MY_PASSWORD", "hush")
    made = run(workspace, plan(workspace, python=sys.executable, only=["environment.variables"]))
    assert made[0].facts == {"CUDA_VISIBLE_DEVICES": "3", "PYTORCH_HUB_TOKEN": "(not kept)"}
    assert "hush" not in repr(made)


def test_files_alone_run_nothing(workspace, project):
    (project / "uv.lock").write_bytes(b"version = 1\n")
    planned = plan(workspace, python=sys.executable, only=["environment.lock-file"])
    assert planned.command == ()
    made = run(workspace, planned)
    digest = hashlib.sha256(b"version = 1\n").hexdigest()
    assert made[0].facts == {"files": {"uv.lock": digest}}
    assert (made[0].result, made[0].on) == (Result.PASSED, On.STATIC)


def test_bounded_keeps_both_ends():
    kept = Bounded(4)
    for piece in (b"ab", b"cdef", b"gh", b"ijkl"):
        kept.add(piece)
    assert kept.text() == "abcd\n[... 4 bytes ...]\nijkl"
    short = Bounded(4)
    short.add(b"abcdef")
    assert short.text() == "abcdef"
