"""Fast keys, and many findings."""

import time

from analyzers.examine import FileReport
from project.vocabulary import Finding, Fix, Layer, Severity, State
from reports.session import Session
from tests.tui.conftest import app_on, screen_of, settle


def many(count: int):
    """Reports of ``count`` findings without a rewrite, a hundred a file."""
    for file in range(count // 100):
        path = f"package{file // 20}/module{file}.py"
        yield FileReport(
            path,
            tuple(
                Finding(
                    f"{file}-{n}", "D107", "cuda-call", Layer.DEVICE, Severity.BLOCKS, Fix.MANUAL,
                    path, n + 1, 1, n + 1, 9, n * 20, n * 20 + 8, f"torch.cuda.f{n}()", "message",
                )
                for n in range(100)
            ),
        )  # fmt: skip


def scanning(count: int):
    def scan_files(self):
        self.findings, self.skipped, self.proposals = [], [], {}
        self.files_read, self.scanned = 0, False
        for report in many(count):
            self.findings.extend(report.findings)
            self.files_read += 1
            yield report
        self.scanned = True

    return scan_files


async def test_keys_faster_than_the_disk_decide_on_what_was_under_the_cursor(demo, monkeypatch):
    monkeypatch.setattr(Session, "scan_files", scanning(400))
    real = Session.decide

    def slow(self, ids, state, reason=""):
        time.sleep(0.02)
        return real(self, ids, state, reason)

    monkeypatch.setattr(Session, "decide", slow)
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        order = [one.id for one in screen.board.order()]
        expected = {}
        for step in range(120):
            expected[screen.finding.id] = State.DECLINED
            await pilot._wait_for_screen() if step == 0 else None
            await pilot.press("n")
        assert list(expected) == order[:120]
        for _turn in range(200):
            await pilot.pause(0.05)
            if not screen.driver.busy():
                break
        assert {id: one.state for id, one in screen.session.decisions.items()} == expected


async def test_undo_between_fast_keys_takes_back_the_one_before_it(demo, monkeypatch):
    monkeypatch.setattr(Session, "scan_files", scanning(400))
    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        screen = screen_of(pilot)
        order = [one.id for one in screen.board.order()]
        await pilot.press("n", "n", "n", "u", "n")
        await settle(pilot)
        decided = set(screen.session.decisions)
        assert decided in ({*order[:2], order[3]}, {*order[:3]})
        for id in order[:5]:
            assert (screen.board.state(id) is State.DECLINED) == (id in decided)


async def test_decisions_that_wait_when_the_session_is_left_are_written(demo, monkeypatch):
    monkeypatch.setattr(Session, "scan_files", scanning(400))
    real = Session.decide

    def slow(self, ids, state, reason=""):
        time.sleep(0.02)
        return real(self, ids, state, reason)

    async with app_on(demo).run_test(size=(80, 24)) as pilot:
        await settle(pilot)
        monkeypatch.setattr(Session, "decide", slow)
        await pilot.press(*"n" * 30, "q")
    assert len(Session.open(demo).decisions) == 30


async def test_fifty_thousand_findings_take_no_seconds(demo, monkeypatch):
    monkeypatch.setattr(Session, "scan_files", scanning(50_000))
    monkeypatch.setattr(Session, "checklist", lambda self: ())
    began = time.monotonic()
    async with app_on(demo).run_test(size=(160, 48)) as pilot:
        screen = screen_of(pilot)
        while not screen.board.findings:
            await pilot.pause(0.01)
        first = time.monotonic() - began
        await settle(pilot)
        assert len(screen.board.findings) == 50_000
        # 1.5 s on a quiet machine; one that tests several things at once takes longer.
        assert first < 6.0
        times = []
        for key in ("down", "n", "pagedown", "n", "end", "home", "n", "left", "right"):
            start = time.monotonic()
            await pilot.press(key)
            times.append(time.monotonic() - start)
        assert sorted(times)[len(times) // 2] < 0.5
