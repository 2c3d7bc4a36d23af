"""D109: automatic mixed precision that names CUDA."""

from collections.abc import Iterator

from tree_sitter import Node

from analyzers.arguments import call_of
from analyzers.autocast import is_full_precision_region, is_turned_off
from analyzers.devices import Role, device_strings, is_annotation
from analyzers.documents.python import PythonDocument, under
from analyzers.guards import Standing, standing
from analyzers.messages import handled_message, skipped_message
from analyzers.rule import Example, Match, Rule
from project.translation import N_, _
from project.vocabulary import Fix, Severity


def find(document: PythonDocument) -> Iterator[Match]:
    """Uses of ``torch.cuda.amp`` and of autocast or GradScaler for CUDA."""
    message = _(
        "Without CUDA this warns and switches itself off: on a Mac the program runs in full "
        "precision. A run without an error proves nothing: look at the dtype of a result in between."
    )
    for reference in document.references("torch.cuda"):
        if not under(reference.name, "torch.cuda.amp"):
            continue
        if is_annotation(reference.node) or _is_defined(reference.node):
            continue
        node = call_of(reference.node) or reference.node
        if (named := _named(node)) is not None:
            yield named
            continue
        if not is_full_precision_region(document, node):
            yield _graded(document, node, message)
    for string in device_strings(document):
        if string.role is Role.AUTOCAST and not is_full_precision_region(document, string.holder):
            yield _graded(document, string.holder, message)


def _is_defined(node: Node) -> bool:
    """Whether a name gets another meaning here, for where PyTorch does not have it."""
    parent = node.parent
    return parent is not None and (
        parent.type == "class_definition"
        or (parent.type == "assignment" and parent.child_by_field_name("left") == node)
    )


def _named(node: Node) -> Match | None:
    """What to say of a class that is compared with, or given another name, and not called here."""
    parent = node.parent
    if node.type == "call" or parent is None:
        return None
    if parent.type in ("conditional_expression", "assignment"):
        message = _(
            "CUDA's mixed precision under another name: what is called by it warns without CUDA "
            "and switches itself off."
        )
        return Match(node.start_byte, node.end_byte, message, fix=Fix.MANUAL)
    call = parent.parent if parent.type == "argument_list" else None
    function = call.child_by_field_name("function") if call is not None else None
    if function is None or function.text not in (b"isinstance", b"issubclass"):
        return None
    message = _("Asks for CUDA's class by its name, and does nothing with CUDA.")
    return Match(node.start_byte, node.end_byte, message, Severity.COSMETIC, Fix.NONE)


def _graded(document: PythonDocument, node: Node, message: str) -> Match:
    found = standing(document, node)
    if is_turned_off(node):
        message = _("Turned off, whatever the device: only the name is CUDA's.")
        return Match(node.start_byte, node.end_byte, message, Severity.COSMETIC, Fix.NONE)
    if found is Standing.BARE:
        if cast := _cast(node):
            return Match(node.start_byte, node.end_byte, cast, fix=Fix.MANUAL)
        return Match(node.start_byte, node.end_byte, message)
    if found is Standing.SKIPPED:
        return Match(node.start_byte, node.end_byte, skipped_message(), Severity.COSMETIC, Fix.NONE)
    mild = (
        handled_message()
        if found is Standing.HANDLED
        else _("Runs only where CUDA is available: on a Mac there is no mixed precision here.")
    )
    severity = Severity.COSMETIC if found is Standing.HANDLED else Severity.DEGRADES
    return Match(node.start_byte, node.end_byte, mild, severity=severity, fix=Fix.NONE)


def _cast(node: Node) -> str:
    """What to say of a decorator that casts for autocast; nothing of autocast itself."""
    if b"custom_fwd" not in (node.text or b"") and b"custom_bwd" not in (node.text or b""):
        return ""
    return _(
        "Speaks to CUDA's autocast alone: under an autocast for MPS the function is neither cast "
        "nor kept out of it. torch.amp has it with device_type from PyTorch 2.4 on."
    )


RULE = Rule(
    code="D109",
    name="cuda-amp",
    severity=Severity.DEGRADES,
    fix=Fix.REVIEW,
    reads=PythonDocument,
    triggers=(rb"cuda", rb"GradScaler", rb"custom_fwd", rb"custom_bwd"),
    what=N_("Mixed precision is asked for on CUDA by name."),
    why=N_(
        "torch.cuda.amp is deprecated, and for CUDA alone. A mechanical autocast('mps') is no "
        "cure: it is an error before PyTorch 2.5."
    ),
    advice=N_(
        "The names in torch.cuda.amp are deprecated since PyTorch 2.4; torch.autocast(device.type, "
        "dtype=...) takes 'mps' from PyTorch 2.5 on (float16; bfloat16 "
        "from 2.6), and GradScaler from 2.8 on; keep the old form for older releases."
    ),
    source="https://docs.pytorch.org/docs/stable/amp.html; macOS arm64 wheels 2.6.0 and 2.8.0, read",
    since="autocast('mps'): PyTorch 2.5",
    find=find,
    examples=(
        Example(
            text="""\
                from torch.cuda.amp import GradScaler, custom_fwd

                def step(scaler: GradScaler):
                    pass

                class Scale(Function):
                    @staticmethod
                    @custom_fwd
                    def forward(ctx, x):
                        return x
                """,
            finds=("custom_fwd",),
        ),
        Example(
            text="""\
                import torch
                from torch.cuda.amp import autocast as ac
                scaler = torch.cuda.amp.GradScaler()
                with ac():
                    pass
                with torch.autocast("cuda", dtype=torch.float16):
                    pass
                with torch.amp.autocast(device_type="cuda"):
                    pass
                """,
            finds=(
                "torch.cuda.amp.GradScaler()",
                "ac()",
                'torch.autocast("cuda", dtype=torch.float16)',
                'torch.amp.autocast(device_type="cuda")',
            ),
            after="""\
                import torch
                from torch.cuda.amp import autocast as ac
                scaler = torch.amp.GradScaler("mps" if torch.backends.mps.is_available() else "cuda")
                with torch.autocast("mps" if torch.backends.mps.is_available() else "cuda"):
                    pass
                with torch.autocast("mps" if torch.backends.mps.is_available() else "cuda", dtype=torch.float16):
                    pass
                with torch.amp.autocast(device_type="mps" if torch.backends.mps.is_available() else "cuda"):
                    pass
                """,
        ),
        Example(
            text="""\
                from torch.cuda import amp

                with amp.autocast(use_amp, dtype=half), other():
                    pass
                with amp.autocast(*options):
                    pass
                """,
            finds=("amp.autocast(use_amp, dtype=half)", "amp.autocast(*options)"),
            after="""\
                from torch.cuda import amp
                import torch

                with torch.autocast("mps" if torch.backends.mps.is_available() else "cuda", enabled=use_amp, dtype=half), other():
                    pass
                with amp.autocast(*options):
                    pass
                """,
        ),
        Example(
            text="""\
                import torch
                scaler = torch.cuda.amp.GradScaler(enabled=False)
                if device.type == "cuda":
                    with torch.autocast("cuda", enabled=False):
                        pass
                """,
            finds=(
                "torch.cuda.amp.GradScaler(enabled=False)",
                'torch.autocast("cuda", enabled=False)',
            ),
        ),
        Example(text="""import torch\nwith torch.cuda.amp.autocast(False):\n    pass\n"""),
        Example(
            text="""\
                from torch.cuda.amp import GradScaler, custom_fwd
                kind = New if later else GradScaler
                @custom_fwd
                def forward(ctx, x):
                    assert isinstance(ctx.scaler, GradScaler)
                class GradScaler:
                    pass
                """,
            finds=("GradScaler", "custom_fwd", "GradScaler"),
        ),
        Example(
            text="""\
                from torch.cuda.amp import GradScaler
                def scaler(old: GradScaler | None = None) -> GradScaler:
                    return old
                """,
        ),
        Example(text="""with torch.autocast(device.type):\n    pass\n"""),
        Example(text="""with torch.autocast("cpu"):\n    pass\n"""),
        Example(
            text="""\
                from torch import autocast
                from contextlib import nullcontext
                scope = autocast if half else nullcontext
                with scope("cuda"):
                    pass
                """,
            finds=('scope("cuda")',),
            after="""\
                from torch import autocast
                from contextlib import nullcontext
                import torch
                scope = autocast if half else nullcontext
                with scope("mps" if torch.backends.mps.is_available() else "cuda"):
                    pass
                """,
        ),
        Example(text="""from torch.cuda.amp import autocast\n# autocast()\n"""),
    ),
)
