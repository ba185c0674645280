"""The number of the events topic's partitions, and what the job must not do with so many of them."""

from __future__ import annotations

from group_coordinator.job.refusals import JobRefusedError
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.backlog import lowest_limit


def check_batch_limit(job: JobSettings, partitions: int) -> None:
    """Refuse a limit with which sessions of members that are gone would not lapse as long as others are busy.

    Raises:
        JobRefusedError: the message names the limit and the least that it may be.
    """
    limit, least = job.max_offsets_per_trigger, lowest_limit(partitions)
    if 0 < limit < least:
        raise JobRefusedError(
            f"max.offsets.per.trigger = {limit}, and {job.events_topic} has {partitions} partitions: with a limit so "
            "low a batch of one event a partition cannot be told from one that left events unread, and in such a "
            f"batch no session lapses. Give it {least} or more, or 0 for no limit"
        )
