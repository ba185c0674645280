"""Start and end offsets of a partition's log in a sample. Imports no module of Spark."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A partition and its offsets; the fields are columns of topic_positions, which has their meanings."""

    topic: str
    partition: int
    log_start_offset: int
    last_stable_offset: int
    log_end_offset: int
