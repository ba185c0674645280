"""A group that its process knows goes on like one that is read from its snapshot, whatever is remembered of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.core.model import consumer_group, topic_offsets
from group_coordinator.runtime.group_call import (
    GroupCache,
    OperatorInput,
    SortedEvents,
    StoredState,
    call_group,
)
from group_coordinator.runtime.outputs import EVENT, HEADER, EventRow
from group_coordinator.testing import GroupDriver
from tests.property.consumer_lives import STEPS, Steps, life_of
from tests.property.lives import CONTEXT, RETENTION_MS, SLACK_MS, SWEEP_MS, Script, scripts
from tests.support.forgetful import forgetful
from tests.support.group_updates import lines_of

Call = tuple[list[EventRow], int]
Outcome = tuple[bool, StoredState | None, int | None, list[str]]


@contextmanager
def everything_is_many() -> Iterator[None]:
    """Two partitions are as many as one part of a snapshot has."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(topic_offsets, "_NEIGHBOURS", 2)
        patched.setattr(consumer_group, "_NEIGHBOURS", 2)
        yield


def outcomes(calls: list[Call], known_in: Callable[[], GroupCache]) -> Iterator[Outcome]:
    """What Spark is told to do after each call; `known_in` is the process that does it."""
    stored = None
    for rows, time_ms in calls:
        given = OperatorInput("g", stored, packed(rows), time_ms, has_timed_out=not rows)
        result = call_group(given, CONTEXT, known_in())
        yield result.write, result.state, result.timeout_ms, lines_of(result)
        stored = result.state if result.write else stored


def packed(rows: list[EventRow]) -> SortedEvents:
    return SortedEvents(
        [
            HEADER.pack(row.partition, row.offset, row.timestamp_ms, EVENT, len(row.value))
            + row.value
            for row in rows
            if row.value is not None
        ]
    )


@given(script=scripts(), data=st.data())
def test_it_makes_no_difference_which_process_does_a_call(
    script: Script, data: st.DataObject
) -> None:
    end_ms = script.now_ms + data.draw(st.sampled_from([0, SLACK_MS, SWEEP_MS, 10 * RETENTION_MS]))
    edges = [0, *sorted(data.draw(st.sets(st.integers(0, len(script.rows))))), len(script.rows)]
    times_ms = [row.timestamp_ms for row in script.rows] + [end_ms]
    calls = [(script.rows[start:stop], times_ms[stop]) for start, stop in pairwise(edges)]
    processes = st.sampled_from([GroupCache(least_bytes=0), GroupCache(least_bytes=0)])

    with everything_is_many():
        known = list(outcomes(calls, lambda: data.draw(processes)))

    assert known == list(outcomes(calls, GroupCache))


@given(st.lists(STEPS, max_size=30), st.randoms(use_true_random=False))
def test_what_stays_as_bytes_is_as_if_written_anew(steps: Steps, random: Random) -> None:
    def check(driver: GroupDriver) -> None:
        if random.random() < 1 / 2:  # several steps may lie between two snapshots
            assert snapshots.dump(driver.group) == snapshots.dump(forgetful(driver.group))

    life_of(steps, check)


@given(st.lists(STEPS, max_size=30))
def test_a_consumer_group_goes_on_like_one_that_was_read(steps: Steps) -> None:
    def read_again(driver: GroupDriver) -> None:
        driver.group = snapshots.load("g", snapshots.dump(driver.group))

    live, read = life_of(steps).driver, life_of(steps, read_again).driver

    assert live.log == read.log
    assert live.responses == read.responses
    assert snapshots.dump(live.group) == snapshots.dump(read.group)
