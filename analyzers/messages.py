"""Sentences that several rules share."""

from analyzers.devices import DeviceString
from project.translation import _


def device_message(string: DeviceString, guarded: bool) -> str:
    """What a device string means on a Mac."""
    if guarded:
        return _("Runs only where CUDA is available, and is skipped on a Mac.")
    if string.index == -1:
        return _(
            "The number of a CUDA device is computed here: a Mac has one MPS device and no "
            "numbers; look at how several GPUs are meant to be used."
        )
    if string.index:
        return _(
            "CUDA device number {index} has no counterpart on a Mac, which has exactly one MPS "
            "device; look at what the other card is for."
        ).format(index=string.index)
    return _('On a Mac the first use of this device raises "Torch not compiled with CUDA enabled".')


def other_meaning(label: str) -> str:
    """What to say of a value "cuda" whose name does not sound like a device."""
    return _(
        '`{name}` is "cuda" here, and its name does not sound like a device: look what the other '
        "values mean."
    ).format(name=label)
