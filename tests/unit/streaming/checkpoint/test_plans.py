"""What a checkpoint says of the events topic as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.streaming.checkpoint.layout import Origin, write_origin
from group_coordinator.streaming.checkpoint.plans import (
    partitions_read,
    state_partitions,
    unended_repartition,
)
from tests.support.files import FilesInMemory

TOPIC = "group-events"


@pytest.fixture
def folder() -> Any:
    return FilesInMemory()


def plan(folder: FilesInMemory, batch_id: int, events: str) -> None:
    folder.write(f"offsets/{batch_id}", f'v1\n{{"batchTimestampMs":1}}\n{events}')


def test_a_checkpoint_that_has_not_begun_has_read_nothing(folder: Any) -> None:
    assert partitions_read(folder, TOPIC) is None

    write_origin(folder, Origin())
    assert partitions_read(folder, TOPIC) is None

    plan(folder, 0, "-")
    assert partitions_read(folder, TOPIC) is None


def test_the_batch_that_was_planned_last_counts(folder: Any) -> None:
    for batch_id, partitions in [(9, 2), (10, 4)]:
        ends = dict.fromkeys(range(partitions), 7)
        plan(folder, batch_id, json.dumps({"another": {"0": 1}, TOPIC: ends}))

    assert partitions_read(folder, TOPIC) == 4
    assert partitions_read(folder, "a-third") is None


def test_a_rebuild_has_seen_the_topic_as_it_was_then(folder: Any) -> None:
    write_origin(folder, Origin(17, {0: 100, 1: 0, 2: 5}))
    assert partitions_read(folder, TOPIC) == 3

    plan(folder, 0, json.dumps({TOPIC: {"0": 101, "1": 0, "2": 5, "3": 1}}))
    assert partitions_read(folder, TOPIC) == 4


def divided(folder: FilesInMemory, batch_id: int, partitions: int) -> None:
    """A batch with so many state partitions, as Spark plans it."""
    metadata = {"batchTimestampMs": 1, "conf": {"spark.sql.shuffle.partitions": str(partitions)}}
    folder.write(f"offsets/{batch_id}", f"v1\n{json.dumps(metadata)}\n-")


def test_the_state_has_the_partitions_of_the_last_batch_that_is_done(folder: Any) -> None:
    assert state_partitions(folder) is None

    divided(folder, 8, 2)
    assert (state_partitions(folder), unended_repartition(folder)) == (None, None)

    folder.write("commits/8", "")
    assert (state_partitions(folder), unended_repartition(folder)) == (2, None)

    divided(folder, 9, 2)
    assert unended_repartition(folder) is None, "a batch that is open"

    divided(folder, 9, 4)
    assert (state_partitions(folder), unended_repartition(folder)) == (2, 4)

    folder.write("commits/9", "")
    assert (state_partitions(folder), unended_repartition(folder)) == (4, None)
