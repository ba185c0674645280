"""What the job refuses to do with the number of the events topic's partitions."""

from __future__ import annotations

from dataclasses import replace

import pytest

from group_coordinator import settings
from group_coordinator.job.events_partitions import check_batch_limit
from group_coordinator.job.refusals import JobRefusedError

JOB = settings.load().job


@pytest.mark.parametrize("limit", [1, 4, 8])
def test_a_limit_that_every_batch_reaches_is_refused(limit: int) -> None:
    with pytest.raises(JobRefusedError) as refused:
        check_batch_limit(replace(JOB, max_offsets_per_trigger=limit), partitions=4)

    assert str(refused.value) == (
        f"max.offsets.per.trigger = {limit}, and group-events has 4 partitions: with a limit so low a batch of one "
        "event a partition cannot be told from one that left events unread, and in such a batch no session lapses. "
        "Give it 9 or more, or 0 for no limit"
    )


@pytest.mark.parametrize("limit", [0, 9, 200_000])
def test_no_limit_and_a_higher_one_are_taken(limit: int) -> None:
    check_batch_limit(replace(JOB, max_offsets_per_trigger=limit), partitions=4)
