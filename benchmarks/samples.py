"""Small binaries of every kind that is examined, made by hand: nothing has to be compiled."""

import io
import struct
import zipfile
from collections.abc import Mapping, Sequence


def _padded(data: bytes, to: int = 8) -> bytes:
    return data + b"\0" * (-len(data) % to)


def elf(
    needs: Sequence[str] = (),
    *,
    name: str = "",
    sections: Sequence[str] = (),
    machine: int = 62,
    kind: int = 3,
    system: int = 0,
) -> bytes:
    """A 64-bit ELF file with a dynamic segment and empty sections of these names."""
    base = 0x400000
    strings, entries = b"\0", []
    for tag, text in [(1, one) for one in needs] + ([(14, name)] if name else []):
        entries.append((tag, len(strings)))
        strings += text.encode() + b"\0"
    start = 64 + 2 * 56
    entries += [(5, base + start), (10, len(strings)), (0, 0)]
    strings = _padded(strings)
    dynamic = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    titles, places = b"\0", [0]
    for title in (*sections, ".shstrtab"):
        places.append(len(titles))
        titles += title.encode() + b"\0"
    titles = _padded(titles)
    at = start + len(strings)
    names = at + len(dynamic)
    table = names + len(titles)
    end = table + 64 * len(places)
    head = b"\x7fELF\x02\x01\x01" + bytes([system]) + bytes(8)
    head += struct.pack("<HHIQQQ", kind, machine, 1, 0, 64, table)
    head += struct.pack("<IHHHHHH", 0, 64, 56, 2, 64, len(places), len(places) - 1)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, base, base, end, end, 4096)
    segment = struct.pack("<IIQQQQQQ", 2, 6, at, base + at, 0, len(dynamic), len(dynamic), 8)
    headers = b"".join(
        struct.pack("<IIQQQQIIQQ", place, 3 if place else 0, 0, 0, names, len(titles), 0, 0, 1, 0)
        for place in places
    )
    return head + load + segment + strings + dynamic + titles + headers


def macho(
    machine: int = 0x0100000C,
    needs: Sequence[str] = ("/usr/lib/libSystem.B.dylib",),
    *,
    kind: int = 6,
    platform: int = 1,
) -> bytes:
    """A 64-bit Mach-O file of load commands alone."""
    commands = [struct.pack("<IIIIII", 0x32, 24, platform, 11 << 16, 11 << 16, 0)]
    for library in needs:
        text = _padded(library.encode() + b"\0")
        commands.append(struct.pack("<IIIIII", 0xC, 24 + len(text), 24, 0, 0, 0) + text)
    body = b"".join(commands)
    head = struct.pack("<IIIIIIII", 0xFEEDFACF, machine, 0, kind, len(commands), len(body), 0, 0)
    return head + body


def universal(*files: bytes) -> bytes:
    """Mach-O files for several machines in one."""
    at = 8 + 20 * len(files)
    head, body = struct.pack(">II", 0xCAFEBABE, len(files)), b""
    for file in files:
        machine = struct.unpack_from("<I", file, 4)[0]
        head += struct.pack(">IIIII", machine, 0, at + len(body), len(file), 0)
        body += file
    return head + body


def pe(imports: Sequence[str], delayed: Sequence[str] = ()) -> bytes:
    """A 64-bit PE file with one section, which holds the tables of imports."""
    address, offset = 0x1000, 0x400
    body = b""
    places = []
    for name in (*imports, *delayed):
        places.append(address + len(body))
        body += name.encode() + b"\0"
    body = _padded(body)
    first = address + len(body)
    for place in places[: len(imports)]:
        body += struct.pack("<IIIII", 0, 0, 0, place, 0)
    body += bytes(20)
    second = address + len(body)
    for place in places[len(imports) :]:
        body += struct.pack("<II", 1, place) + bytes(24)
    body += bytes(32)
    folders = [(0, 0)] * 16
    folders[1] = (first, 20)
    if delayed:
        folders[13] = (second, 32)
    optional = b"\x0b\x02" + bytes(106) + struct.pack("<I", 16)
    optional += b"".join(struct.pack("<II", *folder) for folder in folders)
    head = b"MZ" + bytes(58) + struct.pack("<I", 64) + b"PE\0\0"
    head += struct.pack("<HHIIIHH", 0x8664, 1, 0, 0, 0, len(optional), 0x2022) + optional
    head += struct.pack("<8sIIII16s", b".rdata", len(body), address, len(body), offset, bytes(16))
    return head.ljust(offset, b"\0") + body


def archive(members: Mapping[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """A zip archive."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made:
        for name, content in members.items():
            made.writestr(zipfile.ZipInfo(name), content, method)
    return file.getvalue()


def wheel(requires: Sequence[str] = ()) -> bytes:
    """A wheel with these requirements."""
    lines = ["Metadata-Version: 2.1", "Name: mine", "Version: 1.0"]
    lines += [f"Requires-Dist: {one}" for one in requires]
    return archive(
        {
            "mine/__init__.py": b"",
            "mine-1.0.dist-info/METADATA": "\n".join(lines).encode() + b"\n\nRequires-Dist: text\n",
        }
    )


def _text(value: str) -> bytes:
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def state(*places: str) -> bytes:
    """The pickle of a state_dict whose tensors lie in these places."""
    data = b"\x80\x02}("
    for number, place in enumerate(places):
        data += _text(f"layer{number}.weight") + b"ctorch._utils\n_rebuild_tensor_v2\n(("
        data += _text("storage") + b"ctorch\nFloatStorage\n" + _text(str(number)) + _text(place)
        data += b"K\x04tQK\x00K\x04\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtR"
    return data + b"u."


def checkpoint(*places: str) -> bytes:
    """What ``torch.save`` writes since PyTorch 1.6."""
    members = {"archive/data.pkl": state(*places), "archive/version": b"3\n"}
    members |= {f"archive/data/{number}": bytes(16) for number in range(len(places))}
    return archive(members, zipfile.ZIP_STORED)


def legacy_checkpoint(*places: str) -> bytes:
    """What ``torch.save`` wrote before: five pickles in a row, then the numbers."""
    magic = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
    keys = b"\x80\x02](" + b"".join(_text(str(number)) for number in range(len(places))) + b"e."
    return magic + b"\x80\x02M\xe9\x03." + b"\x80\x02}." + state(*places) + keys + bytes(24)


def program(device: str, place: str = "cpu") -> bytes:
    """What ``torch.jit.save`` writes."""
    code = f'def forward(self, x):\n  return torch.zeros([2], device=torch.device("{device}"))\n'
    return archive(
        {
            "net/data.pkl": state(place),
            "net/code/__torch__.py": code.encode(),
            "net/constants.pkl": b"\x80\x02).",
        }
    )


def running(function: str, argument: str) -> bytes:
    """A pickle that calls a function as it is unpickled."""
    module, _dot, name = function.rpartition(".")
    return b"\x80\x04" + f"c{module}\n{name}\n".encode() + _text(argument) + b"\x85R."


def _number(value: int) -> bytes:
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def _field(number: int, value: bytes) -> bytes:
    return _number(number << 3 | 2) + _number(len(value)) + value


def onnx(operators: Sequence[tuple[str, str]], depth: int = 0) -> bytes:
    """A model whose graph has these operators, as domain and name, ``depth`` graphs deep."""
    graph = b""
    for domain, name in operators:
        node = _field(1, b"in") + _field(2, b"out") + _field(4, name.encode())
        graph += _field(1, node + (_field(7, domain.encode()) if domain else b""))
    for _each in range(depth):
        graph = _field(
            1, _field(4, b"If") + _field(5, _field(1, b"then_branch") + _field(6, graph))
        )
    graph += _field(2, b"main") + _field(5, _field(9, bytes(64)))
    return _number(1 << 3) + _number(8) + _field(2, b"by hand") + _field(7, graph)
