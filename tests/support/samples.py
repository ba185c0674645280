"""Samples of topics' positions as a test writes them down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deltalake import write_deltalake

from group_coordinator.tables.position import Position
from group_coordinator.tables.topic_positions import TOPIC_POSITIONS, position_rows


def sample(
    root: Path,
    at_s: float,
    topic: str,
    ends: Mapping[int, int],
    *,
    start: int = 0,
    held_back: int = 0,
    cluster_id: str = "test",
) -> None:
    """A round that has this topic alone: the ends by partition; of `held_back` offsets before them a transaction is open."""
    rows = position_rows(
        cluster_id,
        [
            Position(topic, partition, start, end - held_back, end)
            for partition, end in ends.items()
        ],
        round(at_s * 1_000),
    )
    write_deltalake(root / TOPIC_POSITIONS.name, rows, mode="append")
