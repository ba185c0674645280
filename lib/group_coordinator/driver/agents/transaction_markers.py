"""The follower of transaction markers: the groups that wait for the marker of a producer, and the EndTxn events that report it.

What a batch says is kept before Spark commits the batch, behind its responses, as in topic_interests.py. A group says it in every
call while it waits, and once more when it waits no longer.

A producer's AddOffsetsToTxn goes to the brokers, so that its transaction ends in the group's partition of that topic, however it ends: by
the producer, by its timeout, or by a successor that fences it. Groups say for whose markers they wait, and since which offset. From
there on their partitions are read, and no position is kept: who begins anew reads from there again. What is told twice does no
harm (.github/decisions/023-transaction-markers.md).
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Lock
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import json
from pyspark.sql import SparkSession

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.marker_reader import Marker, MarkerReader, Stretch
from group_coordinator.codecs.apis.end_txn import EndTxnBody
from group_coordinator.codecs.offsets_topic.partitions import partition_of
from group_coordinator.driver.agents.topic_changes import own_event
from group_coordinator.driver.outages import look_again_and_again
from group_coordinator.runtime.outputs import AwaitedMarkersLine
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.journal import Files, Journal
from group_coordinator.streaming.checkpoint.layout import coordinator_folder

Since: TypeAlias = dict[int, int]
"""By producer id, the first offset at which a marker may be that ends something."""

_FOLDER = "transactions/awaited"

_decode = json.Decoder(AwaitedMarkersLine).decode


class AwaitedMarkers:
    """What all groups wait for; the sinks add to it in one thread, the follower reads it in another."""

    def __init__(self, files: Files) -> None:
        self._journal = Journal(files, _FOLDER, Since)
        self._lock = Lock()
        self._awaited: dict[str, Since] = self._journal.read()
        self._changed = set(self._awaited)

    @property
    def are_there(self) -> bool:
        """Whether any group waits."""
        with self._lock:
            return bool(self._awaited)

    def note(self, lines: Sequence[str]) -> None:
        """Take over what the operator says, in order; what groups say again changes nothing."""
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
        """What has changed since the last call, at first all; empty: the group waits no longer."""
        with self._lock:
            changed, self._changed = self._changed, set()
            return {group_id: self._awaited.get(group_id, {}) for group_id in changed}


_log = logging.getLogger(__name__)

Send: TypeAlias = Callable[[Sequence[tuple[str, bytes]]], None]
"""Writes events, pairs of group id and value; returns when the brokers have them."""


class Markers(Protocol):
    """The part of MarkerReader that the follower needs."""

    def partition_count(self) -> int:
        """How many partitions the topic has; 0: it does not exist yet."""
        ...

    def read(self, positions: Mapping[int, int]) -> dict[int, Stretch]:
        """The markers at these offsets and behind them, by partition."""
        ...


class _Wait(NamedTuple):
    group_id: str
    producer_id: int


class _Told(NamedTuple):
    """A marker that a group waits for; from `since_offset` on it is the first one of its producer."""

    wait: _Wait
    marker: Marker
    since_offset: int


class MarkerFollower:
    """Looks for the markers that groups wait for, and for nothing while none waits.

    Args:
        awaited: what groups wait for, for longer than a run.
        markers: reads the topic.
        send: tells the groups.
    """

    def __init__(self, awaited: AwaitedMarkers, markers: Markers, send: Send) -> None:
        self._awaited = awaited
        self._markers = markers
        self._send = send
        self._partitions = 0
        self._known: dict[str, Since] = {}
        self._positions: dict[int, int] = {}
        """From where to read on, of the partitions where somebody waits."""
        self._told: dict[_Wait, int] = {}
        """The last marker that the group was told of since it said that it waits."""

    def run(self, stop: Event, interval_s: float) -> None:
        """Look again and again; while no broker answers, say so once and go on trying."""
        look_again_and_again(
            self.look, stop, interval_s, "ends of transactions are looked for", _log
        )

    def catch_up(self) -> None:
        """Tell all that is there, however much it is.

        Raises:
            ChannelError: the cluster does not answer.
        """
        while self._look():
            pass

    def look(self) -> None:
        """Tell the groups which of the awaited markers are there.

        Raises:
            ChannelError: the cluster does not answer; the next look makes up for it.
        """
        self._look()

    def _look(self) -> int:
        """How much is left to be looked at."""
        if not self._partitions and self._awaited.are_there:
            self._partitions = self._markers.partition_count()
        if not self._partitions:
            return 0
        self._hear()
        return self._read() if self._positions else 0

    def _hear(self) -> None:
        for group_id, since in self._awaited.take_changed().items():
            for producer_id in self._known.pop(group_id, {}):
                self._told.pop(_Wait(group_id, producer_id), None)
            if since:
                self._known[group_id] = since
                partition, first = self._home(group_id), min(since.values())
                self._positions[partition] = min(first, self._positions.get(partition, first))
        homes = set(map(self._home, self._known))
        self._positions = {p: at for p, at in self._positions.items() if p in homes}

    def _home(self, group_id: str) -> int:
        return partition_of(group_id, self._partitions)

    def _read(self) -> int:
        found = self._markers.read(self._positions)
        news = list(self._news(found))
        if news:
            self._send([(told.wait.group_id, _event(told)) for told in news])
            self._told |= {told.wait: told.marker.offset for told in news}
        self._positions |= {partition: stretch.next_offset for partition, stretch in found.items()}
        return sum(stretch.left for stretch in found.values())

    def _news(self, found: Mapping[int, Stretch]) -> Iterator[_Told]:
        """Of each partition in the order of its log."""
        waiting: defaultdict[tuple[int, int], dict[_Wait, int]] = defaultdict(dict)
        for group_id, awaited in sorted(self._known.items()):
            for producer_id, since in awaited.items():
                wait = _Wait(group_id, producer_id)
                first = max(since, self._told.get(wait, -1) + 1)
                waiting[self._home(group_id), producer_id][wait] = first
        for partition, stretch in found.items():
            for marker in stretch.markers:
                firsts = waiting.get((partition, marker.producer_id), {})
                for wait, first in firsts.items():
                    if marker.offset >= first:
                        yield _Told(wait, marker, first)
                        firsts[wait] = marker.offset + 1


def _event(told: _Told) -> bytes:
    group_id, marker = told.wait.group_id, told.marker
    body = EndTxnBody(
        group_id,
        marker.producer_id,
        marker.commits,
        producer_epoch=marker.producer_epoch,
        marker_offset=marker.offset,
        since_offset=told.since_offset,
    )
    return own_event("EndTxn", body)


@dataclass(frozen=True, slots=True)
class FollowingOfMarkers:
    """How the groups of one run hear of the ends of transactions."""

    awaited: AwaitedMarkers
    follower: MarkerFollower
    interval_s: float

    def tell(self) -> None:
        """Tell what has ended since the last run, before a run that ends by itself; what ends meanwhile is for the next one."""
        self.follower.catch_up()

    def run(self, ended: Event) -> None:
        """Tell until `ended` is set."""
        self.follower.run(ended, self.interval_s)


@contextmanager
def following_of_markers(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[FollowingOfMarkers | None]:
    """What tells groups of the ends of transactions during a run; None: the settings want nobody to."""
    if not job.transactions_markers_interval_ms:
        yield None
        return
    awaited = AwaitedMarkers(coordinator_folder(spark, job))
    reader, writer = MarkerReader(connection), EventWriter(connection, job.events_topic)
    try:
        _make_topic(reader)
        follower = MarkerFollower(awaited, reader, writer.write)
        interval_s = job.transactions_markers_interval_ms / 1000
        yield FollowingOfMarkers(awaited, follower, interval_s)
    finally:
        reader.close()
        writer.close()


def _make_topic(reader: MarkerReader) -> None:
    """Before any transaction ends: no marker is written where the topic is not, and none comes later in its place."""
    try:
        reader.make_topic()
    except ChannelError as failure:
        _log.info(
            "transactions need __consumer_offsets, which could not be looked for: %s", failure
        )
