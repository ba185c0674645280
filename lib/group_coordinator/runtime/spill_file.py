"""Byte strings on disk: those that one call cannot keep in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from struct import Struct
from tempfile import TemporaryFile
from weakref import finalize

_SIZE = Struct(">I")

ScratchFolder = Callable[[], str | None]
"""Says where such files may be; None: where Python has its temporary files. It is asked when one is made."""


def usual_scratch() -> None:
    """Where Python has its temporary files."""


class SpillFile:
    """Gives back what was appended, in the same order; the file lives as long as this object."""

    def __init__(self, scratch: ScratchFolder = usual_scratch) -> None:
        self._file = TemporaryFile(dir=scratch())  # noqa: SIM115 - see the next line
        finalize(self, self._file.close)

    def append(self, content: bytes) -> None:
        """Add one at the end."""
        self._file.write(_SIZE.pack(len(content)))
        self._file.write(content)

    def __iter__(self) -> Iterator[bytes]:
        self._file.seek(0)
        while size := self._file.read(_SIZE.size):
            yield self._file.read(*_SIZE.unpack(size))
