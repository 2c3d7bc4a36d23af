"""D106: a variable, default or result that is ``"cuda"``."""

from collections.abc import Iterator

from analyzers.choices import is_in_choice
from analyzers.devices import DeviceString, Role, device_strings, is_device_name, label_of
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, standing
from analyzers.messages import device_match, handled_message, other_meaning, skipped_message
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Assigned, returned and stored device strings, defaults of parameters, lists of devices."""
    for string in device_strings(document):
        if is_in_choice(document, string.node):
            continue
        node = string.node
        if string.role is Role.COLLECTION:
            yield _listed(document, string)
        elif string.role is Role.CHOICE:
            found = standing(document, node)
            handled = found is Standing.HANDLED
            if found is Standing.SKIPPED:
                yield Match(
                    node.start_byte, node.end_byte, skipped_message(), Severity.COSMETIC, Fix.NONE
                )
                continue
            yield Match(
                node.start_byte,
                node.end_byte,
                handled_message()
                if handled
                else _(
                    "One of two branches is CUDA, and neither is MPS: look which one a Mac takes."
                ),
                severity=Severity.COSMETIC if handled else Severity.DEGRADES,
                fix=Fix.NONE if handled else Fix.MANUAL,
            )
        elif string.role in (Role.ASSIGNMENT, Role.DEFAULT):
            holder = string.holder
            label = label_of(document, string)
            bare = standing(document, node) is Standing.BARE
            if label and bare and not is_device_name(document, label):
                yield Match(
                    node.start_byte,
                    node.end_byte,
                    other_meaning(label),
                    severity=Severity.DEGRADES,
                    fix=Fix.MANUAL,
                )
                continue
            start = holder.start_byte if string.role is Role.DEFAULT else node.start_byte
            yield device_match(document, string, start, node.end_byte, node)


def _listed(document: PythonDocument, string: DeviceString) -> Match:
    start, end = string.node.start_byte, string.node.end_byte
    if b"mps" in document.text[string.holder.start_byte : string.holder.end_byte]:
        message = _("A list of devices that has MPS in it too: nothing to do.")
        return Match(start, end, message, Severity.COSMETIC, Fix.NONE)
    if standing(document, string.node) in (Standing.GUARDED, Standing.SKIPPED):
        return Match(start, end, skipped_message(), Severity.COSMETIC, Fix.NONE)
    message = _("A list of devices that has CUDA in it and not MPS.")
    return Match(start, end, message, Severity.DEGRADES, Fix.MANUAL)


RULE = Rule(
    code="D106",
    name="device-value",
    severity=Severity.BLOCKS,
    fix=Fix.SAFE,
    reads=PythonDocument,
    triggers=(rb"cuda",),
    what=N_("A variable, a default parameter or a stored setting is the device CUDA."),
    why=N_(
        "Whatever uses the value fails on a Mac, often far from this line. The fault is here and "
        "not at the call that passes nothing."
    ),
    advice=N_("Choose the value from what the machine has; keep accepting what a caller passes."),
    source="https://docs.pytorch.org/docs/stable/tensor_attributes.html#torch.device",
    find=find,
    examples=(
        Example(
            text="""\
                import torch
                device = "cuda"
                """,
            finds=('"cuda"',),
            after="""\
                import torch
                device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                """,
        ),
        Example(
            text="""\
                import torch
                def build(task, device="cuda:0"):
                    return task
                """,
            finds=('device="cuda:0"',),
            after="""\
                import torch
                def build(task, device="cuda:0" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"):
                    return task
                """,
        ),
        Example(
            text="""\
                device = f"cuda:{local_rank}"
                settings = {"device": "cuda:1"}
                for device in ["cpu", "cuda"]:
                    run(device)
                devices = ["cuda:" + str(index) for index in range(count)]
                """,
            finds=('f"cuda:{local_rank}"', '"cuda:1"', '"cuda"', '"cuda:" + str(index)'),
        ),
        Example(
            text="""\
                import torch
                def bias_act(x, impl="cuda"):
                    backend = "cuda"
                """,
            finds=('"cuda"', '"cuda"'),
        ),
        Example(
            text="""\
                for device in ["cpu", "cuda", "mps"]:
                    run(device)
                def load(device: Literal["auto", "cpu", "cuda"] = "auto"):
                    return environ.get("DEVICE", "cuda:0")
                """,
            finds=('"cuda"', '"cuda"', '"cuda:0"'),
            after="""\
                import torch
                for device in ["cpu", "cuda", "mps"]:
                    run(device)
                def load(device: Literal["auto", "cpu", "cuda"] = "auto"):
                    return environ.get("DEVICE", "cuda:0" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu")
                """,
        ),
        Example(
            text="""\
                GPU = "cuda"
                def run(model):
                    return model.to(GPU)
                """,
            finds=('"cuda"',),
            after="""\
                import torch
                GPU = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
                def run(model):
                    return model.to(GPU)
                """,
        ),
        Example(text="""sizes = {"cuda": 4}\nprint(sizes["cuda"])\n"""),
        Example(text="""device = "cpu"\nname = "cuda toolkit"\nfolder = "cuda/kernels"\n"""),
        Example(
            text="""\
                def build(size, device="cuda"):
                    '''Build it on a device.'''
                    weight = torch.rand(size)
                    return weight
                """,
            finds=('device="cuda"',),
        ),
        Example(text="""def f():\n    "cuda"\n    return 1\n"""),
    ),
)
