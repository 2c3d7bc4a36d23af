"""Zip archives: wheels, and what PyTorch saves. Members are read up to a limit, never unpacked."""

import re
import zipfile
from collections.abc import Iterator, Sequence
from email.parser import BytesHeaderParser
from typing import IO

from analyzers.binaries import pickled
from analyzers.binaries.bounded import Bounded, TooMuch
from analyzers.binaries.document import Fact

#: Bytes of the directory of an archive, of all the members that are read for one purpose, and what
#: opening one of them counts as.
_DIRECTORY, _CONTENTS, _OPENING = 8_000_000, 16_000_000, 1_000
#: Bytes of the metadata of a wheel; the description of the project follows at their end.
_HEADERS = 1_000_000
#: A deflated member gives at most about a thousand times its size, and only as far as it is read;
#: the readers of other methods give all of it at once.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)

#: A device in the code of a TorchScript program.
_DEVICE = re.compile(rb"""torch\.device\("(cuda(?::\d+)?)"\)""")
#: The same in the JSON of an exported program.
_EXPORTED = re.compile(
    rb'"(?:as_)?device":\s{0,9}\{"type":\s{0,9}"cuda",\s{0,9}"index":\s{0,9}(\d{1,4}|null)'
)
_CODE = {
    "torchscript": re.compile(r"/code/.*\.py\Z", re.DOTALL),
    "exported": re.compile(r"/models/[^/]*\.json\Z"),
}
_PICKLES = re.compile(r"/(?:data|constants)\.pkl\Z")
_WHEEL_METADATA = re.compile(r"\A[^/]+\.dist-info/METADATA\Z")
_DEVICE_CODE = re.compile(r"\.(?:cubin|fatbin|ptx)\Z")


def wheel_facts(file: IO[bytes]) -> Iterator[Fact]:
    """What a wheel requires."""
    with _opened(file) as archive:
        for content in _contents(archive, _WHEEL_METADATA):
            headers = BytesHeaderParser().parsebytes(content[:_HEADERS])
            for value in headers.get_all("Requires-Dist", ()):
                yield "requires", str(value)


def checkpoint_facts(file: IO[bytes]) -> Iterator[Fact]:
    """Where tensors were saved from, in a checkpoint or a TorchScript or exported program."""
    with _opened(file) as archive:
        names = archive.namelist()
        form = _form(names)
        yield "form", form
        if form == "other":
            return
        for name in names:
            if _DEVICE_CODE.search(name):
                yield "device-code", name.rpartition("/")[2]
        yield from pickled.facts_of_each(_contents(archive, _PICKLES))
        if form in _CODE:
            for content in _contents(archive, _CODE[form]):
                yield from _devices(content)


def _form(names: Sequence[str]) -> str:
    """What ``torch.save``, ``torch.jit.save`` or ``torch.export.save`` wrote, by its members."""
    for end, form in (
        ("/constants.pkl", "torchscript"),
        ("/archive_format", "exported"),
        ("/data.pkl", "checkpoint"),
    ):
        if any(name.endswith(end) for name in names):
            return form
    return "other"


def _devices(text: bytes) -> Iterator[Fact]:
    for device in _DEVICE.findall(text):
        yield "code", f'torch.device("{device.decode()}")'
    for index in _EXPORTED.findall(text):
        yield "code", "cuda" if index == b"null" else f"cuda:{index.decode()}"


def _opened(file: IO[bytes]) -> zipfile.ZipFile:
    """The archive, once its directory is known to be of a sane size."""
    zipfile.ZipFile(Bounded(file, _DIRECTORY)).close()
    return zipfile.ZipFile(file)


def _contents(archive: zipfile.ZipFile, wanted: re.Pattern[str]) -> Iterator[bytes]:
    """The contents of the members with such names, as long as there are not too many bytes."""
    left = _CONTENTS
    for member in archive.infolist():
        if not wanted.search(member.filename):
            continue
        if member.compress_type not in _METHODS:
            raise zipfile.BadZipFile("a method of compression that is not read")
        with archive.open(member) as content:
            data = content.read(left + 1)
        left -= len(data) + _OPENING
        if left < 0:
            raise TooMuch
        yield data
