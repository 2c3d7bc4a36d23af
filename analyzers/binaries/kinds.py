"""What a file is, by its first bytes, and by its name only where they say nothing."""

import re
import struct

#: As many bytes as :func:`kind_of` looks at.
HEAD = 512

_MACHO = {b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xce\xfa\xed\xfe", b"\xcf\xfa\xed\xfe"}
#: The number that the first pickle of a checkpoint from before PyTorch 1.6 holds.
LEGACY_TORCH = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."

_STARTS = (
    (b"\x7fELF", "elf"),
    (b"MZ", "pe"),
    (b"!<arch>\n", "static-library"),
    (LEGACY_TORCH, "checkpoint"),
    (b"\x50\xed\x55\xba", "fatbin"),
    (b"ftrt", "tensorrt"),
    (b"ptrt", "tensorrt"),
    (b"GGUF", "gguf"),
    (b"version https://git-lfs.github.com/spec/", "git-lfs"),
)
#: Archives and compressed files that are named as not looked into.
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"7z\xbc\xaf'")

_PROTOCOLS = (b"\x02", b"\x03", b"\x04", b"\x05")

_MODEL = re.compile(
    r"\.(?:pt[2l]?|pth|pkl|pickle|pck|pcl|p|ckpt|bin|joblib|ts|jit|torchscript|model|tar|weights)\Z"
)
_ZIPS = re.compile(r"\.(?:zip|conda|egg|mar|nemo)\Z")
_ENGINE = re.compile(r"\.(?:engine|plan|trt)\Z")
_PICKLE = re.compile(r"\.(?:pkl|pickle|pck|pcl|p)\Z")
_PACKED_NAME = re.compile(r"\.(?:tar\.\w+|tgz|tbz2?|txz|7z)\Z|\.(?:pkl|pickle|pth?|bin)\.\w+\Z")


def kind_of(head: bytes, path: str) -> str | None:
    """What a file is, or None for one of which nothing can be said.

    Args:
        head: its first :data:`HEAD` bytes.
        path: its path; only the end of the name is looked at.
    """
    name = path.rpartition("/")[2].lower()
    for start, kind in _STARTS:
        if head.startswith(start):
            return kind
    if head[:4] in _MACHO or _is_universal(head):
        return "macho"
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _zip_kind(name)
    if head[:1] == b"\x80" and head[1:2] in _PROTOCOLS and _is_model(name):
        return "pickle"
    if _ENGINE.search(name) and head[4:5] == b"{":
        return "tensorrt"
    if name.endswith(".onnx"):
        return "onnx"
    if name.endswith(".ptx"):
        return "ptx"
    if name.endswith(".safetensors"):
        return "safetensors"
    if head[257:262] == b"ustar":
        return "archive"
    if head.startswith(_PACKED) and _PACKED_NAME.search(name):
        return "archive"
    # Pickles of protocol 0 are text.
    return "pickle" if head.startswith((b"(", b"c", b"]", b"}")) and _PICKLE.search(name) else None


def _is_universal(head: bytes) -> bool:
    """Whether this is a Mach-O file for several machines; a Java class has the same first word."""
    if head[:4] not in (b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf") or len(head) < 8:
        return False
    return 0 < int(struct.unpack(">I", head[4:8])[0]) < 32


def _zip_kind(name: str) -> str | None:
    if name.endswith(".whl"):
        return "wheel"
    if _ZIPS.search(name):
        return "zip"
    return "checkpoint-zip" if _is_model(name) else None


def _is_model(name: str) -> bool:
    return "." not in name or _MODEL.search(name) is not None
