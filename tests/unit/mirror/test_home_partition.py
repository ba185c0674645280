"""Where the records of groups are among the partitions of __consumer_offsets: seen on a broker of Kafka 4.4.0."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry
from group_coordinator.mirror.arrow_decoder import decode_batch
from group_coordinator.mirror.commit_columns import MOVED, HomePartitions
from tests.support.message_batches import batch_of


@pytest.mark.parametrize(
    ("group_id", "partition"),
    [
        ("group-2", 0),
        ("group-3", 1),
        ("äöü", 2),
        ("😀x", 1),
        ("billing", 1),
        ("group-1", 3),
        # Its hash is the lowest int, which has no absolute value.
        ("polygenelubricants", 0),
    ],
)
def test_a_broker_with_four_partitions_has_the_group_there(group_id: str, partition: int) -> None:
    groups = pa.array([group_id] * 4)
    strays = HomePartitions(4).strays(groups, np.arange(4, dtype=np.int32))
    assert {*range(4)} - strays.keys() == {partition}


def test_records_elsewhere_are_strays_and_rows_without_group_are_not() -> None:
    groups = pa.array(["billing", "billing", None, "group-2"])
    strays = HomePartitions(4).strays(groups, np.array([1, 3, 2, 0], np.int32))
    assert strays == {1: "group billing belongs to partition 1 of 4, not to 3"}


def test_a_stray_where_it_will_be_among_more_partitions_shows_that_the_brokers_count_anew() -> None:
    """Among eleven partitions group-0 is in 10."""
    groups = pa.array(["group-0", "group-0", "group-0"])
    strays = HomePartitions(4, 11).strays(groups, np.array([2, 10, 3], np.int32))
    assert strays == {
        1: f"{MOVED}group group-0 belongs to partition 2 of 4, not to 10",
        2: "group group-0 belongs to partition 2 of 4, not to 3",
    }


def test_strays_are_kept_as_they_came_and_count_for_nothing() -> None:
    tombstone = encode_entry(
        LogEntry(Key(1, {"group": "billing", "topic": "orders", "partition": 0}), None)
    )
    [stray] = decode_batch(batch_of([tombstone], partition=3), {}, HomePartitions(4)).to_pylist()
    assert stray["letter"] == {
        "reason": "group billing belongs to partition 1 of 4, not to 3",
        "key": tombstone[0],
        "value": None,
    }
    assert (stray["group_id"], stray["record_type"]) == ("billing", -3)
    assert (stray["topic"], stray["partition"], stray["value"]) == (None, None, None)
    [at_home] = decode_batch(batch_of([tombstone], partition=1), {}, HomePartitions(4)).to_pylist()
    assert (at_home["letter"], at_home["group_id"]) == (None, "billing")
