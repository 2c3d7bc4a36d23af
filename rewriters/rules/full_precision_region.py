"""D123: a region that is kept out of CUDA's autocast is kept out of that of MPS too."""

from project.translation import _
from project.vocabulary import Fix
from rewriters.draft import Context, Draft
from rewriters.mixed_precision import AUTOCAST_SINCE, for_mps


def rewrite(context: Context) -> Draft | None:
    """Give autocast the kind of device, from the release on that takes it."""
    edits = for_mps(context)
    if edits is None:
        return None
    why = _(
        "Where MPS is there, its autocast is what is switched off here, so that the region keeps "
        "its precision; with CUDA, and on the CPU, nothing changes. Needs PyTorch {release}."
    ).format(release=AUTOCAST_SINCE)
    return Draft(edits, Fix.REVIEW, why)
