"""D125: copies to MPS that nobody waits for."""

from collections.abc import Iterator

from analyzers.arguments import is_true, keyword, passed, string_of
from analyzers.devices import calls_of
from analyzers.documents.python import PythonDocument
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """``x.to("mps", non_blocking=True)``."""
    for call, _receiver, _name in calls_of(document, "to"):
        if not is_true(keyword(call, "non_blocking")):
            continue
        targets = [keyword(call, "device"), *passed(call)[:1]]
        if any((string_of(document, one) or "").startswith("mps") for one in targets):
            yield Match(
                call.start_byte,
                call.end_byte,
                _(
                    "A copy to MPS that does not block may arrive wrong when the source is changed "
                    "or freed before it is done. Leave non_blocking to CUDA."
                ),
            )


RULE = Rule(
    code="D125",
    name="non-blocking-copy",
    severity=Severity.DEGRADES,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"non_blocking",),
    what=N_("A tensor is copied to MPS with non_blocking=True."),
    why=N_(
        "Wrong data after such copies was reported and is open; there is no pinned memory to gain from."
    ),
    advice=N_('Write non_blocking=device.type == "cuda".'),
    source="https://github.com/pytorch/pytorch/issues/139550; https://github.com/pytorch/pytorch/issues/189690",
    find=find,
    examples=(
        Example(
            text="""\
                x = x.to("mps", non_blocking=True)
                y = y.to(device="mps:0", non_blocking=True)
                """,
            finds=('x.to("mps", non_blocking=True)', 'y.to(device="mps:0", non_blocking=True)'),
        ),
        Example(text="""x = x.to("mps")\n"""),
        Example(text="""x = x.to("cuda", non_blocking=True)\n"""),
        Example(text="""x = x.to("mps", non_blocking=False)\n"""),
        Example(text="""x = x.to(device, non_blocking=True)\n"""),
    ),
)
