"""Mixed precision for CUDA, and the regions that turn it off."""

from tree_sitter import Node

from analyzers.arguments import argument, keyword, string_of
from analyzers.documents.python import PythonDocument
from analyzers.guards import Standing, standing

_CUDA = ("torch.cuda.amp.autocast", "torch.cuda.amp.autocast_mode.autocast")
#: The names of autocast that can be given CUDA.
AUTOCAST = ("torch.autocast", "torch.amp.autocast", *_CUDA)

#: The names of the scaler that is for CUDA.
SCALERS = ("torch.cuda.amp.GradScaler", "torch.cuda.amp.grad_scaler.GradScaler")


def is_turned_off(call: Node) -> bool:
    """Whether a call of autocast or GradScaler is given ``enabled=False``."""
    off = keyword(call, "enabled") if call.type == "call" else None
    return off is not None and off.type == "false"


def is_full_precision_region(document: PythonDocument, call: Node) -> bool:
    """Whether a call turns autocast off for CUDA alone, on whatever device the program runs."""
    function = call.child_by_field_name("function")
    name = document.dotted(function) if function is not None else None
    if name not in AUTOCAST:
        return False
    if name in _CUDA:
        off = argument(call, "enabled", 0)
        if off is None or off.type != "false":
            return False
    elif not is_turned_off(call) or string_of(document, argument(call, "device_type", 0)) != "cuda":
        return False
    return standing(document, call) is Standing.BARE
