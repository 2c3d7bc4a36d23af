"""D102: ``torch.device("cuda")`` with no other device in sight."""

from collections.abc import Iterator

from analyzers.choices import is_in_choice
from analyzers.devices import Role, device_strings
from analyzers.documents.python import PythonDocument
from analyzers.messages import device_match
from analyzers.rule import Example, Match, Rule
from project.translation import N_
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Constructor calls that name CUDA alone, outside of choices."""
    for string in device_strings(document):
        if string.role is not Role.CONSTRUCTOR or is_in_choice(document, string.holder):
            continue
        call = string.holder
        yield device_match(document, string, call.start_byte, call.end_byte, call)


RULE = Rule(
    code="D102",
    name="device-constructor",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A torch.device that is always CUDA."),
    why=N_(
        "Making the object succeeds anywhere; the first tensor placed on it raises "
        '"Torch not compiled with CUDA enabled" on a Mac.'
    ),
    advice=N_("Name the device once, chosen from what the machine has, and use that name."),
    source="https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                device = torch.device("cuda")
                """,
            finds=('torch.device("cuda")',),
            after="""\
                import torch
                device = torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                import torch
                def place(x, device):
                    return x.to(torch.device("cuda:0"))
                """,
            finds=('torch.device("cuda:0")',),
            after="""\
                import torch
                def place(x, device):
                    return x.to(device)
                """,
        ),
        Example(
            text="""\
                import torch
                second = torch.device("cuda:1")
                mine = torch.device(f"cuda:{rank}")
                yours = torch.device("cuda", rank)
                """,
            finds=(
                'torch.device("cuda:1")',
                'torch.device(f"cuda:{rank}")',
                'torch.device("cuda", rank)',
            ),
        ),
        Example(
            text="""\
                import torch
                device = torch.device("cpu")
                device = torch.device(args.device)
                device = torch.device("cuda") if torch.cuda.is_available() else torch.device("mps")
                """,
        ),
        Example(
            text="""\
                import torch
                def pick_device():
                    if torch.cuda.is_available():
                        return torch.device("cuda")
                    if torch.backends.mps.is_available():
                        return torch.device("mps")
                    return torch.device("cpu")
                """,
            finds=('torch.device("cuda")',),
        ),
        Example(
            text="""\
                import torch
                last = torch.device(type="cuda", index=1)
                """,
            finds=('torch.device(type="cuda", index=1)',),
        ),
        Example(
            path="test_pool.py",
            text="""\
                import torch
                from unittest.mock import patch
                with patch("pool.device", return_value=torch.device("cuda", 1)):
                    x = torch.ones(2, device=torch.device("cuda"))
                """,
            finds=('torch.device("cuda", 1)', 'torch.device("cuda")'),
            after="""\
                import torch
                from unittest.mock import patch
                with patch("pool.device", return_value=torch.device("cuda", 1)):
                    x = torch.ones(2, device=torch.device("cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"))
                """,
        ),
        Example(text="""# torch.device("cuda")\n"""),
        Example(text="""title = "use torch.device('cuda') here"\n"""),
    ),
)
