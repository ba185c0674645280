"""Where a rebuilt coordinator goes on reading the events topic."""

from __future__ import annotations

from collections.abc import Mapping


class ForeignLogError(RuntimeError):
    """The log was not written from the events topic that is there now."""


def starting_offsets(
    topic: str, handled: Mapping[int, int], present: Mapping[int, range]
) -> dict[int, int]:
    """The offset of the first event to handle, by partition.

    A partition's events are handled in order and a batch reaches the log whole: all up to the last one that left
    something has been handled. Those behind it that were handled and left nothing - heartbeats, questions, refusals -
    are handled once more, which repeats their answers.

    Args:
        topic: its name, for the error.
        handled: the last offset that left a record or a dead letter, by partition.
        present: the offsets that the topic holds, by partition; retention takes the first ones away.

    Raises:
        ForeignLogError: the log speaks of an event behind the end of the topic, or of a partition that is not there.
    """
    for partition, offset in sorted(handled.items()):
        end = present[partition].stop if partition in present else 0
        if offset >= end:
            raise ForeignLogError(
                f"events.topic = {topic}: the log has an event of partition {partition}, offset {offset}, but "
                f"the topic ends at {end}; it is not the topic that the log was written from"
            )
    return {
        partition: max(handled.get(partition, -1) + 1, offsets.start)
        for partition, offsets in sorted(present.items())
    }
