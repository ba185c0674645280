"""Gap repair: tombstones for keys that are in the log, and no longer in the topic. Their reason is unknown.

They are rows of coordinator_log without source coordinates, with the reason `mirrored` and `inferred` true, at the time
of detection. They come with the rows of a batch, in front of them, so that a table takes both or none. A repeated batch
repeats the comparison.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from msgspec import Struct, json
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from group_coordinator.core.model.records import Reason
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID, INGESTED_AT

_FILES = "lookback"
_log = logging.getLogger(__name__)
_KEPT = ("cluster_id", "group_id", "record_type", "key", "topic", "partition", "member_id")
# Record types in Kafka's order of deletion: offsets before their group, and dependent records before their owner.
_ORDER = (
    *(0, 1),  # offsets
    *(8, 7, 6, 5, 16, 4, 3),  # consumer groups
    *(14, 13, 12, 10, 15, 11),  # share groups
    *(22, 21, 20, 19, 23, 17),  # streams groups
    2,  # classic groups
)
# Offset of their seq, as the rows of the batch count from 0.
_BEFORE_ALL = 1_000_000_000


class _Wish(Struct, frozen=True):
    """A request for gap repair, and the batch that did it, by its number in the tables."""

    noticed_at_ms: int
    after: int
    """The last batch that the tables may have: a repeat of it is skipped by them, together with its tombstones."""
    batch_id: int | None = None


class Lookback:
    """Requests for gap repair, kept in the checkpoint, with the batch that did it.

    Args:
        folder: the mirror's checkpoint.
        catalog: the tables.
        cluster_id: the cluster that is mirrored.
    """

    def __init__(self, folder: CheckpointFolder, catalog: TableCatalog, cluster_id: str) -> None:
        self._folder = folder
        self._catalog = catalog
        self._cluster_id = cluster_id

    @property
    def is_due(self) -> bool:
        """True if no batch has done it, or if its batch may be repeated."""
        return self._read() is not None

    def wish(self, noticed_at_ms: int, after: int) -> None:
        """Request a gap repair by the next batch that the tables cannot have yet: a batch after `after`."""
        self._write(_Wish(noticed_at_ms, after))

    def gone(
        self, session: SparkSession, batch_id: int, present: Callable[[], DataFrame]
    ) -> DataFrame | None:
        """Return the tombstones that come in front of the batch; None: no repair was requested.

        Args:
            session: that of the batch.
            batch_id: its number in the tables.
            present: reads the topic, as rows of arrow_decoder.DECODED.
        """
        wish = self._read()
        if wish is None or batch_id <= wish.after:
            return None
        # The batch of the repair is committed, as a later batch has begun.
        if wish.batch_id is not None and wish.batch_id < batch_id:
            self._folder.remove(_FILES)
            _log.debug("batch=%d gap_repair=done by_batch=%d", batch_id, wish.batch_id)
            return None
        _log.debug("batch=%d gap_repair=begun request=%s", batch_id, wish)
        # Before the comparison: a repeat of this batch must repeat it.
        self._write(_Wish(wish.noticed_at_ms, wish.after, batch_id))
        # Messages that cannot be decoded have no key to compare.
        there = present().where("letter IS NULL").select("group_id", "key").distinct()
        return self._tombstones(
            self._alive(session, batch_id).join(there, ["group_id", "key"], "left_anti"),
            wish.noticed_at_ms,
        )

    def _alive(self, session: SparkSession, batch_id: int) -> DataFrame:
        """Return the keys whose last row before the batch has a value."""
        rows = self._catalog.read(session, COORDINATOR_LOG.name).where(
            (F.col(CLUSTER_ID.name) == self._cluster_id)
            & (F.col(BATCH_ID.name) < batch_id)
            & (F.col("record_type") >= 0)
        )
        # The last row of a key decides, as in the cleaner of a log.
        has_value = F.max_by(F.col("value").isNotNull(), F.struct("batch_id", "seq"))
        return rows.groupBy(*_KEPT).agg(has_value.alias("is_alive")).where("is_alive")

    def _tombstones(self, alive: DataFrame, noticed_at_ms: int) -> DataFrame:
        order = Window.partitionBy("group_id").orderBy(_rank(), "key")
        others = {
            "value": F.lit(None).cast("string"),
            "offset": F.lit(None).cast("long"),
            "reason": F.lit(Reason.MIRRORED),
            "inferred": F.lit(True),  # noqa: FBT003 - Spark's signature
            "principal": F.lit(None).cast("string"),
            "event_time": F.timestamp_millis(F.lit(noticed_at_ms)),
            "source_topic": F.lit(None).cast("string"),
            "source_partition": F.lit(None).cast("int"),
            "source_offset": F.lit(None).cast("long"),
            "source_topic_id": F.lit(None).cast("string"),
            "seq": (F.row_number().over(order) - _BEFORE_ALL).cast("int"),
        }
        names = COORDINATOR_LOG.schema.names
        return alive.select(
            *(
                others.get(name, F.col(name)).alias(name)
                for name in names
                if name not in {BATCH_ID.name, INGESTED_AT.name}
            )
        )

    def _read(self) -> _Wish | None:
        return self._folder.read_newest_as(_FILES, _Wish)

    def _write(self, wish: _Wish) -> None:
        self._folder.write_next(_FILES, json.encode(wish).decode())


def _rank() -> Column:
    return F.array_position(F.array(*map(F.lit, _ORDER)), F.col("record_type"))
