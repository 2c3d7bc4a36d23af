"""Answers questions about the environment that it runs in: system, Python, packages, PyTorch.

This file runs inside somebody else's interpreter: Python 3.8 or later, with any PyTorch from 1.12
on or none. It uses the standard library and torch alone, and writes nothing but its answers.

    environment.py --channel 5 --packages numpy torch --questions system python torch

``--channel`` is an inherited file descriptor or the path of a file. On it goes one JSON object a
line, written at once, so that a crash in one question leaves the answers before it:

    {"begin": "mps_tensor"}
    {"question": "mps_tensor", "answer": {...}}      or      {"question": ..., "error": "..."}
    {"end": true}

Standard output and standard error stay untouched: they belong to what is imported.
"""

import sys

# A script's folder comes first on the path; nothing in it may shadow a module of theirs.
if __name__ == "__main__" and not getattr(sys.flags, "safe_path", False):
    del sys.path[0]

import argparse
import datetime
import json
import os
import pathlib
import platform
import struct
import subprocess
import sysconfig

MASKED = ("TOKEN", "KEY", "SECRET", "PASSWORD", "CREDENTIAL")
LIBRARIES = (".so", ".dylib")
ARM64 = 0x0100000C  # CPU_TYPE_ARM64 in Apple's <mach/machine.h>
IMPORT_SECONDS = 60


def ask_system(_packages):
    """Name the system, and the architecture of the machine and of this process.

    Under Rosetta `uname` answers as on an Intel Mac, so the kernel is asked as well.
    """
    answer = {
        "system": platform.system(),
        "release": platform.release(),
        "process": platform.machine(),
        "build": sysconfig.get_platform(),
    }
    if answer["system"] == "Darwin":
        answer["macos"] = _sysctl_text("kern.osproductversion") or platform.mac_ver()[0]
        answer["apple_silicon"] = _sysctl_number("hw.optional.arm64") == 1
        answer["translated"] = _sysctl_number("sysctl.proc_translated") == 1
    return answer


def _sysctl(name, size):
    """Read one value of the kernel's; ``None`` where it has no such name."""
    import ctypes

    value = ctypes.create_string_buffer(size)
    length = ctypes.c_size_t(size)
    libc = ctypes.CDLL(None)
    if libc.sysctlbyname(name.encode(), value, ctypes.byref(length), None, ctypes.c_size_t(0)):
        return None
    return value.raw[: length.value]


def _sysctl_number(name):
    value = _sysctl(name, 8)
    return int.from_bytes(value, sys.byteorder) if value else None


def _sysctl_text(name):
    value = _sysctl(name, 256)
    return value.rstrip(b"\0").decode() if value else ""


def ask_python(_packages):
    """Name this interpreter, where it lies, and the virtual environment that it belongs to."""
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
        "virtual": sys.prefix != sys.base_prefix,
        "conda": (pathlib.Path(sys.prefix) / "conda-meta").is_dir(),
    }


def ask_variables(_packages):
    """List the variables that steer PyTorch and CUDA; one that looks like a secret is masked."""
    return {
        name: "(not kept)" if any(word in name.upper() for word in MASKED) else value
        for name, value in sorted(os.environ.items())
        if name.startswith(("PYTORCH_", "CUDA_"))
    }


def ask_packages(packages):
    """Tell each package's installed version, ``None`` where it isn't installed."""
    versions = {}
    for name in packages:
        found = _distribution(name)
        versions[name] = found.version if found is not None else None
    return {"versions": versions}


def _distribution(name):
    from importlib import metadata

    try:
        return metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return None


def ask_torch_installed(_packages):
    """Tell from its metadata how and when PyTorch was installed, without importing it."""
    found = _distribution("torch")
    if found is None:
        return {"installed": False}
    answer = {"installed": True, "version": found.version}
    for key, name in (
        ("installer", "INSTALLER"),
        ("wheel", "WHEEL"),
        ("origin", "direct_url.json"),
    ):
        text = found.read_text(name)
        if text is not None:
            answer[key] = text.strip()[:2000]
    answer["wheel"] = [
        line[5:].strip()
        for line in answer.get("wheel", "").splitlines()
        if line.startswith("Tag: ")
    ]
    # Installers write the metadata when they install; the wheel's own times are not kept.
    file = found.locate_file("torch-%s.dist-info/METADATA" % found.version)
    try:
        seconds = pathlib.Path(str(file)).stat().st_mtime
    except OSError:
        return answer
    moment = datetime.datetime.fromtimestamp(int(seconds), datetime.timezone.utc)
    answer["installed_at"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return answer


def ask_torch(_packages):
    """Import PyTorch, and tell its version and whether it was built for CUDA or ROCm."""
    import torch

    return {
        "version": str(torch.__version__),
        "file": torch.__file__,
        "cuda": getattr(torch.version, "cuda", None),
        "hip": getattr(torch.version, "hip", None),
    }


def ask_mps_built(_packages):
    """Ask whether this PyTorch was built with MPS. It says nothing about this machine."""
    return _mps("is_built")


def ask_mps_available(_packages):
    """Ask whether this machine and system can use MPS. It says nothing about any operator."""
    return _mps("is_available")


def _mps(question):
    import torch

    backend = getattr(torch.backends, "mps", None)
    if backend is None:
        return {"value": False, "reason": "torch.backends.mps does not exist: PyTorch < 1.12"}
    return {"value": bool(getattr(backend, question)())}


def ask_mps_tensor(_packages):
    """Sum sixteen ones on MPS, and tell where the tensors lay."""
    return _smallest("mps")


def ask_cuda(_packages):
    """Name the CUDA devices that PyTorch sees, and sum sixteen ones on the first."""
    import torch

    answer = {"available": bool(torch.cuda.is_available()), "devices": []}
    if answer["available"]:
        count = torch.cuda.device_count()
        answer["devices"] = [torch.cuda.get_device_name(number) for number in range(count)]
        answer["tensor"] = _smallest("cuda")
    return answer


def _smallest(device):
    import torch

    try:
        ones = torch.ones((4, 4), device=device)
        total = ones.sum()
        return {"device": str(ones.device), "sum_device": str(total.device), "sum": total.item()}
    except Exception as error:
        return {"error": _told(error)}


def ask_libraries(_packages):
    """Find libraries among the installed packages that hold no arm64 code (macOS alone)."""
    if platform.system() != "Darwin":
        return {"looked": 0, "without_arm64": []}
    looked, without = 0, []
    for folder in sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
        for path in pathlib.Path(folder).rglob("*"):
            kinds = architectures(path) if path.suffix in LIBRARIES else []
            looked += bool(kinds)
            if kinds and ARM64 not in kinds:
                without.append(str(path.relative_to(folder)))
    return {"looked": looked, "without_arm64": sorted(without)[:50], "count": len(without)}


def architectures(path):
    """Return the CPU types that a Mach-O file is for; none for another kind of file.

    The layout is that of Apple's <mach-o/loader.h> and <mach-o/fat.h>: a thin 64-bit file is
    little-endian on every current Mac, a fat header big-endian with entries of 20 or 32 bytes.
    """
    try:
        with path.open("rb") as file:
            head = file.read(4096)
    except OSError:
        return []
    if len(head) < 8:
        return []
    if head[:4] in (b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe"):
        return [struct.unpack_from("<I", head, 4)[0]]
    if head[:4] not in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf"):
        return []
    step = 20 if head[3] == 0xBE else 32
    count = struct.unpack_from(">I", head, 4)[0]
    offsets = range(8, min(8 + count * step, len(head) - step + 1), step)
    return [struct.unpack_from(">I", head, offset)[0] for offset in offsets]


def ask_import(name):
    """Import one package's modules in a process of its own."""
    found = _distribution(name)
    if found is None:
        return {"installed": False}
    modules = _modules(found)
    if not modules:
        return {"installed": True, "modules": []}
    code = "import importlib, sys\nfor name in sys.argv[1:]: importlib.import_module(name)"
    try:
        done = subprocess.run(
            [sys.executable, "-c", code, *modules],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=IMPORT_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return {"installed": True, "modules": modules, "error": "no end after a minute"}
    answer = {"installed": True, "modules": modules, "exit": done.returncode}
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        answer["error"] = lines[-1][:500] if lines else "exit status %d" % done.returncode
    return answer


def _modules(found):
    """List the import names of a distribution: as it names them, else from its files."""
    named = (found.read_text("top_level.txt") or "").split()
    if not named:
        named = [_module(file.parts) for file in found.files or () if file.suffix in (".py", ".so")]
    return sorted({n for n in named if n and n.isidentifier() and not n.startswith("_")})[:5]


def _module(parts):
    if len(parts) == 1:
        return parts[0].split(".")[0]
    return parts[0] if parts[1] == "__init__.py" else ""


def _told(error):
    return ("%s: %s" % (type(error).__name__, error))[:2000]


QUESTIONS = {
    "system": ask_system,
    "python": ask_python,
    "variables": ask_variables,
    "packages": ask_packages,
    "torch_installed": ask_torch_installed,
    "libraries": ask_libraries,
    "torch": ask_torch,
    "mps_built": ask_mps_built,
    "mps_available": ask_mps_available,
    "mps_tensor": ask_mps_tensor,
    "cuda": ask_cuda,
}


def main(arguments):
    """Answer the questions on the channel, one line each."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--channel", required=True)
    parser.add_argument("--packages", nargs="*", default=[])
    parser.add_argument("--questions", nargs="*", default=list(QUESTIONS))
    options = parser.parse_args(arguments)
    if options.channel.isdigit():
        channel = int(options.channel)
        os.set_inheritable(channel, False)
    else:
        channel = os.open(options.channel, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for question in options.questions:
        _send(channel, {"begin": question})
        try:
            if question.startswith("import:"):
                line = {"question": question, "answer": ask_import(question[7:])}
            else:
                line = {"question": question, "answer": QUESTIONS[question](options.packages)}
        except (Exception, SystemExit) as error:
            line = {"question": question, "error": _told(error)}
        _send(channel, line)
    _send(channel, {"end": True})


def _send(channel, line):
    data = (json.dumps(line) + "\n").encode("ascii")
    while data:
        data = data[os.write(channel, data) :]


if __name__ == "__main__":
    main(sys.argv[1:])
