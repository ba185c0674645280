"""The topic agent of a run: what it keeps in the coordinator's checkpoint, and the thread that it lives in."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event

from pyspark.sql import SparkSession

from group_coordinator.clients.cluster.cluster_topics import ClusterTopics
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.job.topic_agent import TopicAgent
from group_coordinator.job.topic_interests import TopicInterests
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder

_LOOKS_OF_A_DRAIN = 2
"""The first one only learns what there is (TopicAgent.look)."""


@dataclass(frozen=True, slots=True)
class TellingOfTopics:
    """How the groups of one run hear of the cluster's topics."""

    interests: TopicInterests
    agent: TopicAgent
    interval_s: float

    def tell(self) -> None:
        """Tell what is new since the last run, before a run that ends by itself.

        What groups turn out to need while it goes on, it keeps for the next run: a run that waited for news of the
        cluster would have no end of its own. Until then a group that is new, or subscribes to more, has no partitions
        of topics that it has not been told of, and an upgrade is answered COORDINATOR_LOAD_IN_PROGRESS.
        """
        if not self.interests.are_there:
            return
        for _ in range(_LOOKS_OF_A_DRAIN):
            self.agent.look()
            time.sleep(self.interval_s)

    def run(self, ended: Event) -> None:
        """Tell until `ended` is set."""
        self.agent.run(ended, self.interval_s)


@contextmanager
def telling_of_topics(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[TellingOfTopics | None]:
    """What tells groups of topics during a run; None: the settings want nobody to."""
    if not job.topic_metadata_interval_ms:
        yield None
        return
    interests = TopicInterests(coordinator_folder(spark, job))
    # A pattern that matched these two would have its consumers read what their own commits become.
    cluster = ClusterTopics(connection, (job.events_topic, job.responses_topic))
    writer = EventWriter(connection, job.events_topic)
    try:
        agent = TopicAgent(interests, cluster.look, writer.write)
        yield TellingOfTopics(interests, agent, job.topic_metadata_interval_ms / 1000)
    finally:
        cluster.close()
        writer.close()
