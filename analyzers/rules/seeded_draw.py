"""D144: random numbers that are drawn on a device after a seed."""

from collections.abc import Iterator

from analyzers.arguments import call_of, keyword, string_of
from analyzers.documents.python import SCOPES, PythonDocument, enclosing
from analyzers.reach import is_device, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity

_DRAWS = tuple(
    f"torch.{name}" for name in ("rand", "randn", "randint", "randperm", "normal", "bernoulli")
)


def find(document: PythonDocument) -> Iterator[Match]:
    """The first draw on a device in each scope that was seeded before."""
    seeded: dict[int, int] = {}
    for reference in document.references("torch.manual_seed"):
        scope = enclosing(reference.node, SCOPES)
        if scope is not None and call_of(reference.node) is not None:
            seeded.setdefault(scope.start_byte, reference.node.end_byte)
    if not seeded:
        return
    for reference in document.references("torch"):
        call = call_of(reference.node) if reference.name in _DRAWS else None
        scope = enclosing(call, SCOPES) if call is not None else None
        if call is None or scope is None:
            continue
        seed = seeded.get(scope.start_byte)
        device = keyword(call, "device")
        if seed is None or seed > call.start_byte or keyword(call, "generator") is not None:
            continue
        if not is_device(document, device) or settled(document, call):
            continue
        if (string_of(document, device) or "").startswith("cuda"):
            continue
        del seeded[scope.start_byte]
        yield Match(
            call.start_byte,
            call.end_byte,
            _(
                "No fault: each back end has random numbers of its own, so that the same seed gives "
                "others on MPS than on CUDA. To compare devices, draw on the CPU and move."
            ),
        )


RULE = Rule(
    code="D144",
    name="seeded-draw",
    severity=Severity.COSMETIC,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"torch.manual_seed(",),
    what=N_("Random numbers are drawn on a device after a seed was set."),
    why=N_(
        "A seed makes a run repeatable on one kind of device. Results that begin with such numbers "
        "differ between MPS and CUDA, and even between CUDA cards, without anything being wrong."
    ),
    advice=N_(
        "For a comparison between devices draw on the CPU with a generator of its own and move the "
        "result. This changes what the seed gives on CUDA, so make it an option. Leave dropout and "
        "sampling out of such a comparison."
    ),
    source="https://docs.pytorch.org/docs/stable/notes/randomness.html",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                torch.manual_seed(1234)
                latents = torch.randn(1, 4, 64, 64, device=device)
                noise = torch.randn(1, 4, 64, 64, device=device)
                """,
            finds=("torch.randn(1, 4, 64, 64, device=device)",),
        ),
        Example(
            text="""\
                import torch
                torch.manual_seed(1234)
                latents = torch.randn(1, 4, 64, 64).to(device)
                """,
        ),
        Example(
            text="""\
                import torch
                torch.manual_seed(1234)
                latents = torch.randn(1, 4, device="cpu")
                ones = torch.ones(1, 4, device=device)
                """,
        ),
        Example(text="""import torch\nlatents = torch.randn(1, 4, device=device)\n"""),
        Example(
            text="""\
                import torch
                def seed():
                    torch.manual_seed(1)
                def draw(device):
                    return torch.rand(3, device=device)
                """,
        ),
    ),
)
