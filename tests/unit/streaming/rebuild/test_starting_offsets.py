from __future__ import annotations

import re

import pytest

from group_coordinator.streaming.rebuild.rebuild import ForeignLogError, starting_offsets


def test_each_partition_goes_on_behind_the_last_event_that_left_something() -> None:
    present = {0: range(100), 1: range(50), 2: range(10)}

    assert starting_offsets("events", {0: 16, 1: 49}, present) == {0: 17, 1: 50, 2: 0}


def test_what_retention_has_taken_is_passed_over() -> None:
    present = {0: range(20, 100), 1: range(30, 100), 2: range(40, 40)}

    assert starting_offsets("events", {0: 16, 1: 60}, present) == {0: 20, 1: 61, 2: 40}


@pytest.mark.parametrize(("partition", "end"), [(0, 10), (1, 0)])
def test_another_topic_of_the_same_name_is_refused(partition: int, end: int) -> None:
    message = (
        f"events.topic = events: the log has an event of partition {partition}, offset 10, but the topic ends at "
        f"{end}: the log was written from another topic"
    )

    with pytest.raises(ForeignLogError, match=re.escape(message)):
        starting_offsets("events", {partition: 10}, {0: range(10)})
