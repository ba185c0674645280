"""Arrow columns of bytes as numpy sees them, and texts out of them: what has one length is read at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Rows = npt.NDArray[np.int64]
"""Numbers of rows in a batch."""

FEWEST = 16
"""So many of one layout are read at once: fewer are read as fast one by one."""

PLAIN = np.zeros(256, bool)
"""The bytes that are themselves in JSON, and are whole characters."""
PLAIN[0x20:0x7F] = True
PLAIN[[ord('"'), ord("\\")]] = False


class ByteColumn(NamedTuple):
    """The bytes of a column: where each value begins, how long it is, and all of them; a null has none."""

    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, column: pa.BinaryArray) -> ByteColumn:
        """Without a copy of the bytes."""
        _, ends, data = column.buffers()
        bounds = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1]
        starts = bounds.astype(np.int64)
        content = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return cls(starts[:-1], np.diff(starts), content)

    def records(self, rows: Rows, layout: np.dtype[Any]) -> npt.NDArray[Any]:
        """The fields of values that are as long as the layout."""
        places = self.starts[rows][:, np.newaxis] + np.arange(layout.itemsize)
        found: npt.NDArray[Any] = self.data[places].view(layout)
        return found[:, 0]

    def int16(self, rows: Rows, at: int) -> npt.NDArray[np.int64]:
        """The two bytes at a place of values that are long enough, as a number without sign."""
        first = self.starts[rows] + at
        return (self.data[first].astype(np.int64) << 8) | self.data[first + 1]


def layout_of(fields: dict[str, tuple[str, int]]) -> np.dtype[Any]:
    """Numpy's type for fields with a format and a number of bytes each, one behind the other."""
    places = np.cumsum([0, *(size for _, size in fields.values())])
    return np.dtype(
        {
            "names": list(fields),
            "formats": [kind for kind, _ in fields.values()],
            "offsets": places[:-1].tolist(),
            "itemsize": int(places[-1]),
        }
    )


def characters(size: int) -> tuple[str, int]:
    """A field of so many bytes."""
    return f"({size},)u1", size


def texts(found: npt.NDArray[np.uint8]) -> pa.StringArray:
    """One text a row, all of one length."""
    count, size = found.shape
    ends = pa.py_buffer(np.arange(count + 1, dtype=np.int32) * np.int32(size))
    return pa.StringArray.from_buffers(count, ends, pa.py_buffer(np.ascontiguousarray(found)))


def digits(numbers: npt.NDArray[Any]) -> pa.StringArray:
    """Numbers as JSON has them."""
    native = pa.array(numbers.astype(np.int64))
    if len(native) and (numbers == numbers[0]).all():
        # Most commits of a batch have the same leader epoch.
        return pa.repeat(str(native[0].as_py()), len(native))
    return native.cast(pa.string())
