"""What the job refuses to do with the number of the events topic's partitions, and what it tells of it."""

from __future__ import annotations

import logging
from dataclasses import replace
from itertools import pairwise

import pytest

from group_coordinator import settings
from group_coordinator.driver.checks.preflight import (
    check_batch_limit,
    check_no_new_partitions,
    report_new_partitions,
)
from group_coordinator.driver.errors import StartUpError
from group_coordinator.streaming.checkpoint.plans import PlannedBatch

JOB = settings.load().job


@pytest.mark.parametrize("limit", [1, 4, 8])
def test_a_limit_that_every_batch_reaches_is_refused(limit: int) -> None:
    with pytest.raises(StartUpError) as refused:
        check_batch_limit(replace(JOB, max_offsets_per_trigger=limit), partitions=4)

    assert str(refused.value) == (
        f"max.offsets.per.trigger = {limit} is too low for the 4 partitions of group-events: timers would be "
        "suspended in each batch with an event of each partition. Set at least 9, or 0 for no limit"
    )


@pytest.mark.parametrize("limit", [0, 9, 200_000])
def test_no_limit_and_a_higher_one_are_taken(limit: int) -> None:
    check_batch_limit(replace(JOB, max_offsets_per_trigger=limit), partitions=4)


def test_a_topic_that_has_grown_while_nobody_read_it_is_refused() -> None:
    with pytest.raises(StartUpError) as refused:
        check_no_new_partitions("group-events", read=4, present=8)

    assert str(refused.value) == (
        "events.topic = group-events has 8 partitions instead of the 4 of the last run: a group's events may "
        "be in two of them now, and later events may be handled before earlier ones. To accept this, run once "
        "with --accept-new-partitions. It has no effect on groups without new events since the job read all "
        "events"
    )


@pytest.mark.parametrize("read", [None, 4])
def test_a_topic_that_is_as_it_was_is_taken(read: int | None) -> None:
    check_no_new_partitions("group-events", read, present=4)


def plan(*partitions: int, topic: str = "group-events") -> PlannedBatch:
    return PlannedBatch(at_ms=1, ends={topic: dict.fromkeys(partitions, 10)})


def test_the_first_batch_that_reads_new_partitions_is_told_of(
    caplog: pytest.LogCaptureFixture,
) -> None:
    batches = [None, plan(0, 1), plan(0, 1), plan(0, 1, 2), plan(0, 1, 2), None]

    with caplog.at_level(logging.WARNING):
        for before, now in pairwise(batches):
            report_new_partitions("group-events", before, now)
        report_new_partitions("group-events", PlannedBatch(1, {}), plan(0, 1))

    [message] = caplog.messages
    assert message == (
        "events.topic = group-events HAS MORE PARTITIONS, 3 instead of 2: groups move to other partitions, "
        "and later events of a group may be handled before its unread events in the former partition"
    )
