"""Byte strings in a temporary file, for data of a call that exceeds the memory limit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from tempfile import TemporaryFile
from weakref import finalize

_SIZE = Struct(">I")

ScratchFolder = Callable[[], str | None]
"""A function that returns the folder for temporary files; None: Python's default. It is called for each new file."""


def usual_scratch() -> None:
    """Return None: Python's default folder."""


class SpillFile:
    """Byte strings in the order in which they were appended. The file lives as long as this object."""

    def __init__(self, scratch: ScratchFolder = usual_scratch) -> None:
        self._file = TemporaryFile(dir=scratch())  # noqa: SIM115 - see the next line
        finalize(self, self._file.close)

    def append(self, content: bytes) -> None:
        self._file.write(_SIZE.pack(len(content)))
        self._file.write(content)

    def __iter__(self) -> Iterator[bytes]:
        # Each iteration starts again: events may be read several times.
        self._file.seek(0)
        while size := self._file.read(_SIZE.size):
            yield self._file.read(*_SIZE.unpack(size))
