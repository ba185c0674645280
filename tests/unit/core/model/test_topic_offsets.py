from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import msgpack

from group_coordinator.codecs.snapshots import snapshot
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    OffsetAges,
    StoredTopic,
    TopicOffsets,
    ages_of,
)
from tests.unit.core.requests import committed_offset


def committed(at_ms: int, expire_ms: int | None = None) -> CommittedOffset:
    return committed_offset(7, commit_timestamp_ms=at_ms, expire_timestamp_ms=expire_ms)


PARTITIONS = st.sampled_from([0, 1, 63, 64, 127, 128, 2**31 - 1])
TIMES_MS = st.integers(0, 5)
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("set"), PARTITIONS, st.builds(committed, TIMES_MS, st.none() | TIMES_MS)),
        st.tuples(st.just("delete"), PARTITIONS),
        st.tuples(st.sampled_from(["ages", "write", "write and read"])),
    )
)


def read_again(topic: TopicOffsets) -> TopicOffsets:
    if not topic:
        return topic
    encoded = msgpack.encode(snapshot.pack_offsets(StoredValues.of({"orders": topic})))
    return snapshot.unpack_offsets(msgpack.decode(encoded, type=dict[str, StoredTopic]))["orders"]


@pytest.fixture
def neighbours() -> TopicOffsets:
    """Three buckets of two partitions each, in a snapshot."""
    return read_again(TopicOffsets.of({p: committed(p) for p in (0, 1, 64, 65, 128, 129)}))


def test_only_the_neighbours_of_a_partition_are_read(neighbours: TopicOffsets) -> None:
    assert neighbours[65] == committed(65)
    assert [bucket.offsets is None for bucket in neighbours.buckets.values()] == [True, False, True]
    assert (len(neighbours), neighbours.ages) == (6, OffsetAges(0, None))


def test_only_the_neighbours_of_a_commit_are_written(neighbours: TopicOffsets) -> None:
    neighbours[65] = committed(9)

    is_to_write = [bucket.encoded is None for bucket in neighbours.buckets.values()]
    assert is_to_write == [False, True, False]


def test_what_is_not_there_is_not_there(neighbours: TopicOffsets) -> None:
    assert 2 not in neighbours
    assert neighbours.get(640) is None
    with pytest.raises(KeyError):
        del neighbours[2]
    with pytest.raises(KeyError):
        del neighbours[640]


@given(STEPS)
def test_they_are_as_a_dictionary(steps: list[tuple[Any, ...]]) -> None:
    topic, expected = TopicOffsets(), dict[int, CommittedOffset]()
    for step in steps:
        match step:
            case "set", partition, offset:
                topic[partition] = expected[partition] = offset
            case "delete", partition:
                assert topic.pop(partition, None) == expected.pop(partition, None)
            case ("ages",):
                assert topic.ages == ages_of(expected.values())
            case ("write",):
                read_again(topic)
            case ("write and read",):
                topic = read_again(topic)
        assert (len(topic), bool(topic)) == (len(expected), bool(expected))
        assert topic.ages_without({1, 64}) == ages_of(
            [offset for partition, offset in expected.items() if partition not in (1, 64)]
        )
    assert topic == expected
    assert sorted(topic) == sorted(expected)
    assert topic.ages == ages_of(expected.values())
