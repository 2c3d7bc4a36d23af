"""What a rule is: one object that finds, explains and documents one kind of dependency."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from analyzers.documents.base import Document
from project.vocabulary import Fix, Layer, Severity

D = TypeVar("D", bound=Document)


@dataclass(frozen=True, slots=True)
class Match:
    """A place in a document that a rule names: bytes ``start:end`` of its text.

    ``message`` is one sentence, already translated. ``severity`` and ``fix`` replace the rule's
    own where the place is milder or harder than the rule's usual case. ``text`` replaces the
    source text where there is none to show, as in a binary. ``until`` is the first PyTorch
    release (``"2.8"``) in which the place is no finding any more; ``since`` the first in which it
    is one.
    """

    start: int
    end: int
    message: str
    severity: Severity | None = None
    fix: Fix | None = None
    text: str | None = None
    since: str | None = None
    until: str | None = None


@dataclass(frozen=True, slots=True)
class Example:
    """A small file that shows a rule.

    ``text`` is the file ``path``; ``finds`` lists the exact source texts that the rule must name,
    in order, and nothing else of it. An empty ``finds`` is a look-alike that must stay silent.
    ``after`` is what the file becomes when the rule's rewrite, if any, is applied.
    """

    text: str
    finds: tuple[str, ...] = ()
    after: str | None = None
    path: str = "example.py"


#: For words that are no part of a longer name.
WHOLE = re.compile(rb"(?!\w)")
#: For words that are texts: what is compared with one is not set to it.
NOT_COMPARED = re.compile(rb"(?<![!=]=)(?<![!=]= )\Z")


@dataclass(frozen=True, slots=True)
class Word:
    """A word that a rule waits for, and what must be there beside it for the word to count.

    ``on_line`` is searched for in the line of the word, ``before`` in what the line has before it;
    ``after`` must match where the word ends; of ``beside`` one must occur somewhere in the file.
    """

    text: bytes
    on_line: re.Pattern[bytes] | None = None
    before: re.Pattern[bytes] | None = None
    after: re.Pattern[bytes] | None = None
    beside: tuple[bytes, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Rule(Generic[D]):
    """One kind of dependency on CUDA.

    A rule lives alone in ``analyzers/rules/NAME.py`` as ``RULE``; being there registers it.

    ``code`` is ``D1xx`` (device), ``K2xx`` (kernel) or ``E3xx`` (environment), ``name`` its slug.
    ``reads`` is the document class it looks at. ``triggers`` are words (bytes) of which
    one must occur in a file's text before the file is parsed for this rule, in Python and C++ in
    this case, elsewhere in any; without any, every file is. ``fix`` is the
    best that a rewrite of this rule may claim; the rewrite may grade a place lower. ``what``,
    ``why`` and ``advice`` are marked with ``N_``. ``source`` says where the claim about PyTorch,
    macOS or a library comes from; ``since`` which release it speaks of. Of a Python file only the
    functions with a trigger are parsed; ``whole`` asks for all of it, for a rule that follows names
    from one function into another.
    """

    code: str
    name: str
    severity: Severity
    fix: Fix
    reads: type[D]
    triggers: tuple[bytes | Word, ...]
    what: str
    why: str
    advice: str
    source: str
    find: Callable[[D], Iterable[Match]]
    examples: tuple[Example, ...]
    since: str = ""
    whole: bool = False

    @property
    def layer(self) -> Layer:
        """The layer that the code's letter stands for."""
        return {"D": Layer.DEVICE, "K": Layer.KERNEL, "E": Layer.ENVIRONMENT}[self.code[0]]
