"""Facts of the mirrored cluster: reasons of tombstones, and retention of offsets."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import closing
from dataclasses import replace

from pyspark.sql import DataFrame

from group_coordinator.clients.cluster.broker_retention import (
    CHECK_INTERVAL,
    RETENTION,
    broker_retention,
)
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.mirror.known_rows import MirrorBatch
from group_coordinator.mirror.reasons import with_reasons
from group_coordinator.settings import Settings
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction.offset_rows import Retention


class MirrorReasons:
    """Infers the reasons of tombstones from the tables, and from the topics that the cluster has at that moment."""

    def __init__(self, settings: Settings, connection: Connection) -> None:
        coordinator = settings.coordinator
        self._cluster_id = settings.job.cluster_id
        self._topic = settings.job.events_topic
        self._catalog = TableCatalog(settings.job.tables_root)
        self._retention = Retention(
            coordinator.retention_ms, coordinator.offsets_retention_check_interval_ms
        )
        self._connection = connection

    def explain(self, rows: DataFrame, batch_id: int, gone: DataFrame | None) -> DataFrame:
        """Return the rows with these reasons, behind the tombstones `gone`.

        Raises:
            ChannelError: the cluster does not respond, or rejects the login.
        """
        lost = rows.where("value IS NULL AND topic IS NOT NULL").select("topic").distinct()
        # The offsets topic exists: a response in which all requested topics are missing would not be credible.
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


_log = logging.getLogger(__name__)


def with_retention_of_brokers(
    settings: Settings, given: Collection[str], connection: Connection
) -> Settings:
    """Return the settings with the brokers' retention of offsets, for forecasts, unless it is `given`.

    Raises:
        ChannelError: the cluster does not respond, or rejects the login.
    """
    coordinator = settings.coordinator
    # A setting of the user takes precedence.
    if {RETENTION, "offsets.retention.ms"} & set(given):
        _log.info("forecasts use the retention of the settings: %d ms", coordinator.retention_ms)
        return settings
    found = broker_retention(connection)
    if found is None:
        _log.warning(
            "the brokers do not show %s (ACL DESCRIBE_CONFIGS on the cluster): forecasts use the setting, %d",
            RETENTION,
            coordinator.offsets_retention_minutes,
        )
        return settings
    _log.info("forecasts use the retention of the brokers: %d minutes", found[0])
    check_interval_ms = (
        coordinator.offsets_retention_check_interval_ms
        if CHECK_INTERVAL in given
        else found.check_interval_ms
    )
    theirs = replace(
        coordinator,
        offsets_retention_minutes=found.retention_minutes,
        offsets_retention_check_interval_ms=check_interval_ms,
    )
    return replace(settings, coordinator=theirs)
