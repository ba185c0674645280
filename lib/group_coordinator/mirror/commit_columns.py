"""Keys and values of offset commits as numpy columns: those of the same length are read at once.

A value without Kafka's layout, or whose metadata would need an escape in JSON, is left to the decoder of single
messages: this reader never decides that a message is damaged.

A group's home partition is the hash of its id by the topic's number of partitions at the broker's start. More partitions count
from the broker's restart on: then the group starts from nothing in its new partition, and its records in the old one no longer
count, though tombstones are still written there as the offsets expire.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from group_coordinator.binary.notation import uuid_text
from group_coordinator.codecs.offsets_topic import hash_of
from group_coordinator.codecs.records import record_types

Rows = npt.NDArray[np.int64]
"""Numbers of rows in a batch."""

FEWEST = 16
"""Smallest number of values of the same layout to be read at once: fewer are as fast singly."""

PLAIN = np.zeros(256, bool)
"""Bytes that JSON writes unchanged, and that are whole characters."""
PLAIN[0x20:0x7F] = True
PLAIN[[ord('"'), ord("\\")]] = False


class ByteColumn(NamedTuple):
    """The bytes of a column: start and length of each value, and all bytes; a null has length 0."""

    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    data: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, column: pa.BinaryArray) -> ByteColumn:
        _, ends, data = column.buffers()
        bounds = np.frombuffer(ends, np.int32)[column.offset : column.offset + len(column) + 1]
        starts = bounds.astype(np.int64)
        content = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
        return cls(starts[:-1], np.diff(starts), content)

    def records(self, rows: Rows, layout: np.dtype[Any]) -> npt.NDArray[Any]:
        places = self.starts[rows][:, np.newaxis] + np.arange(layout.itemsize)
        found: npt.NDArray[Any] = self.data[places].view(layout)
        return found[:, 0]

    def int16(self, rows: Rows, at: int) -> npt.NDArray[np.int64]:
        """Return the two bytes at a position as an unsigned number; the values must be long enough."""
        first = self.starts[rows] + at
        return (self.data[first].astype(np.int64) << 8) | self.data[first + 1]


def layout_of(fields: dict[str, tuple[str, int]]) -> np.dtype[Any]:
    """Return numpy's type for consecutive fields with a format and a number of bytes each."""
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
    return f"({size},)u1", size


def texts(found: npt.NDArray[np.uint8]) -> pa.StringArray:
    count, size = found.shape
    ends = pa.py_buffer(np.arange(count + 1, dtype=np.int32) * np.int32(size))
    return pa.StringArray.from_buffers(count, ends, pa.py_buffer(np.ascontiguousarray(found)))


def digits(numbers: npt.NDArray[Any]) -> pa.StringArray:
    """Return the numbers as JSON."""
    native = pa.array(numbers.astype(np.int64))
    if len(native) and (numbers == numbers[0]).all():
        # Most commits of a batch have the same leader epoch.
        return pa.repeat(str(native[0].as_py()), len(native))
    return native.cast(pa.string())


_SHORTEST_KEY = 10
"""Bytes of a key with empty group and topic."""
_GROUP_SIZE_AT = 2


class ReadKeys(NamedTuple):
    """Keys that have been read: rows, content and JSON."""

    rows: Rows
    group_id: pa.StringArray
    topic: pa.StringArray
    partition: pa.Int32Array
    text: pa.StringArray


def read_commit_keys(keys: ByteColumn) -> Iterator[ReadKeys]:
    """Yield the keys that can be read at once; all others must be read singly."""
    rows = np.flatnonzero(keys.lengths >= _SHORTEST_KEY)
    rows = rows[keys.int16(rows, 0) == record_types.OFFSET_COMMIT]
    codes = (keys.lengths[rows] << 16) | keys.int16(rows, _GROUP_SIZE_AT)
    present, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(counts >= FEWEST):
        length, group_size = divmod(int(present[number]), 1 << 16)
        # A damaged key may announce any size; the decoder of single messages reports it.
        if group_size <= length - _SHORTEST_KEY:
            yield _read_keys(
                keys, rows[inverse == number], group_size, length - _SHORTEST_KEY - group_size
            )


def _read_keys(keys: ByteColumn, rows: Rows, group_size: int, topic_size: int) -> ReadKeys:
    layout = layout_of(
        {
            "type": (">i2", 2),
            "group_size": (">i2", 2),
            "group": characters(group_size),
            "topic_size": (">i2", 2),
            "topic": characters(topic_size),
            "partition": (">i4", 4),
        }
    )
    found = keys.records(rows, layout)
    good = (found["group_size"] == group_size) & (found["topic_size"] == topic_size)
    good &= PLAIN[found["group"]].all(axis=1) & PLAIN[found["topic"]].all(axis=1)
    rows, found = rows[good], found[good]
    group_id, topic = texts(found["group"]), texts(found["topic"])
    pieces = (
        f'{{"type":{record_types.OFFSET_COMMIT},"data":{{"group":"',
        group_id,
        '","topic":"',
        topic,
        '","partition":',
        digits(found["partition"]),
        "}}",
    )
    text = pc.binary_join_element_wise(*pieces, "")
    return ReadKeys(rows, group_id, topic, pa.array(found["partition"].astype(np.int32)), text)


_SHORTEST_VALUE = 20
"""Bytes of a value of version 0 without metadata."""
_WITH_LEADER_EPOCH, _FLEXIBLE = 3, 4
"""The first versions with a leader epoch, and with the flexible layout."""
_WITH_EXPIRY = 1
"""The only version with an expiry timestamp."""
_UUID_SIZE = 16
_FLEXIBLE_LENGTH_AT = 14
"""Position of the metadata's length plus one in version 4; up to 127 it is one byte."""
_LONGEST_IN_ONE_BYTE = 126


class ReadValues(NamedTuple):
    """Values that have been read: rows, JSON and offsets."""

    rows: Rows
    json: pa.StringArray
    offsets: npt.NDArray[np.int64]


class _Layout(NamedTuple):
    """Facts that determine the positions of the fields in a value."""

    version: int
    metadata_size: int
    has_topic_id: bool = False

    @property
    def is_flexible(self) -> bool:
        return self.version >= _FLEXIBLE

    @property
    def fields(self) -> dict[str, tuple[str, int]]:
        """Numpy's format and the size of each field, in the order of the bytes."""
        found = {"version": (">i2", 2), "offset": (">i8", 8)}
        if self.version >= _WITH_LEADER_EPOCH:
            found["leaderEpoch"] = (">i4", 4)
        found["length"] = ("u1", 1) if self.is_flexible else (">i2", 2)
        found["metadata"] = characters(self.metadata_size)
        found["commitTimestamp"] = (">i8", 8)
        if self.version == _WITH_EXPIRY:
            found["expireTimestamp"] = (">i8", 8)
        if self.is_flexible:
            found["tags"] = ("u1", 1)
        if self.has_topic_id:
            found |= {"tag": ("u1", 1), "size": ("u1", 1), "topicId": characters(_UUID_SIZE)}
        return found

    def fits(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Return which values have Kafka's bytes at the positions that are equal in all."""
        announced = self.metadata_size + 1 if self.is_flexible else self.metadata_size
        good: npt.NDArray[np.bool_] = values["length"] == announced
        if self.metadata_size:
            good &= PLAIN[values["metadata"]].all(axis=1)
        if self.is_flexible:
            good &= values["tags"] == int(self.has_topic_id)
        if self.has_topic_id:
            good &= (values["tag"] == 0) & (values["size"] == _UUID_SIZE)
            # The JSON omits an id of zeros, which is the default.
            good &= values["topicId"].any(axis=1)
        return good


def read_commit_values(values: ByteColumn, rows: Rows) -> Iterator[ReadValues]:
    """Yield the values in these rows that can be read at once; all others must be read singly."""
    rows = rows[values.lengths[rows] >= _SHORTEST_VALUE]
    codes = _codes(values, rows)
    present, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(counts >= FEWEST):
        layout = _layout(int(present[number]))
        if layout is not None:
            yield _read_values(values, rows[inverse == number], layout)


def _codes(values: ByteColumn, rows: Rows) -> npt.NDArray[np.int64]:
    # A number per layout: from length, version, and in version 4 the length of the metadata.
    versions = values.int16(rows, 0)
    announced = values.data[values.starts[rows] + _FLEXIBLE_LENGTH_AT]
    return (
        (values.lengths[rows] << 24)
        | (versions << 8)
        | np.where(versions == _FLEXIBLE, announced, 0)
    )


@lru_cache
def _layout(code: int) -> _Layout | None:
    length, version, announced = code >> 24, (code >> 8) & 0xFFFF, code & 0xFF
    if version == _FLEXIBLE and 1 <= announced <= _LONGEST_IN_ONE_BYTE + 1:
        layouts = (_Layout(version, announced - 1, has_topic_id) for has_topic_id in (False, True))
        return next((each for each in layouts if _size(each) == length), None)
    # Before version 4 the length of the value determines the length of the metadata.
    metadata_size = length - _size(_Layout(version, 0))
    is_possible = version < _FLEXIBLE and metadata_size >= 0
    return _Layout(version, metadata_size) if is_possible else None


def _size(layout: _Layout) -> int:
    return sum(size for _, size in layout.fields.values())


def _read_values(values: ByteColumn, rows: Rows, layout: _Layout) -> ReadValues:
    found = values.records(rows, layout_of(layout.fields))
    good = layout.fits(found)
    rows, found = rows[good], found[good]
    return ReadValues(rows, _json(found, layout), found["offset"].astype(np.int64))


def _json(found: npt.NDArray[Any], layout: _Layout) -> pa.StringArray:
    fields = layout.fields
    pieces: list[Any] = [
        f'{{"version":{layout.version},"data":{{"offset":',
        digits(found["offset"]),
    ]
    if "leaderEpoch" in fields:
        pieces += [',"leaderEpoch":', digits(found["leaderEpoch"])]
    if layout.metadata_size:
        pieces += [',"metadata":"', texts(found["metadata"]), '","commitTimestamp":']
    else:
        pieces += [',"metadata":"","commitTimestamp":']
    pieces.append(digits(found["commitTimestamp"]))
    if "expireTimestamp" in fields:
        pieces += [',"expireTimestamp":', digits(found["expireTimestamp"])]
    if layout.has_topic_id:
        pieces += [',"topicId":"', _uuids(found["topicId"]), '"']
    return pc.binary_join_element_wise(*pieces, "}}", "")


def _uuids(found: npt.NDArray[np.uint8]) -> pa.StringArray:
    # Topics are few, so each distinct id is converted once.
    content = pa.py_buffer(np.ascontiguousarray(found))
    kind = pa.binary(_UUID_SIZE)
    ids = pa.Array.from_buffers(kind, len(found), [None, content]).dictionary_encode()
    known = [uuid_text(each) for each in ids.dictionary.to_pylist()]
    return pa.array(known, pa.string()).take(ids.indices)


MOVED = "the brokers use another number of partitions: "
"""Prefix of the reason of a record that shows this change."""


@dataclass(frozen=True, slots=True)
class HomePartitions:
    """Number of partitions that the brokers use now, and the number after their restart."""

    count: int
    next_count: int | None = None

    def strays(
        self, group_ids: pa.StringArray, partitions: npt.NDArray[np.int32]
    ) -> dict[int, str]:
        """Return the rows outside their group's partition, with the reason; rows without a group are never among them."""
        encoded = group_ids.dictionary_encode()
        hashes = np.array([hash_of(group_id) for group_id in encoded.dictionary.to_pylist()])
        places = encoded.indices.fill_null(-1).to_numpy()
        # Rows without a group have index -1, which is the appended 0.
        hashes = np.append(hashes, 0)[places].astype(np.int64)
        away = np.flatnonzero((hashes % self.count != partitions) & (places >= 0))
        return {
            int(row): self._reason(group_ids[row].as_py(), int(hashes[row]), int(partitions[row]))
            for row in away
        }

    def _reason(self, group_id: str, number: int, partition: int) -> str:
        why = f"group {group_id} belongs to partition {number % self.count} of {self.count}, not to {partition}"
        if self.next_count is not None and number % self.next_count == partition:
            return f"{MOVED}{why}"
        return why
