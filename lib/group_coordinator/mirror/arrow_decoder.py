"""Decoder of __consumer_offsets into rows of coordinator_log, by whole Arrow batches; each distinct key is read once.

Keys and values of commits of the same layout are read together (commit_columns.py), all other messages singly by
`codecs.offsets_topic`. The result equals that decoder's result for each message, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import json

from group_coordinator.codecs.offsets_topic import OffsetsTopicError, decode_entry
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import RawMessage
from group_coordinator.mirror.commit_columns import (
    ByteColumn,
    HomePartitions,
    ReadKeys,
    read_commit_keys,
    read_commit_values,
)
from group_coordinator.tables.timestamps import FIRST_MS, LAST_MS

_KEYS_REMEMBERED = 50_000
_KINDS = {
    "record_type": pa.int32(),
    "group_id": pa.string(),
    "text": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "member_id": pa.string(),
    "fault": pa.string(),
}


class _KeyFacts(NamedTuple):
    """Facts that all messages with a key share; with a fault the key could not be read."""

    record_type: int | None = None
    group_id: str | None = None
    text: str | None = None
    topic: str | None = None
    partition: int | None = None
    member_id: str | None = None
    fault: str | None = None


class KeyFacts:
    """The columns of a batch's rows that follow from their keys."""

    def __init__(self, keys: pa.BinaryArray) -> None:
        # Most keys of a batch occur several times, as groups commit the same partitions again.
        encoded = keys.dictionary_encode()
        together = list(read_commit_keys(ByteColumn.of(encoded.dictionary)))
        is_left = np.ones(len(encoded.dictionary), bool)
        for read in together:
            is_left[read.rows] = False
        left = np.flatnonzero(is_left)
        singles = [_key_facts(key) for key in encoded.dictionary.take(pa.array(left)).to_pylist()]
        # The last entry is for rows without a key.
        pieces = [*map(_columns_of_commits, together), _columns([*singles, _key_facts(None)])]
        self._known = {name: pa.concat_arrays([each[name] for each in pieces]) for name in _KINDS}
        places = np.empty(len(encoded.dictionary) + 1, np.int64)
        places[np.concatenate([*(each.rows for each in together), left])] = np.arange(
            len(places) - 1
        )
        places[-1] = len(places) - 1
        self._of_row = places[encoded.indices.fill_null(len(places) - 1).to_numpy()]

    def column(self, name: str) -> pa.Array:
        return self._known[name].take(pa.array(self._of_row))


def _columns(facts: Sequence[_KeyFacts]) -> dict[str, pa.Array]:
    return {
        name: pa.array([getattr(each, name) for each in facts], kind)
        for name, kind in _KINDS.items()
    }


def _columns_of_commits(read: ReadKeys) -> dict[str, pa.Array]:
    count = len(read.rows)
    return {
        "record_type": pa.repeat(pa.scalar(record_types.OFFSET_COMMIT, pa.int32()), count),
        "group_id": read.group_id,
        "text": read.text,
        "topic": read.topic,
        "partition": read.partition,
        "member_id": pa.nulls(count, pa.string()),
        "fault": pa.nulls(count, pa.string()),
    }


@lru_cache(maxsize=_KEYS_REMEMBERED)
def _key_facts(key: bytes | None) -> _KeyFacts:
    try:
        group_id, entry = decode_entry(key, None)
    except OffsetsTopicError as fault:
        return _KeyFacts(fault=str(fault))
    text = json.encode(entry.key).decode()
    place = (entry.topic, entry.partition, entry.member_id)
    return _KeyFacts(entry.key.type, group_id, text, *place)


DECODED = (
    "group_id STRING, record_type INT, key STRING, value STRING, topic STRING, partition INT, member_id STRING, "
    "offset BIGINT, event_time TIMESTAMP, source_partition INT, source_offset BIGINT, seq INT, "
    "letter STRUCT<reason: STRING, key: BINARY, value: BINARY>"
)
"""The columns of the result, in Spark's syntax: those of the log, and of the dead letter if the message could not be read."""

NO_GROUP = ""
"""Group of a message whose key could not be read; its record type distinguishes it from a group of this name."""

_OF_RECORDS = ("topic", "partition", "member_id", "offset")
_LETTER = pa.struct([("reason", pa.string()), ("key", pa.binary()), ("value", pa.binary())])
_to_json = json.Encoder().encode


class _Single(NamedTuple):
    """Content of a message apart from its key; with a fault the value could not be read."""

    value: str | None = None
    offset: int | None = None
    fault: str | None = None


def decode_batches(
    batches: Iterable[pa.RecordBatch], homes: HomePartitions | None
) -> Iterator[pa.RecordBatch]:
    """Decode a task's messages in Spark's form: key, value, partition, offset, timestamp. The result has DECODED.

    Records outside their group's partition count as unreadable; without `homes` a group may be anywhere.
    """
    counts: dict[int, int] = {}
    for batch in batches:
        yield decode_batch(batch, counts, homes)


def decode_batch(
    batch: pa.RecordBatch, counts: dict[int, int], homes: HomePartitions | None = None
) -> pa.RecordBatch:
    """Decode a batch. `counts` has the number of earlier messages of each source partition, and is updated."""
    keys = KeyFacts(batch["key"])
    says = _Answers(batch, keys, homes)
    partitions = batch["partition"]
    columns = {
        "group_id": keys.column("group_id"),
        "record_type": keys.column("record_type"),
        "key": keys.column("text"),
        "value": says.values(),
        "topic": keys.column("topic"),
        "partition": keys.column("partition"),
        "member_id": keys.column("member_id"),
        "offset": says.offsets(),
        "event_time": _shown(batch["timestamp"]),
        "source_partition": partitions,
        "source_offset": batch["offset"],
        "seq": pa.array(_positions(partitions.to_numpy(), counts)),
        "letter": says.letters(),
    }
    columns = _with_raw_messages(columns, says.raw_messages)
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def _shown(times: pa.TimestampArray) -> pa.TimestampArray:
    # A client's record may have times that no calendar has (tables/timestamps.py).
    microseconds = times.view(pa.int64())
    shown = pc.min_element_wise(pc.max_element_wise(microseconds, FIRST_MS * 1000), LAST_MS * 1000)
    return shown.view(times.type)


def _with_raw_messages(
    columns: dict[str, pa.Array], messages: Mapping[int, RawMessage]
) -> dict[str, pa.Array]:
    # The log has every message of the topic, so an invalid message becomes a row with its bytes.
    # The usual case: every message was decoded.
    if not messages:
        return columns
    is_raw = np.zeros(len(columns["key"]), bool)
    is_raw[[*messages]] = True
    mask = pa.array(is_raw)
    texts = [record_types.encode(message) for message in messages.values()]
    others = {
        "group_id": columns["group_id"].filter(mask).fill_null(NO_GROUP),
        "record_type": pa.repeat(pa.scalar(record_types.RAW_MESSAGE, pa.int32()), len(texts)),
        "key": pa.array([key for key, _ in texts], pa.string()),
        "value": pa.array([value for _, value in texts], pa.string()),
        **{name: pa.nulls(len(texts), columns[name].type) for name in _OF_RECORDS},
    }
    replaced = {
        name: pc.replace_with_mask(columns[name], mask, found) for name, found in others.items()
    }
    return columns | replaced


def _positions(partitions: npt.NDArray[Any], counts: dict[int, int]) -> npt.NDArray[np.int32]:
    # Messages of a partition are mostly adjacent, so whole runs are numbered at once.
    found = np.empty(len(partitions), np.int32)
    borders = np.flatnonzero(np.diff(partitions)) + 1
    for run in np.split(np.arange(len(partitions)), borders):
        if len(run):
            partition = int(partitions[run[0]])
            before = counts.get(partition, 0)
            counts[partition] = before + len(run)
            found[run] = np.arange(before, counts[partition])
    return found


class _Answers:
    def __init__(self, batch: pa.RecordBatch, keys: KeyFacts, homes: HomePartitions | None) -> None:
        self._batch = batch
        fault_of_key = keys.column("fault")
        bad_keys = fault_of_key.is_valid().to_numpy(zero_copy_only=False)
        left = batch["value"].is_valid().to_numpy(zero_copy_only=False) & ~bad_keys
        types = keys.column("record_type").fill_null(0).to_numpy()
        commits = np.flatnonzero(left & (types == record_types.OFFSET_COMMIT))
        self._read = list(read_commit_values(ByteColumn.of(batch["value"]), commits))
        for read in self._read:
            left[read.rows] = False
        self._singles = self._read_singles(np.flatnonzero(left))
        self._faults = {int(row): fault_of_key[row].as_py() for row in np.flatnonzero(bad_keys)}
        self._faults |= {row: one.fault for row, one in self._singles.items() if one.fault}
        if homes is not None:
            strays = homes.strays(keys.column("group_id"), batch["partition"].to_numpy())
            # A fault of the message itself takes precedence over its place.
            self._faults = strays | self._faults

    def _read_singles(self, rows: npt.NDArray[np.int64]) -> dict[int, _Single]:
        keys, values = (
            self._batch[name].take(pa.array(rows)).to_pylist() for name in ("key", "value")
        )
        return dict(zip(rows.tolist(), map(_single, keys, values), strict=True))

    def values(self) -> pa.StringArray:
        """Return the values as JSON; null for a tombstone and for an unreadable value."""
        ones = pa.array([single.value for single in self._singles.values()], pa.string())
        # Rows without a value point behind all values, to a null.
        every = [*(read.json for read in self._read), ones, pa.nulls(1, pa.string())]
        whole = pa.concat_arrays(every)
        rows = [*(read.rows for read in self._read), np.array([*self._singles], np.int64)]
        places = np.full(len(self._batch), len(whole) - 1, np.int64)
        places[np.concatenate(rows)] = np.arange(len(whole) - 1)
        return whole.take(pa.array(places))

    def offsets(self) -> pa.Int64Array:
        """Return the committed offsets; null for other records."""
        found = np.zeros(len(self._batch), np.int64)
        is_absent = np.ones(len(self._batch), bool)
        for read in self._read:
            found[read.rows] = read.offsets
            is_absent[read.rows] = False
        for row, single in self._singles.items():
            if single.offset is not None:
                found[row] = single.offset
                is_absent[row] = False
        return pa.array(found, mask=is_absent)

    @cached_property
    def raw_messages(self) -> dict[int, RawMessage]:
        return {
            row: RawMessage(
                self._batch["key"][row].as_py(), self._batch["value"][row].as_py(), fault
            )
            for row, fault in sorted(self._faults.items())
        }

    def letters(self) -> pa.StructArray:
        """Return the reason and the bytes of each invalid message; null for all others."""
        if not self._faults:
            return pa.nulls(len(self._batch), _LETTER)
        found: list[dict[str, Any] | None] = [None] * len(self._batch)
        for row, message in self.raw_messages.items():
            found[row] = {"reason": message.fault, "key": message.key, "value": message.value}
        return pa.array(found, _LETTER)


def _single(key: bytes, value: bytes) -> _Single:
    try:
        _, entry = decode_entry(key, value)
    except OffsetsTopicError as fault:
        return _Single(fault=str(fault))
    return _Single(_to_json(entry.value).decode(), entry.offset)
