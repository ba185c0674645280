"""Why a mirrored tombstone stands there: the tables are asked, and the cluster which topics it has."""

from __future__ import annotations

from contextlib import closing

from pyspark.sql import DataFrame

from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.mirror.mirror_batch import MirrorBatch
from group_coordinator.mirror.reasons import with_reasons
from group_coordinator.settings import Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.offset_rows import Retention


class MirrorReasons:
    """Infers the reasons of tombstones from the tables, and from the topics that the cluster has at that moment."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        """Of the cluster that is reached so."""
        coordinator = settings.coordinator
        self._cluster_id = settings.job.cluster_id
        self._topic = settings.job.events_topic
        self._catalog = TableCatalog(settings.job.tables_root)
        self._retention = Retention(
            coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms
        )
        self._connection = connection

    def explain(self, rows: DataFrame, batch_id: int, gone: DataFrame | None) -> DataFrame:
        """The rows with these reasons; what is `gone` comes in front of them.

        Raises:
            ChannelError: the cluster does not answer, or does not let us in.
        """
        lost = rows.where("value IS NULL AND topic IS NOT NULL").select("topic").distinct()
        # The mirrored one is there: of nothing but topics that are gone, nobody would believe it.
        asked = {self._topic, *(row.topic for row in lost.toLocalIterator())}
        with closing(Cluster(self._connection)) as cluster:
            seen = cluster.topics_seen(asked)
        batch = MirrorBatch(
            *(rows.sparkSession, self._catalog, self._cluster_id, batch_id, self._retention),
            topics={name: topic_id for name, topic_id in seen.items() if topic_id is not None},
            unseen=frozenset(asked - seen.keys()),
            gone=gone,
        )
        return with_reasons(rows, batch)
