"""Gaps between the topic and the checkpoint's memory of it: unread records that were lost. Checked at each start.

The mirror reads a log that its cleaner thins and whose owner may delete it. If a tombstone is removed before the mirror has read
it, the tables keep rows that the cluster has removed, for ever. Spark notices only some of this. So the checkpoint remembers the
topic: its id, its number of partitions, and the last time without unread records.

1. `taken_up` compares the memory with the present topic. A gap is: another topic id (the topic was created again under its name),
   read offsets outside of the present ones (DeleteRecords, a retention), or a pause longer than tombstones stay
   (delete.retention.ms): some may be lost unseen.
2. For a gap it logs the cause, and requests a gap repair in the checkpoint (lookback.py), before anything else changes.
3. The next batch reads on from the records that are there, and compares the log with the topic. Keys that only the log has get
   tombstones in front of the batch, in the same commit.
4. A repeat of that batch repeats the comparison. When a later batch begins, the request is removed.

More partitions are no gap. But groups move between partitions when the brokers are restarted, and `groups_have_moved` requests a
repair then (home_partition.py).
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from msgspec import Struct, json
from msgspec.structs import replace

from group_coordinator.clients.cluster.topics import TopicFacts
from group_coordinator.codecs.offsets_topic.partitions import OFFSETS_TOPIC
from group_coordinator.mirror.home_partition import HomePartitions
from group_coordinator.mirror.lookback import Lookback
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    Origin,
    last_planned_batch,
    read_origin,
    remove_sparks_own,
    write_origin,
)
from group_coordinator.streaming.checkpoint.plans import offsets_read

_FILES = "topic"
# Kafka's default, if the topic's own setting is not readable.
_DELETE_RETENTION_MS = 86_400_000
_log = logging.getLogger(__name__)


class _Known(Struct, frozen=True):
    """The checkpoint's memory of the topic."""

    topic_id: str
    partition_count: int
    """Number of partitions among which the brokers divide the groups."""
    next_partition_count: int | None
    all_read_at_ms: int
    """Last time without unread records."""


class Thread(NamedTuple):
    """The way the topic is read from here on."""

    homes: HomePartitions | None
    is_broken: bool
    """A gap that is known: lost records must not end the query."""


class Continuity:
    """Detector of gaps, by the memory in a mirror's checkpoint."""

    def __init__(self, folder: CheckpointFolder, topic: str, lookback: Lookback) -> None:
        self._folder = folder
        self._topic = topic
        self._lookback = lookback

    def taken_up(self, found: TopicFacts, now_ms: int) -> Thread:
        """Compare, log a gap, and have the next batch repair it.

        Args:
            found: the present topic.
            now_ms: the time.
        """
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
            self._lookback.wish(now_ms, self._last_batch())
            # From here on the request for a gap repair remembers the gap.
            known = replace(known, all_read_at_ms=now_ms)
        if known.topic_id != found.topic_id:
            self._begin_anew()
            known = _Known(found.topic_id, count, None, now_ms)
        # More partitions only take effect for groups when the brokers are restarted (home_partition.py).
        elif count not in {known.partition_count, known.next_partition_count}:
            _log.warning(
                "topic %s has %d partitions instead of %d: the brokers use them after a restart",
                *(self._topic, count, known.partition_count),
            )
            known = replace(known, next_partition_count=count)
        self._write(known)
        _log.debug("topic=%s gap=%s known=%s", self._topic, broken, known)
        homes = HomePartitions(known.partition_count, known.next_partition_count)
        return Thread(homes if self._topic == OFFSETS_TOPIC else None, bool(broken))

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
            self._lookback.wish(now_ms, self._last_batch() - 1)
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
            return "was created again"
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
        """Let Spark read from the first record on; in the tables its batches continue after the last batch.

        A crash between the two steps repeats both, and skips some numbers.
        """
        # Before Spark's files are removed, as their last batch number is needed.
        write_origin(self._folder, Origin(self._last_batch() + 1))
        remove_sparks_own(self._folder)

    def _read(self) -> _Known | None:
        return self._folder.read_newest_as(_FILES, _Known)

    def _write(self, known: _Known) -> None:
        # A write is a request on an object store, and most looks change nothing.
        if known != self._read():
            self._folder.write_next(_FILES, json.encode(known).decode())
