"""D134: a default device that a loader's sampler does not know."""

from collections.abc import Iterator

from analyzers.arguments import call_of, is_true, keyword, positional
from analyzers.documents.python import PythonDocument
from analyzers.reach import is_device, settled
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """``torch.set_default_device`` in a file whose loaders shuffle."""
    if not _shuffles(document):
        return
    for reference in document.references("torch.set_default_device"):
        call = call_of(reference.node)
        if call is None or not is_device(document, positional(call, 0)) or settled(document, call):
            continue
        yield Match(
            call.start_byte,
            call.end_byte,
            _(
                "A loader that shuffles draws its order with a generator on the CPU, but makes the "
                "order on the default device: the first batch raises where that is MPS or CUDA. "
                "Name the device where tensors are made instead."
            ),
        )


def _shuffles(document: PythonDocument) -> bool:
    for name in ("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"):
        for reference in document.references(name):
            call = call_of(reference.node)
            if call is not None and is_true(keyword(call, "shuffle")):
                return True
    return False


RULE = Rule(
    code="D134",
    name="default-device-sampler",
    severity=Severity.BLOCKS,
    fix=Fix.MANUAL,
    reads=PythonDocument,
    triggers=(b"set_default_device",),
    what=N_("The default device is set in a program whose loaders shuffle."),
    why=N_(
        "Samplers of PyTorch 2 make their permutation on the default device with a CPU generator, "
        "and the two must agree."
    ),
    advice=N_(
        "Leave the default device alone and pass device= where tensors are made; give samplers a "
        "generator on the CPU."
    ),
    source="torch/utils/data/sampler.py of PyTorch 2.13.0, read",
    since="torch.set_default_device: PyTorch 2.0",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                from torch.utils.data import DataLoader
                torch.set_default_device("mps")
                loader = DataLoader(data, batch_size=4, shuffle=True)
                """,
            finds=('torch.set_default_device("mps")',),
        ),
        Example(
            text="""\
                import torch
                from torch.utils.data import DataLoader
                torch.set_default_device("cpu")
                loader = DataLoader(data, shuffle=True)
                """,
        ),
        Example(
            text="""\
                import torch
                from torch.utils.data import DataLoader
                torch.set_default_device("mps")
                loader = DataLoader(data, shuffle=False)
                """,
        ),
        Example(text="""import torch\ntorch.set_default_device(device)\nx = torch.ones(2)\n"""),
        Example(
            text="""\
                import torch
                from torch.utils.data import DataLoader
                loader = DataLoader(data, shuffle=True, generator=torch.Generator())
                """,
        ),
    ),
)
