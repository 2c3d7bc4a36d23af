"""D109: mixed precision is asked of MPS where that is there, and of CUDA as before."""

from project.translation import _
from project.vocabulary import Fix
from rewriters.draft import Context, Draft
from rewriters.mixed_precision import for_mps, needed


def rewrite(context: Context) -> Draft | None:
    """Give autocast and GradScaler the kind of device, from the release on that takes it."""
    edits = for_mps(context)
    if edits is None:
        return None
    why = _(
        "Mixed precision is on for MPS too, autocast and scaler alike: take all of a program's or "
        "none, and compare results. With CUDA, and on the CPU, nothing changes. Needs PyTorch "
        "{release}."
    ).format(release=needed(context.document))
    return Draft(edits, Fix.REVIEW, why)
