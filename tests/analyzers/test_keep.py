"""Comments that leave a finding on CUDA."""

import pytest

from analyzers.examine import examine
from analyzers.registry import rule, rules


def kept(text: str, path: str = "a.py") -> list[str | None]:
    return [one.kept for one in examine(path, text.encode(), rules()).findings]


def notices(text: str, path: str = "a.py") -> list[int]:
    return [one.line for one in examine(path, text.encode(), rules()).notices]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("x.cuda()  # cuda2mps: keep", "a comment in the code says so"),
        ("x.cuda()  # cuda2mps: keep no graph on MPS", "no graph on MPS"),
        ("x.cuda()  #cuda2mps:keep[D103] - why", "why"),
        ("x.cuda()  # noqa  # cuda2mps: keep[D101, cuda-method] why", "why"),
        ("x.cuda()  # cuda2mps: keep[D101] why", None),
        ("x.cuda()  # cuda2mps: keeps", None),
        ("x.cuda()  # keep", None),
        ("x.cuda()\n# cuda2mps: keep", None),
        ('x.cuda(); s = "# cuda2mps: keep"', None),
    ],
)
def test_a_comment_on_the_line_keeps_it(line: str, reason: str | None) -> None:
    assert kept(line + "\n") == [reason]


def test_a_statement_of_several_lines_is_kept_by_any() -> None:
    assert kept("x.cuda(\n    non_blocking=True,  # cuda2mps: keep\n)\n") != [None]


def test_other_languages_have_other_comments() -> None:
    assert kept("__global__ void f(int *a) { a[0] = 1; }  // cuda2mps: keep tuned\n", "k.cu") == [
        "tuned"
    ]
    assert kept("__global__ void f(int *a) { a[0] = 1; }  /* cuda2mps: keep b */\n", "k.cu") == [
        "b"
    ]


def test_a_comment_that_keeps_nothing_is_named() -> None:
    assert notices("y = 1  # cuda2mps: keep\nx.cuda()  # cuda2mps: keep\n") == [1]
    assert notices("x.cuda()  # cuda2mps: keep[D101]\n") == [1]
    assert notices('def f():\n    """\n    # cuda2mps: keep\n    """\n') == []
    assert notices('s = "# cuda2mps: keep"\n') == []


def test_unused_is_said_only_when_every_rule_was_asked() -> None:
    one = rule("D101")
    assert one is not None
    assert examine("a.py", b"x.cuda()  # cuda2mps: keep[D103]\n", [one]).notices == ()
