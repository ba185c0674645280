"""Samples of topics and share groups as a test writes them down."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from deltalake import write_deltalake

from group_coordinator.tables.position import Position, ShareOffset
from group_coordinator.tables.samples import (
    SHARE_GROUP_OFFSETS,
    TOPIC_POSITIONS,
    position_rows,
    share_offset_rows,
)
from tests.support.group_history import GroupHistory, label, tables_of
from tests.support.log_rows import EPOCH


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


def share_sample(
    root: Path,
    at_s: float,
    group: str,
    topic: str,
    offsets: Mapping[int, tuple[int | None, int | None]],
    *,
    cluster_id: str = "test",
) -> None:
    """The start offset and the broker's lag of each partition of a share group, in a round."""
    described = [
        ShareOffset(group, topic, partition, start, 0, lag)
        for partition, (start, lag) in offsets.items()
    ]
    rows = share_offset_rows(cluster_id, described, round(at_s * 1_000))
    write_deltalake(root / SHARE_GROUP_OFFSETS.name, rows, mode="append")


def tables_with_figures(folder: Path, now_s: int) -> Path:
    """Tables of the clusters test and elsewhere: a group that is 600 s late, and one that has just formed."""
    begin_ms = round((now_s - 300 - EPOCH.timestamp()) * 1000)
    hours = {"start_ms": begin_ms, "offsets_retention_minutes": 600}
    billing, readers = GroupHistory("billing", **hours), GroupHistory("readers", **hours)
    elsewhere = GroupHistory("other", cluster_id="elsewhere", **hours)
    for history in (billing, elsewhere):
        history.commit({"orders": {0: 42, 1: 7}})
    readers.form()
    root = tables_of(folder, billing, readers, elsewhere)
    for at_s, end in ((now_s - 660, 40), (now_s - 600, 42), (now_s - 540, 50), (now_s, 50)):
        sample(root, at_s, "orders", {0: end})
    label(root, ("bill*", "payments", None, 60))
    return root
