"""Offsets of a partition in a sample: those of its log, and those of a share group. Imports no module of Spark."""

from __future__ import annotations

from typing import NamedTuple


class Position(NamedTuple):
    """A partition and its offsets; the fields are columns of topic_positions, which has their meanings."""

    topic: str
    partition: int
    log_start_offset: int
    last_stable_offset: int
    log_end_offset: int


class ShareOffset(NamedTuple):
    """A partition of a share group; the fields are columns of share_group_offsets, which has their meanings."""

    group_id: str
    topic: str
    partition: int
    start_offset: int | None
    leader_epoch: int | None
    lag: int | None
