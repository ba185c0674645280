"""Where a rebuilt coordinator continues to read the events topic."""

from __future__ import annotations

from collections.abc import Mapping


class ForeignLogError(RuntimeError):
    """The log was not written from the events topic that exists now."""


def starting_offsets(
    topic: str, handled: Mapping[int, int], present: Mapping[int, range]
) -> dict[int, int]:
    """The offset of the first event to handle, by partition.

    A partition's events are handled in order and a batch reaches the log whole: all events up to the last one that left
    something have been handled. Later ones that were handled and left nothing - heartbeats, questions, refusals - are
    handled once more, which repeats their answers.

    Args:
        topic: its name, for the error.
        handled: the last offset that left a record or a dead letter, by partition.
        present: the offsets that the topic holds, by partition; retention removes the first ones.

    Raises:
        ForeignLogError: the log has an event behind the end of the topic, or of a partition that does not exist.
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
