"""Gaps between the topic and the checkpoint's memory of it: unread records that were lost. Checked at each start.

The mirror reads a log that its cleaner thins and whose owner may delete it. If a tombstone is removed before the mirror has read
it, the tables keep rows that the cluster has removed, for ever. Spark notices only some of this. So the checkpoint remembers the
topic: its id, its number of partitions, and the last time without unread records.

1. `taken_up` compares the memory with the present topic. A gap is: another topic id (the topic was created again under its name),
   read offsets outside of the present ones (DeleteRecords, a retention), or a pause longer than tombstones stay
   (delete.retention.ms): some may be lost unseen.
2. For a gap it logs the cause, and requests a gap repair in the checkpoint, before anything else changes.
3. The next batch reads on from the records that are there, and compares the log with the topic. Keys that only the log has get
   tombstones in front of the batch, in the same commit: without source coordinates, with the reason `mirrored` and `inferred` true.
   Not `inferred` is the tombstone of a group that has other records in the topic: its type has changed, and it has not ended.
4. A repeat of that batch repeats the comparison. When a later batch begins, the request is removed.

More partitions are no gap. But groups move between partitions when the brokers are restarted, and `groups_have_moved` requests a
repair then (commit_columns.py).
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct, json
from msgspec.structs import replace
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from group_coordinator.clients.cluster.topics import TopicFacts
from group_coordinator.codecs.offsets_topic import OFFSETS_TOPIC
from group_coordinator.codecs.records.record_types import (
    GROUP_EPOCH,
    GROUP_METADATA,
    REMOVAL_ORDER,
    SHARE_GROUP_EPOCH,
    STREAMS_GROUP_EPOCH,
)
from group_coordinator.core.model.records import Reason
from group_coordinator.mirror.commit_columns import HomePartitions
from group_coordinator.mirror.sinks import columns_of
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    Origin,
    last_planned_batch,
    read_origin,
    remove_sparks_own,
    write_origin,
)
from group_coordinator.streaming.checkpoint.plans import offsets_read
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.definition import BATCH_ID, CLUSTER_ID

_LOOKBACK_FILES = "gap_repairs"
_log = logging.getLogger(__name__)
_KEPT = ("cluster_id", "group_id", "record_type", "key", "topic", "partition", "member_id")
# Offset of their seq, as the rows of the batch count from 0.
_BEFORE_ALL = 1_000_000_000
_GROUPS = (GROUP_METADATA, GROUP_EPOCH, SHARE_GROUP_EPOCH, STREAMS_GROUP_EPOCH)


class _Wish(Struct, frozen=True):
    """A request for gap repair, and the batch that did it, by its number in the tables."""

    noticed_at_ms: int
    after: int
    """The last batch that the tables may have: a repeat of it is skipped by them, together with its tombstones."""
    batch_id: int | None = None


class GapRepairs:
    """Requests for gap repair, kept in the checkpoint, with the batch that did it."""

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
        """Return the tombstones in front of the batch; None: no repair was requested. `present` reads the topic as DECODED."""
        wish = self._read()
        if wish is None or batch_id <= wish.after:
            return None
        # The batch of the repair is committed, as a later batch has begun.
        if wish.batch_id is not None and wish.batch_id < batch_id:
            self._folder.remove(_LOOKBACK_FILES)
            _log.debug("batch=%d gap_repair=done by_batch=%d", batch_id, wish.batch_id)
            return None
        _log.debug("batch=%d gap_repair=begun request=%s", batch_id, wish)
        # Before the comparison: a repeat of this batch must repeat it.
        self._write(_Wish(wish.noticed_at_ms, wish.after, batch_id))
        # Messages that cannot be decoded have no key to compare.
        there = (
            present()
            .where("letter IS NULL")
            .groupBy("group_id", "key")
            .agg(F.max(F.col("value").isNotNull()).alias("has_value"))
        )
        of_group, no = Window.partitionBy("group_id"), F.lit(False)  # noqa: FBT003 - Spark's signature
        lost = (
            self._alive(session, batch_id)
            .join(there, ["group_id", "key"], "full_outer")
            .withColumn("lives_on", F.coalesce(F.max("has_value").over(of_group), no))
            .withColumn("has_record", F.max(F.col("record_type").isin(*_GROUPS)).over(of_group))
            .where("is_alive AND has_value IS NULL")
        )
        return self._tombstones(_with_ends(lost), wish.noticed_at_ms)

    def _alive(self, session: SparkSession, batch_id: int) -> DataFrame:
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
            # The views take a group's own tombstone with `inferred` for its end, and without for a change of its type.
            "inferred": ~(F.col("lives_on") & F.col("record_type").isin(*_GROUPS)),
            "principal": F.lit(None).cast("string"),
            "event_time": F.timestamp_millis(F.lit(noticed_at_ms)),
            "source_topic": F.lit(None).cast("string"),
            "source_partition": F.lit(None).cast("int"),
            "source_offset": F.lit(None).cast("long"),
            "source_topic_id": F.lit(None).cast("string"),
            "seq": (F.row_number().over(order) - _BEFORE_ALL).cast("int"),
        }
        return columns_of(COORDINATOR_LOG, alive, others)

    def _read(self) -> _Wish | None:
        return self._folder.read_newest_as(_LOOKBACK_FILES, _Wish)

    def _write(self, wish: _Wish) -> None:
        self._folder.write_next(_LOOKBACK_FILES, json.encode(wish).decode())


def _with_ends(lost: DataFrame) -> DataFrame:
    # A group that only stored offsets has no record, and its end has: Kafka writes the tombstone all the same.
    place = F.row_number().over(Window.partitionBy("group_id").orderBy("key"))
    name = F.regexp_extract("key", r'"group":"(?:[^"\\]|\\.)*"', 0)
    of_end = {
        "record_type": F.lit(GROUP_METADATA),
        "key": F.concat(F.lit(f'{{"type":{GROUP_METADATA},"data":{{'), name, F.lit("}}")),
        "topic": F.lit(None).cast("string"),
        "partition": F.lit(None).cast("int"),
    }
    row = F.struct(*_KEPT)
    end = F.struct(*(of_end.get(column, F.col(column)).alias(column) for column in _KEPT))
    has_end = F.expr("place = 1 AND topic IS NOT NULL AND NOT lives_on AND NOT has_record")
    rows = F.when(has_end, F.array(row, end)).otherwise(F.array(row))
    return lost.withColumn("place", place).select("lives_on", F.inline(rows))


def _rank() -> Column:
    return F.array_position(F.array(*map(F.lit, REMOVAL_ORDER)), F.col("record_type"))


_FILES = "topic"
# Kafka's default, if the topic's own setting is not readable.
_DELETE_RETENTION_MS = 86_400_000


class _Known(Struct, frozen=True):
    topic_id: str
    partition_count: int
    """Number of partitions among which the brokers divide the groups."""
    next_partition_count: int | None
    all_read_at_ms: int
    """Last time without unread records."""


class Continuation(NamedTuple):
    """The way the topic is read from here on."""

    homes: HomePartitions | None
    is_broken: bool
    """A gap that is known: lost records must not end the query."""


class Continuity:
    """Detector of gaps, by the memory in a mirror's checkpoint."""

    def __init__(self, folder: CheckpointFolder, topic: str, gap_repairs: GapRepairs) -> None:
        self._folder = folder
        self._topic = topic
        self._gap_repairs = gap_repairs

    def taken_up(self, found: TopicFacts, now_ms: int) -> Continuation:
        """Compare, log a gap, and have the next batch repair it."""
        known = self._read()
        count = len(found.extent)
        # The first start: nothing was read, so nothing can be missing.
        if known is None:
            known = _Known(found.topic_id, count, None, now_ms)
        broken = self._broken(known, found, now_ms)
        if broken:
            _log.warning(
                "topic %s %s: the tables are compared with its present records", self._topic, broken
            )
            self._gap_repairs.wish(now_ms, self._last_batch())
            # From here on the request for a gap repair remembers the gap.
            known = replace(known, all_read_at_ms=now_ms)
        if known.topic_id != found.topic_id:
            self._begin_anew()
            known = _Known(found.topic_id, count, None, now_ms)
        # More partitions only take effect for groups when the brokers are restarted (commit_columns.py).
        elif count not in {known.partition_count, known.next_partition_count}:
            _log.warning(
                "topic %s has %d partitions instead of %d: the brokers use them after a restart",
                *(self._topic, count, known.partition_count),
            )
            known = replace(known, next_partition_count=count)
        self._write(known)
        _log.debug("topic=%s gap=%s known=%s", self._topic, broken, known)
        homes = HomePartitions(known.partition_count, known.next_partition_count)
        return Continuation(homes if self._topic == OFFSETS_TOPIC else None, bool(broken))

    def is_broken(self, found: TopicFacts, now_ms: int) -> bool:
        """Return True if `taken_up` would log a gap."""
        known = self._read()
        return known is not None and self._broken(known, found, now_ms) is not None

    def was_away(self, found: TopicFacts, now_ms: int) -> bool:
        """Return True if the mirror paused so long, as with a suspended machine, that tombstones may be lost unseen."""
        known = self._read()
        return known is not None and self._away(known, found, now_ms) is not None

    def groups_have_moved(self, now_ms: int) -> None:
        """Note that the brokers were restarted since the topic got more partitions."""
        known = self._read()
        if known is not None and known.next_partition_count is not None:
            # The last batch wrote nothing.
            self._gap_repairs.wish(now_ms, self._last_batch() - 1)
            count = known.next_partition_count
            _log.warning(
                "the groups of topic %s are now divided among %d partitions", self._topic, count
            )
            self._write(replace(known, partition_count=count, next_partition_count=None))

    def all_is_read(self, at_ms: int) -> None:
        """Note a time without unread records."""
        known = self._read()
        if known is not None:
            self._write(replace(known, all_read_at_ms=at_ms))

    def _broken(self, known: _Known, found: TopicFacts, now_ms: int) -> str | None:
        """Return the cause of a gap in words; None: there is no gap."""
        if known.topic_id != found.topic_id:
            return "was created again, or is that of another cluster"
        read = offsets_read(self._folder, self._topic)
        for partition, offsets in found.extent.items():
            if partition in read and not offsets.start <= read[partition] <= offsets.stop:
                return (
                    f"has offsets {offsets.start} to {offsets.stop} in partition {partition}, which was read up to "
                    f"{read[partition]}"
                )
        return self._away(known, found, now_ms) if last_planned_batch(self._folder) >= 0 else None

    def _away(self, known: _Known, found: TopicFacts, now_ms: int) -> str | None:
        retention_ms = found.delete_retention_ms
        if retention_ms is None:
            retention_ms = _DELETE_RETENTION_MS
        away_ms = now_ms - known.all_read_at_ms
        if away_ms <= retention_ms:
            return None
        return f"keeps tombstones for {retention_ms} ms (delete.retention.ms), and it was last read to its end {away_ms} ms ago"

    def _last_batch(self) -> int:
        # In the tables' numbers; the batch may be open, so its number must not be used again.
        origin = read_origin(self._folder) or Origin()
        return origin.first_batch_id + last_planned_batch(self._folder)

    def _begin_anew(self) -> None:
        # In the tables Spark's batches continue. A crash between the two steps repeats both, and skips some numbers. The origin
        # first, as the last batch number is in the files that are removed.
        write_origin(self._folder, Origin(self._last_batch() + 1))
        remove_sparks_own(self._folder)

    def _read(self) -> _Known | None:
        return self._folder.read_newest_as(_FILES, _Known)

    def _write(self, known: _Known) -> None:
        # A write is a request on an object store, and most looks change nothing.
        if known != self._read():
            self._folder.write_next(_FILES, json.encode(known).decode())
