"""The follower of transactions' markers in a run: what it keeps in the coordinator's checkpoint, and the thread it lives in."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

from pyspark.sql import SparkSession

from group_coordinator.clients.channel_errors import ChannelError
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.marker_reader import MarkerReader
from group_coordinator.job.awaited_markers import AwaitedMarkers
from group_coordinator.job.marker_follower import MarkerFollower
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder

_log = logging.getLogger(__name__)


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
