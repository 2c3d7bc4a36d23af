import stat
import subprocess
import sys
import threading

import pytest

from project.errors import UserError
from project.lock import held


def test_the_state_is_made_for_its_owner_alone(tmp_path):
    state = tmp_path / "git" / "cuda2mps"
    with held(state):
        assert stat.S_IMODE(state.stat().st_mode) == 0o700


def test_the_same_thread_may_take_it_again_and_gives_it_back_once(tmp_path):
    with held(tmp_path), held(tmp_path):
        pass
    with held(tmp_path, timeout=0.1):
        pass


def test_another_thread_has_to_wait(tmp_path):
    told = []

    def other():
        try:
            with held(tmp_path, timeout=0.05):
                told.append("got it")
        except UserError as error:
            told.append(str(error))

    with held(tmp_path):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(told) == 1
    assert told[0].startswith("Another cuda2mps is changing")
    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert told[1] == "got it"


def test_another_process_has_to_wait_and_a_killed_one_holds_nothing(tmp_path):
    code = (
        "import sys, pathlib; from project.lock import held\n"
        "with held(pathlib.Path(sys.argv[1])): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(UserError, match="wait until it is done"), held(tmp_path, timeout=0.1):
            pass
        child.kill()
        child.wait()
    with held(tmp_path, timeout=1):
        pass


def test_a_state_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UserError, match=r"file/cuda2mps cannot be written .*make it writable"),
        held(tmp_path / "file" / "cuda2mps"),
    ):
        pass


def test_a_state_behind_a_link_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "state").symlink_to("elsewhere")
    with pytest.raises(UserError, match="symbolic link"), held(tmp_path / "state"):
        pass
    assert list((tmp_path / "elsewhere").iterdir()) == []
