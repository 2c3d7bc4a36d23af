"""Extensions that set-ups build: named through aliases and helpers, and how hard they are."""

import textwrap

import pytest

from analyzers.documents.base import Source
from analyzers.documents.python import PythonDocument
from analyzers.examine import findings_in
from analyzers.rules.cuda_extension import RULE
from project.vocabulary import Finding, Severity

IMPORT = "from torch.utils.cpp_extension import CppExtension, CUDAExtension, load\n"


def found(text: str) -> list[Finding]:
    source = Source.of("setup.py", (IMPORT + textwrap.dedent(text)).encode())
    return list(findings_in(PythonDocument(source), [RULE]))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('CUDAExtension("bnp", ["a.cu"])', "bnp"),
        ("CUDAExtension(sources=s, name='pkg._C')", "pkg._C"),
        ('NAME = "pkg._ext"\nCUDAExtension(name=NAME, sources=s)', "pkg._ext"),
        ('CUDAExtension(f"{pkg}.ops", s)', 'f"{pkg}.ops"'),
        ("CUDAExtension(name=base + suffix, sources=s)", "base + suffix"),
        ("[CUDAExtension(n, [n + '.cpp']) for n in names]", "n"),
        ("CUDAExtension(**options)", "(unnamed)"),
        ('load(name="fused", sources=["a.cu"])', "fused"),
    ],
)
def test_an_extension_is_named(text: str, name: str) -> None:
    (one,) = found(text)
    assert f" {name} " in one.message
    assert one.severity is Severity.BLOCKS


def test_a_choice_between_two_classes_degrades() -> None:
    text = """
    extension = CppExtension
    if found:
        extension = CUDAExtension
    modules = [extension("pkg._C", sources)]
    """
    choice, made = found(text)
    assert (choice.text, choice.severity) == ("CUDAExtension", Severity.COSMETIC)
    assert (made.text, made.severity) == ('extension("pkg._C", sources)', Severity.DEGRADES)
    assert "pkg._C" in made.message


def test_a_choice_that_raises_without_cuda_blocks() -> None:
    text = """
    extension = CppExtension
    if torch.cuda.is_available() and CUDA_HOME is not None:
        extension = CUDAExtension
    else:
        raise NotImplementedError("no CUDA")
    modules = [extension("deform", sources)]
    """
    choice, made = found(text)
    assert choice.severity is made.severity is Severity.BLOCKS
    assert "the build stops" in choice.message


def test_what_a_helper_makes_is_named_at_its_calls() -> None:
    text = """
    def make(name, sources):
        return CUDAExtension(name="%s.%s" % (pkg, name), sources=sources)
    modules = [make(name="nms", sources=a), make("roi", b)]
    """
    assert [one.message.split(" is built")[0] for one in found(text)] == [
        'The CUDA extension "%s.%s" % (pkg, name)',
        "The CUDA extension nms",
        "The CUDA extension roi",
    ]


def test_a_plain_extension_is_named_beside_a_cuda_one_alone() -> None:
    assert found('CppExtension("host", ["host.cpp"])') == []
    cpp, cuda = found('CppExtension("host", ["h.cpp"])\nCUDAExtension("gpu", ["g.cu"])')
    assert (cpp.severity, cuda.severity) == (Severity.COSMETIC, Severity.BLOCKS)
    assert "host" in cpp.message
