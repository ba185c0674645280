"""Background task that finds the transaction markers for which groups wait, and writes the EndTxn events that report them.

A producer's AddOffsetsToTxn goes to the brokers, so its transaction ends in the group's partition of __consumer_offsets, by the
producer, by its timeout, or by a successor that fences it. Groups send the producers whose markers they await, and since which
offset, in every call while they wait and once more at the end; a batch's are kept before Spark commits the batch, behind its
responses. From there on their partitions are read, and no position is kept: a new run reads from there again. A repeated report
does no harm (.github/decisions/023-transaction-markers.md).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock
from typing import NamedTuple, TypeAlias

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.marker_reader import Marker, MarkerReader, Stretch
from group_coordinator.clients.errors import ChannelError
from group_coordinator.codecs.apis.end_txn import EndTxnBody
from group_coordinator.codecs.offsets_topic import partition_of
from group_coordinator.driver.outages import look_again_and_again
from group_coordinator.driver.tasks.topic_subscriptions import Send, own_event
from group_coordinator.runtime.outputs import AwaitedMarkersLine
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.journal import Journal, JournalFiles
from group_coordinator.streaming.checkpoint.layout import coordinator_folder

Since: TypeAlias = dict[int, int]
"""By producer id, the first offset of a marker that may end the transaction."""

_FOLDER = "transactions/awaited"

_decode = json.Decoder(AwaitedMarkersLine).decode


class AwaitedMarkers:
    """Awaited markers of all groups. The batch writer adds to them in one thread, the follower reads them in another."""

    def __init__(self, files: JournalFiles) -> None:
        self._journal = Journal(files, _FOLDER, Since)
        self._lock = Lock()
        self._awaited: dict[str, Since] = self._journal.read()
        self._changed = set(self._awaited)

    @property
    def are_there(self) -> bool:
        with self._lock:
            return bool(self._awaited)

    def note(self, lines: Sequence[str]) -> None:
        """Apply the operator's awaited markers in order; repeats change nothing."""
        with self._lock:
            changed = {said.group_id for said in map(_decode, lines) if self._note(said)}
            self._changed |= changed
            if changed:
                self._journal.keep(changed, self._awaited)

    def _note(self, said: AwaitedMarkersLine) -> bool:
        known = self._awaited.pop(said.group_id, {})
        if said.since:
            self._awaited[said.group_id] = said.since
        return said.since != known

    def take_changed(self) -> dict[str, Since]:
        """Return the changes since the last call, at first all; empty: the group waits no longer."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._awaited.get(group_id, {}) for group_id in changed}


_log = logging.getLogger(__name__)


class _Wait(NamedTuple):
    group_id: str
    producer_id: int


class _Report(NamedTuple):
    wait: _Wait
    marker: Marker
    since_offset: int
    """From here on the marker is the first of its producer."""


class MarkerFollower:
    """Looks for awaited markers, and reads nothing while no group waits."""

    def __init__(self, awaited: AwaitedMarkers, markers: MarkerReader, send: Send) -> None:
        self._awaited = awaited
        self._markers = markers
        self._send = send
        self._partitions = 0
        self._known: dict[str, Since] = {}
        self._positions: dict[int, int] = {}
        """Next offsets of the partitions with waiting groups."""
        self._reported: dict[_Wait, int] = {}
        """The last marker reported to the group since it began to wait."""

    def run(self, stop: Event, interval_s: float) -> None:
        look_again_and_again(self.look, stop, interval_s, "transaction markers are read", _log)

    def catch_up(self) -> None:
        """Report all present markers. Raises ChannelError."""
        while self._look():
            pass

    def look(self) -> None:
        """Report the awaited markers that have been written. Raises ChannelError; the next look catches up."""
        self._look()

    def _look(self) -> int:
        """Report once; return the number of records that remain to be read."""
        if not self._partitions and self._awaited.are_there:
            self._partitions = self._markers.partition_count()
        if not self._partitions:
            return 0
        self._hear()
        return self._read() if self._positions else 0

    def _hear(self) -> None:
        for group_id, since in self._awaited.take_changed().items():
            # A group that waits again may need a marker that was reported for its last wait.
            for producer_id in self._known.pop(group_id, {}):
                self._reported.pop(_Wait(group_id, producer_id), None)
            if since:
                self._known[group_id] = since
                partition, first = self._home(group_id), min(since.values())
                self._positions[partition] = min(first, self._positions.get(partition, first))
        # Partitions without a waiting group are not read any further.
        homes = set(map(self._home, self._known))
        self._positions = {p: at for p, at in self._positions.items() if p in homes}

    def _home(self, group_id: str) -> int:
        return partition_of(group_id, self._partitions)

    def _read(self) -> int:
        found = self._markers.read(self._positions)
        new_reports = list(self._new_reports(found))
        if new_reports:
            _log.debug("markers: reported=%s", new_reports)
            self._send([(report.wait.group_id, _event(report)) for report in new_reports])
            # After the events: a crash in between only reports the markers again.
            self._reported |= {report.wait: report.marker.offset for report in new_reports}
        self._positions |= {partition: stretch.next_offset for partition, stretch in found.items()}
        return sum(stretch.left for stretch in found.values())

    def _new_reports(self, found: Mapping[int, Stretch]) -> Iterator[_Report]:
        waiting: defaultdict[tuple[int, int], dict[_Wait, int]] = defaultdict(dict)
        for group_id, awaited in sorted(self._known.items()):
            for producer_id, since in awaited.items():
                wait = _Wait(group_id, producer_id)
                first = max(since, self._reported.get(wait, -1) + 1)
                waiting[self._home(group_id), producer_id][wait] = first
        for partition, stretch in found.items():
            for marker in stretch.markers:
                firsts = waiting.get((partition, marker.producer_id), {})
                for wait, first in firsts.items():
                    # Earlier markers ended earlier transactions of the same producer.
                    if marker.offset >= first:
                        yield _Report(wait, marker, first)
                        firsts[wait] = marker.offset + 1


def _event(report: _Report) -> bytes:
    group_id, marker = report.wait.group_id, report.marker
    body = EndTxnBody(
        group_id,
        marker.producer_id,
        marker.commits,
        producer_epoch=marker.producer_epoch,
        marker_offset=marker.offset,
        since_offset=report.since_offset,
    )
    return own_event("EndTxn", body)


@dataclass(frozen=True, slots=True)
class MarkerTask:
    """Transaction markers for the groups of a run."""

    awaited: AwaitedMarkers
    follower: MarkerFollower
    interval_s: float

    def report(self) -> None:
        self.follower.catch_up()

    def run(self, ended: Event) -> None:
        self.follower.run(ended, self.interval_s)


@contextmanager
def following_of_markers(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[MarkerTask | None]:
    """Yield the transaction markers of a run; None: `transactions.markers.interval.ms` is 0."""
    if not job.transactions_markers_interval_ms:
        yield None
        return
    awaited = AwaitedMarkers(coordinator_folder(spark, job))
    reader, writer = MarkerReader(connection), EventWriter(connection, job.events_topic)
    try:
        _make_topic(reader)
        follower = MarkerFollower(awaited, reader, writer.write)
        interval_s = job.transactions_markers_interval_ms / 1000
        yield MarkerTask(awaited, follower, interval_s)
    finally:
        reader.close()
        writer.close()


def _make_topic(reader: MarkerReader) -> None:
    try:
        # Before any transaction ends: without the topic no marker is written, and none is written later.
        reader.make_topic()
    except ChannelError as failure:
        _log.info(
            "transactions need __consumer_offsets, and the brokers could not be asked for it: %s",
            failure,
        )
