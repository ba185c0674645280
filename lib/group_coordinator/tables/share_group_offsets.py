"""The table share_group_offsets: start offsets and lag of share groups, sample by sample."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from group_coordinator.tables.definition import (
    CLUSTER_ID,
    GROUP_ID,
    OFFSET_KEY,
    SAMPLED_AT,
    described,
    table_of,
)
from group_coordinator.tables.position import ShareOffset

SHARE_GROUP_OFFSETS = table_of(
    "share_group_offsets",
    "A row for each sample of a partition that a share group reads: its start offset and lag, as the brokers report them",
    [
        CLUSTER_ID,
        GROUP_ID,
        *described(
            """
            topic string The topic
            partition int The partition
            start_offset? bigint The first offset that the group has not finished; later records may be finished, or in delivery. Null: the group has finished no record of the partition, and has no start offset yet
            leader_epoch? int The leader epoch of the partition, as the group's state has it; null: not known
            lag? bigint Offsets left to finish, by the broker: from the start offset to the end of the log, without finished records in between, with those in delivery. Null: the broker does not report it (before Kafka 4.2), or does not know it
            sampled_at timestamp Time of the sample, that of its rows in topic_positions
            """
        ),
    ],
    key=(*OFFSET_KEY, SAMPLED_AT),
)


def share_offset_rows(
    cluster_id: str, offsets: Iterable[ShareOffset], sampled_at_ms: int
) -> pa.Table:
    of_all = {"cluster_id": cluster_id, "sampled_at": sampled_at_ms * 1_000}
    return pa.Table.from_pylist(
        [offset._asdict() | of_all for offset in offsets],
        schema=SHARE_GROUP_OFFSETS.no_rows().schema,
    )
