"""What a checkpoint says of the events topic as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest

from group_coordinator.streaming.checkpoint.layout import Origin, write_origin
from group_coordinator.streaming.checkpoint.plans import partitions_read
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
