"""Background task that writes TopicMetadata events, by which groups know the topics of their subscriptions.

The stateful function must not ask the cluster itself: its knowledge comes from the log of events, so that a repeated
batch gives the same outputs. Groups send their topic subscriptions once and when they change.

Apart from the cluster's response, the cost of a look is proportional to the changes. A new group receives its metadata after a look
at its own topics. All subscribed topics, and with patterns all topics of the cluster, are looked at only as often as that takes a
small share of the time (background.py): this thread and the thread that writes batches share a Python process.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event
from typing import TypeAlias

from pyspark.sql import SparkSession

from group_coordinator.background import RateLimit
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.event_writer import EventWriter
from group_coordinator.clients.cluster.topics import ClusterTopics, VisibleTopics
from group_coordinator.driver.outages import look_again_and_again
from group_coordinator.driver.tasks.topic_subscriptions import (
    GroupSubscriptions,
    GroupTopicMetadata,
    Hashes,
    SeenTopics,
    Send,
    TopicSubscriptions,
    event,
    metadata_changes,
)
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.layout import coordinator_folder

_log = logging.getLogger(__name__)

_MANY_NAMES = 2_000
"""More names cost more than a list of all topics: a client may name 100,000 topics that do not exist, which take 10 s."""

LookAt: TypeAlias = Callable[[Collection[str] | None], VisibleTopics]
"""Describes the topics of these names, or all topics."""


class TopicMetadataTask:
    """Compares the cluster's topics with the topic subscriptions, and sends the changes to the groups."""

    def __init__(
        self,
        group_subscriptions: GroupSubscriptions,
        look_at: LookAt,
        send: Send,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._group_subscriptions = group_subscriptions
        self._look_at = look_at
        self._send = send
        self._subscriptions = TopicSubscriptions()
        self._seen = SeenTopics()
        self._hashes = Hashes()
        self._of_wanted = RateLimit(clock)
        self._of_all = RateLimit(clock)
        self._has_looked = False
        self._to_update: set[str] = set()
        """Groups whose metadata may have changed."""

    def run(self, stop: Event, interval_s: float) -> None:
        look_again_and_again(self.look, stop, interval_s, "topics are read", _log)

    def look(self) -> None:
        """Send each group the changes of its topics. Raises ChannelError; the next look catches up."""
        self._hear()
        # A broker that has just started may lack topics, so a first look reports no deletions: it only learns.
        may_send = self._has_looked
        self._look_at_topics()
        if may_send:
            self._send_changes()

    def _hear(self) -> None:
        changed = self._group_subscriptions.take_changed()
        self._subscriptions.take(changed, self._seen.topics)
        for group_id, subscription in changed.items():
            if subscription is None:
                self._to_update.discard(group_id)
            else:
                self._to_update.add(group_id)

    def _look_at_topics(self) -> None:
        # Only a list of all topics shows new topics that match a pattern.
        if self._subscriptions.has_patterns and self._of_all.is_due:
            with self._of_all.working():
                self._ask(None)
        elif self._of_wanted.is_due:
            with self._of_wanted.working():
                names = self._subscriptions.all_wanted() | self._concerning_groups()
                self._ask(names)
                if not self._subscriptions.has_patterns:
                    self._seen.forget_all_but(names)
        else:
            self._ask(self._concerning_groups())

    def _concerning_groups(self) -> set[str]:
        return self._received().union(*map(self._subscriptions.wanted, self._to_update))

    def _received(self) -> set[str]:
        return set().union(*(self._subscriptions[each].received or () for each in self._to_update))

    def _ask(self, names: set[str] | None) -> None:
        if names is not None and not names:
            return
        if names is not None and len(names) > _MANY_NAMES:
            names = None
        _log.debug("topics: names=%s waiting_groups=%d", names or "all", len(self._to_update))
        look = self._look_at(names)
        doubtful = self._doubtful(look) if names is None else set()
        if doubtful:
            # A list of all topics omits hidden topics as well as deleted topics.
            look = look.with_more(self._look_at(doubtful))
        self._warn(look.hidden - self._seen.hidden)
        came, changed, went = self._seen.take(names, look)
        subscriptions = self._subscriptions
        subscriptions.topics_came(came)
        self._to_update |= subscriptions.concerned(came | changed | went)
        subscriptions.topics_went(went)
        self._hashes.forget(went)
        self._has_looked = True

    def _doubtful(self, all_topics: VisibleTopics) -> set[str]:
        # Missing in a list of all topics: only a request by name shows if they are hidden by ACLs.
        concerning = self._concerning_groups()
        if len(concerning) > _MANY_NAMES:
            concerning = self._received()
        known = self._seen.topics.keys() | self._seen.hidden | concerning
        return known - all_topics.topics.keys()

    def _warn(self, hidden: frozenset[str]) -> None:
        if hidden:
            _log.warning(
                "the job's user may not see (ACL DESCRIBE) the topics %s: groups keep the metadata that they have of "
                "them, and new groups get no partitions of them",
                ", ".join(sorted(hidden)),
            )

    def _send_changes(self) -> None:
        topics, found, waiting = self._seen.topics, dict[str, GroupTopicMetadata](), set[str]()
        unseen = self._seen.hidden - topics.keys()
        for group_id in sorted(self._to_update):
            wanted = self._subscriptions.wanted(group_id)
            received = self._subscriptions[group_id].received
            if unseen and received and not unseen.isdisjoint(received):
                # Otherwise topics that an earlier run saw would be reported as deleted, and their offsets would be
                # removed.
                waiting.add(group_id)
                continue
            new = metadata_changes(wanted, received, topics, self._hashes)
            if new is not None:
                found[group_id] = new
        if found:
            _log.debug("topics: sent_to=%s waiting=%s", found.keys(), waiting)
            values = {group_id: event(group_id, new) for group_id, new in found.items()}
            for group_id in (group_id for group_id, value in values.items() if value is None):
                said = "group %r: its %d topics are too many for an event: subscribe to fewer"
                _log.error(said, group_id, len(found[group_id].topics))
            self._send([(group_id, value) for group_id, value in values.items() if value])
            sent = {group_id: new.received for group_id, new in found.items()}
            # After the events: a crash in between only sends them again.
            self._group_subscriptions.received(sent)
            self._subscriptions.received(sent)
        # Groups with a hidden topic are tried again at each look, until the topic is visible or deleted.
        self._to_update = waiting


# The first look only learns the topics (TopicMetadataTask.look).
_LOOKS_OF_A_DRAIN = 2


@dataclass(frozen=True, slots=True)
class TopicMetadataRun:
    """Topic metadata of the groups of a run."""

    group_subscriptions: GroupSubscriptions
    task: TopicMetadataTask
    interval_s: float

    def send(self) -> None:
        """Send the changes since the last run, before a run that ends by itself.

        New subscriptions wait for the next run: a run that waited for the cluster's changes would never end. Until then a group gets
        no partitions of unknown topics, and an upgrade fails with COORDINATOR_LOAD_IN_PROGRESS.
        """
        if not self.group_subscriptions.are_there:
            return
        for _ in range(_LOOKS_OF_A_DRAIN):
            self.task.look()
            time.sleep(self.interval_s)

    def run(self, ended: Event) -> None:
        self.task.run(ended, self.interval_s)


@contextmanager
def topic_metadata_of_run(
    spark: SparkSession, job: JobSettings, connection: Connection
) -> Iterator[TopicMetadataRun | None]:
    """Yield the topic metadata of a run; None: `topic.metadata.interval.ms` is 0."""
    if not job.topic_metadata_interval_ms:
        yield None
        return
    group_subscriptions = GroupSubscriptions(coordinator_folder(spark, job))
    # A pattern that matched these two would make consumers read the records of their own commits.
    cluster = ClusterTopics(connection, (job.events_topic, job.responses_topic))
    writer = EventWriter(connection, job.events_topic)
    try:
        task = TopicMetadataTask(group_subscriptions, cluster.look, writer.write)
        yield TopicMetadataRun(group_subscriptions, task, job.topic_metadata_interval_ms / 1000)
    finally:
        cluster.close()
        writer.close()
