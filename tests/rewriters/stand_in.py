"""A stand-in for torch that says what machine it is on, and writes down every choice of a device.

It knows nothing of tensors. What a real torch does not do without CUDA, it refuses as well.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

#: What torch.cuda does without a CUDA device, of what the programs call.
_HARMLESS = ("manual_seed", "manual_seed_all", "empty_cache", "seed", "seed_all")


class Torch:
    """``torch`` on a machine that has ``kind``: ``cuda``, ``mps`` or ``cpu`` alone."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.log: list[tuple[str, str]] = []
        self.cuda = Cuda(self)
        self.backends = SimpleNamespace(
            mps=SimpleNamespace(is_available=lambda: kind == "mps"),
            cudnn=SimpleNamespace(is_available=lambda: kind == "cuda"),
        )
        self.amp = SimpleNamespace(autocast=self.autocast, GradScaler=self._scaler)
        self.float16, self.float32, self.float64 = "float16", "float32", "float64"
        self.nn = SimpleNamespace(Module=object, Linear=lambda *_sizes, **how: self.zeros(**how))

    def chosen(self, what: str, device: object) -> str:
        """Write down a device, and refuse one that this machine does not have."""
        name = self.kind if isinstance(device, int) else str(device)
        if name.partition(":")[0] not in (self.kind, "cpu"):
            raise AssertionError(f"{name} on a machine with {self.kind}")
        self.log.append((what, name))
        return name

    def device(self, name: object, index: int | None = None) -> "Device":
        return Device(str(name) + (f":{index}" if index is not None else ""))

    def autocast(self, device_type: str, *, enabled: bool = True, **_how: object) -> "Scope":
        """Mixed precision, which is off where CUDA is asked for and is not there."""
        on = enabled and not (device_type == "cuda" and self.kind != "cuda")
        self.log.append(("autocast", device_type if on else "off"))
        return Scope()

    def _scaler(self, device: str = "cuda", **how: Any) -> "Scope":
        self.log.append(("scaler", device if device == self.kind else "off"))
        return Scope()

    def zeros(self, *_sizes: object, device: object = None, **_how: object) -> "Tensor":
        return Tensor(self, self.chosen("new", device) if device is not None else "cpu")

    ones = randn = empty = tensor = zeros

    def load(self, _path: str, map_location: object = None) -> "Tensor":
        return Tensor(self, self.chosen("load", map_location))

    def Generator(self, device: object = "cpu") -> "Scope":
        self.chosen("generator", device)
        return Scope()

    def manual_seed(self, seed: int) -> None:
        self.log.append(("seed", str(seed)))


class Cuda:
    """``torch.cuda``: what it has is called on a machine with CUDA, and refused elsewhere."""

    def __init__(self, torch: Torch) -> None:
        self._torch = torch
        self.amp = SimpleNamespace(
            autocast=lambda enabled=True, **how: torch.autocast("cuda", enabled=enabled, **how),
            GradScaler=lambda **how: torch._scaler("cuda", **how),
        )

    def is_available(self) -> bool:
        return self._torch.kind == "cuda"

    def device_count(self) -> int:
        return int(self.is_available())

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def called(*given: object, **_named: object) -> Scope:
            if not self.is_available() and name not in _HARMLESS:
                raise AssertionError("Torch not compiled with CUDA enabled")
            self._torch.log.append((f"cuda.{name}", str(given)))
            return Scope()

        return called


class Device:
    """A device by its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.type, _colon, index = name.partition(":")
        self.index = int(index) if index else None

    def __str__(self) -> str:
        return self.name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


class Tensor:
    """A tensor or module that is somewhere."""

    def __init__(self, torch: Torch, device: str) -> None:
        self._torch = torch
        # A tensor names its card, even where what it was moved with did not.
        self.device = Device(device + ":0" if device == "cuda" else device)
        self.is_cuda = self.device.type == "cuda"

    def to(self, device: object, **_how: object) -> "Tensor":
        return Tensor(self._torch, self._torch.chosen("to", device))

    def cuda(self, device: object = None, **_how: object) -> "Tensor":
        if isinstance(device, int):
            device = f"cuda:{device}"
        return self.to("cuda" if device is None else device)

    def type(self, name: str) -> "Tensor":
        return self.to("cuda" if "cuda" in name else "cpu")


class Scope:
    """What is entered, called or asked, and does nothing."""

    def __enter__(self) -> "Scope":
        return self

    def __exit__(self, *_error: object) -> None:
        return None

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    def __getattr__(self, name: str) -> Callable[..., "Scope"]:
        return lambda *_given, **_named: self
