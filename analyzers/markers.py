"""Environment markers (PEP 508), asked for a Mac with Apple silicon."""

from packaging.markers import Marker

_MAC = {
    "implementation_name": "cpython",
    "os_name": "posix",
    "platform_machine": "arm64",
    "platform_python_implementation": "CPython",
    "platform_release": "24.0.0",
    "platform_system": "Darwin",
    "platform_version": "Darwin Kernel Version 24.0.0",
    "sys_platform": "darwin",
    "extra": "",
}
_PYTHONS = ("3.8", "3.9", "3.10", "3.11", "3.12", "3.13", "3.14")


def wanted_on_mac(marker: Marker | None) -> bool:
    """Whether a requirement's marker holds on a Mac, for any Python that is in use.

    Each line is asked for itself: one that names macOS may well be the wrong one of two.
    """
    if marker is None:
        return True
    for python in _PYTHONS:
        environment = dict(_MAC, python_version=python, python_full_version=f"{python}.0")
        environment["implementation_version"] = f"{python}.0"
        try:
            if marker.evaluate(environment):
                return True
        except (ValueError, RecursionError):  # a comparison that has no meaning excludes nothing
            return True
    return False


def marker_holds(marker: str) -> bool:
    """The same for a marker as text; one that the standard does not allow excludes nothing."""
    if not marker.strip():
        return True
    try:
        return wanted_on_mac(Marker(marker))
    except (ValueError, RecursionError):
        return True
