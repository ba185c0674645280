"""Many keys of offset commits at once: those of one length, whose groups have ids of one length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from group_coordinator.codecs.records import record_types
from group_coordinator.mirror.byte_columns import (
    FEWEST,
    PLAIN,
    ByteColumn,
    Rows,
    characters,
    digits,
    layout_of,
    texts,
)

_SHORTEST = 10
"""bytes. A key whose group and topic have no characters."""
_GROUP_SIZE_AT = 2


class ReadKeys(NamedTuple):
    """Keys that have been read: their rows, what they say, and their JSON."""

    rows: Rows
    group_id: pa.StringArray
    topic: pa.StringArray
    partition: pa.Int32Array
    text: pa.StringArray


def read_commit_keys(keys: ByteColumn) -> Iterator[ReadKeys]:
    """What can be read at once of these keys; one that is in no answer must be read by itself."""
    rows = np.flatnonzero(keys.lengths >= _SHORTEST)
    rows = rows[keys.int16(rows, 0) == record_types.OFFSET_COMMIT]
    codes = (keys.lengths[rows] << 16) | keys.int16(rows, _GROUP_SIZE_AT)
    present, inverse, counts = np.unique(codes, return_inverse=True, return_counts=True)
    for number in np.flatnonzero(counts >= FEWEST):
        length, group_size = divmod(int(present[number]), 1 << 16)
        if group_size <= length - _SHORTEST:
            yield _read(keys, rows[inverse == number], group_size, length - _SHORTEST - group_size)


def _read(keys: ByteColumn, rows: Rows, group_size: int, topic_size: int) -> ReadKeys:
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
    text = pc.binary_join_element_wise(
        f'{{"type":{record_types.OFFSET_COMMIT},"data":{{"group":"',
        group_id,
        '","topic":"',
        topic,
        '","partition":',
        digits(found["partition"]),
        "}}",
        "",
    )
    return ReadKeys(rows, group_id, topic, pa.array(found["partition"].astype(np.int32)), text)
