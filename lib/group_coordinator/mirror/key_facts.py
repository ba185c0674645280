"""What the keys of a batch say: each distinct key is looked at once, and those of commits together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from msgspec import json

from group_coordinator.codecs.offsets_topic import OffsetsTopicError, decode_entry
from group_coordinator.codecs.records import record_types
from group_coordinator.mirror.byte_columns import ByteColumn
from group_coordinator.mirror.commit_keys import ReadKeys, read_commit_keys

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
    """What all messages with a key have in common; with a fault the key could not be read."""

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
        """Look at the keys."""
        encoded = keys.dictionary_encode()
        together = list(read_commit_keys(ByteColumn.of(encoded.dictionary)))
        is_left = np.ones(len(encoded.dictionary), bool)
        for read in together:
            is_left[read.rows] = False
        left = np.flatnonzero(is_left)
        singles = [_key_facts(key) for key in encoded.dictionary.take(pa.array(left)).to_pylist()]
        # Behind them all what is true of a row without key.
        pieces = [*map(_columns_of_commits, together), _columns([*singles, _key_facts(None)])]
        self._known = {name: pa.concat_arrays([each[name] for each in pieces]) for name in _KINDS}
        places = np.empty(len(encoded.dictionary) + 1, np.int64)
        places[np.concatenate([*(each.rows for each in together), left])] = np.arange(
            len(places) - 1
        )
        places[-1] = len(places) - 1
        self._of_row = places[encoded.indices.fill_null(len(places) - 1).to_numpy()]

    def column(self, name: str) -> pa.Array:
        """One of the facts, row by row."""
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
