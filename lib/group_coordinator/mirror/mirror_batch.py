"""A batch of mirrored rows, and what is known of its cluster when it comes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession

from group_coordinator.mirror.inference import ClusterFacts
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.offset_rows import Retention


class MirrorBatch(NamedTuple):
    """What reasons are inferred from, beside the batch's own rows.

    batch_id: as the tables will have it; all batches before it are in the log.
    retention: of the cluster.
    topics: the ids of the topics that the cluster has now, by name; none at all: nobody knows which it has.
    unseen: topics of which nobody knows whether the cluster has them.
    gone: tombstones that come in front of the batch's rows (lookback.py), as rows of the log; None: there are none.
    """

    spark: SparkSession
    catalog: TableCatalog
    cluster_id: str
    batch_id: int
    retention: Retention
    topics: Mapping[str, str]
    unseen: frozenset[str] = frozenset()
    gone: DataFrame | None = None

    @property
    def facts(self) -> ClusterFacts:
        """What the inference takes of it."""
        return ClusterFacts(self.retention.retention_ms, self.topics, self.unseen)
