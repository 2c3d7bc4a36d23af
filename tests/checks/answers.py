"""Answers of the probe, constructed from the documented formats; none was recorded on a Mac."""

from typing import Any

from checks.environment import Answer, Machine

LINUX = Machine("Linux", "6.1", "x86_64", "", False)

MAC: dict[str, dict[str, Any]] = {
    "system": {
        "system": "Darwin",
        "release": "24.1.0",
        "process": "arm64",
        "build": "macosx-11.0-arm64",
        "macos": "15.1",
        "apple_silicon": True,
        "translated": False,
    },
    "python": {
        "version": "3.12.1",
        "implementation": "CPython",
        "executable": "/Users/a/p/.venv/bin/python",
        "prefix": "/Users/a/p/.venv",
        "base_prefix": "/opt/python",
        "virtual": True,
        "conda": False,
    },
    "variables": {"PYTORCH_ENABLE_MPS_FALLBACK": "0"},
    "packages": {"versions": {"numpy": "2.1.0", "torch": "2.9.0"}},
    "torch_installed": {
        "installed": True,
        "version": "2.9.0",
        "installer": "pip",
        "wheel": ["cp312-none-macosx_11_0_arm64"],
        "installed_at": "2026-11-01T10:00:00Z",
    },
    "libraries": {"looked": 40, "without_arm64": [], "count": 0},
    "torch": {"version": "2.9.0", "file": "/x/torch/__init__.py", "cuda": None, "hip": None},
    "mps_built": {"value": True},
    "mps_available": {"value": True},
    "mps_tensor": {"device": "mps:0", "sum_device": "mps:0", "sum": 16.0},
    "cuda": {"available": False, "devices": []},
    "import:numpy": {"installed": True, "modules": ["numpy"], "exit": 0},
}


def of_a_mac(**changed: dict[str, Any]) -> dict[str, Answer]:
    return {question: Answer(value) for question, value in {**MAC, **changed}.items()}
