"""Where a partition's log begins and ends, as a sample has it; it imports nothing of Spark."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A partition and its offsets; the fields are columns of topic_positions, which says what they mean."""

    topic: str
    partition: int
    log_start_offset: int
    last_stable_offset: int
    log_end_offset: int
