"""Reading a file of any size without reading more of it than was agreed."""

import io
from typing import IO, Any


class TooMuch(ValueError):
    """More of a file would have to be read than was agreed."""


class Bounded(io.RawIOBase):
    """A file of which at most ``most`` bytes can be read; going from place to place is free.

    A parser that trusts a length, a count or an offset of a hostile file ends here, with
    :class:`TooMuch`, before it costs time or memory. Each read counts as 16 bytes at least, so
    that their number is bounded too.
    """

    def __init__(self, file: IO[bytes], most: int) -> None:
        super().__init__()
        self._file = file
        self._left = most

    def readable(self) -> bool:
        """Always."""
        return True

    def seekable(self) -> bool:
        """Always: only such files are examined."""
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place; one that no file can have is an error like any other bad value."""
        try:
            return self._file.seek(offset, whence)
        except OverflowError as error:
            raise ValueError(str(error)) from None

    def tell(self) -> int:
        """Where the next read begins."""
        return self._file.tell()

    def read(self, size: int | None = -1, /) -> bytes:
        """At most ``size`` bytes.

        Raises:
            TooMuch: that, or what is left of the file, is more than may still be read.
        """
        wanted = self._left + 1 if size is None or size < 0 else min(size, self._left + 1)
        data = self._file.read(wanted)
        self._left -= max(len(data), 16)
        if self._left < 0:
            raise TooMuch
        return data

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer, for the readers of the standard library."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def exactly(self, size: int) -> bytes:
        """``size`` bytes.

        Raises:
            EOFError: the file ends before.
        """
        data = self.read(size)
        if len(data) < size:
            raise EOFError
        return data
