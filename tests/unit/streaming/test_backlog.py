"""Which batches count as cut, beside how Spark cuts them (KafkaMicroBatchStream.rateLimit)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.streaming.source import lowest_limit, may_be_cut

SIZES = st.lists(st.integers(0, 40) | st.integers(0, 10**6), min_size=1, max_size=12)


def taken_by_spark(sizes: list[int], limit: int) -> list[int]:
    """A partition that has events gives its share of the limit, one event at least."""
    total = float(sum(sizes))
    shares = [limit * (size / total) if total else 0.0 for size in sizes]
    whole = [math.ceil(share) if share < 1 else math.floor(share) for share in shares]
    return [min(size, most) for size, most in zip(sizes, whole, strict=True)]


@given(sizes=SIZES, limit=st.integers(1, 40) | st.integers(1, 10**6))
def test_a_batch_that_leaves_events_unread_is_noticed(sizes: list[int], limit: int) -> None:
    taken = taken_by_spark(sizes, limit)

    assert may_be_cut(taken, limit) or taken == sizes


@pytest.mark.parametrize("partitions", [1, 2, 4, 50])
def test_from_the_lowest_limit_on_an_event_a_partition_is_no_backlog(partitions: int) -> None:
    least = lowest_limit(partitions)

    for busy in range(1, partitions + 1):
        quiet = [0] * (partitions - busy)
        assert not may_be_cut([*quiet, *[1] * busy], least)
    assert may_be_cut([1] * partitions, least - 1)


@pytest.mark.parametrize(
    ("taken", "is_cut"),
    [
        ([0, 0], False),
        ([49, 48], False),
        ([49, 49], True),  # two shares, each rounded down
        ([98, 0], False),
        ([99, 0], True),
        ([97, 1], True),  # a share below one event is one
    ],
)
def test_a_share_is_rounded_where_there_are_events(taken: list[int], is_cut: object) -> None:
    assert may_be_cut(taken, limit=100) is is_cut
