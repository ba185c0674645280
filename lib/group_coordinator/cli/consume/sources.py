"""Sources of records with their connections and topics: assigned partitions of a group, with commits of the printed records, or a single partition."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from typing import Any, Protocol

import click
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from group_coordinator.cli.consume.wanted import Wanted
from group_coordinator.clients import offset_messages
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import ClientError, RequestTimedOutError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberState
from group_coordinator.clients.offset_messages import Offsets
from group_coordinator.clients.results import PartitionResults
from group_coordinator.settings import JobSettings

Record = Any
"""Record class of kafka-python."""

INTERNAL = frozenset({"__consumer_offsets", "__share_group_state", "__transaction_state"})
"""Kafka's internal topics, which no pattern matches (exclude.internal.topics)."""
_SOON_S = 1.0
"""Interval of requests for a topic that does not exist yet."""


class Topics:
    """Topics of the cluster, read at intervals: the topic, or all topics whose whole name matches the pattern.

    A missing topic is awaited, and never created.
    """

    def __init__(
        self,
        cluster: Cluster,
        topic: str | None,
        include: re.Pattern[str] | None,
        max_age_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._cluster = cluster
        self._topic = topic
        self._include = include
        self._max_age_s = max_age_s
        self._clock = clock
        self._due_s = clock()
        self.ids: dict[str, str] = {}
        """Topic ids by name; entries are only added, as members of the consumer protocol need them."""
        self.names: frozenset[str] = frozenset()

    def look(self) -> bool:
        """Ask again after the interval; return True if the topics have changed. ChannelErrors are those of the cluster."""
        if self._clock() < self._due_s:
            return False
        found = self._cluster.topic_ids(None if self._topic is None else [self._topic])
        names = frozenset(filter(self._is_wanted, found))
        # The member holds the same dict.
        self.ids |= {name: found[name] for name in names}
        self._due_s = self._clock() + (self._max_age_s if names else min(_SOON_S, self._max_age_s))
        before, self.names = self.names, names
        return names != before

    def _is_wanted(self, name: str) -> bool:
        if self._include is None:
            return name == self._topic
        return name not in INTERNAL and self._include.fullmatch(name) is not None


class PartitionCounts(Mapping[str, int]):
    """Partition counts for the leader of a classic group, read at each use: other members may read other topics."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __getitem__(self, topic: str) -> int:
        return self._cluster.partition_counts([topic])[topic]

    def __iter__(self) -> Iterator[str]:
        return iter(self._cluster.topic_ids())

    def __len__(self) -> int:
        return len(self._cluster.topic_ids())


CLOSE_TIMEOUT_S = 5.0
"""Longest wait for the job at the end."""


class Commits:
    """Commits of changed offsets, without an interval none."""

    def __init__(
        self,
        send: Callable[[Offsets], Future[PartitionResults]],
        interval_s: float | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._send = send
        self._interval_s = interval_s
        self._clock = clock
        self._due_s = clock() + (interval_s or 0.0)
        self._committed: dict[TopicPartition, int] = {}
        self._last: Future[PartitionResults] | None = None

    def begin(self, committed: Mapping[TopicPartition, int]) -> None:
        self._committed |= committed

    def commit_if_due(self, positions: Callable[[], Mapping[TopicPartition, int]]) -> None:
        """Commit the positions, if the interval has passed and the last commit has a response."""
        is_answered = self._last is None or self._last.done()
        if self._interval_s is not None and is_answered and self._clock() >= self._due_s:
            self._due_s = self._clock() + self._interval_s
            self.commit(positions())

    def commit(self, positions: Mapping[TopicPartition, int]) -> None:
        """Commit changed offsets, without waiting for the response."""
        changed = {
            partition: offset
            for partition, offset in positions.items()
            if self._committed.get(partition) != offset
        }
        if self._interval_s is None or not changed:
            return
        self._committed |= changed
        self._last = self._send(changed)
        self._last.add_done_callback(partial(self._take, changed))

    def close(self) -> None:
        """Wait for the response to the last commit, up to a timeout."""
        if self._last is not None:
            wait([self._last], CLOSE_TIMEOUT_S)

    def _take(
        self, offsets: Mapping[TopicPartition, int], response: Future[PartitionResults]
    ) -> None:
        # Called in the thread of the channel.
        try:
            response.result().all()
        except ClientError as error:
            for partition in offsets:
                # The next commit includes these offsets again.
                self._committed.pop(partition, None)
            click.echo(f"Offsets were not committed: {error}", err=True)


POLL_MS = 100
_SILENCE_S = 15.0
"""Time until a hint: the first assignment takes the initial rebalance delay, 3 seconds, and a few batches of the job."""


class RecordSource(Protocol):
    """Source of records for a single thread."""

    def poll(self, most: int) -> list[Record]:
        """Return the next records, `most` at most; wait briefly if there are none."""

    def printed(self, record: Record) -> None: ...
    def close(self) -> None: ...


class PartitionSource:
    """Source that reads a partition without a group."""

    def __init__(
        self, consumer: KafkaConsumer, partition: TopicPartition, first_offset: str | int
    ) -> None:
        self._consumer = consumer
        consumer.assign([partition])
        if first_offset == "earliest":
            consumer.seek_to_beginning(partition)
        elif first_offset == "latest":
            consumer.seek_to_end(partition)
        else:
            consumer.seek(partition, first_offset)

    def poll(self, most: int) -> list[Record]:
        return _polled(self._consumer, most)

    def printed(self, record: Record) -> None:
        """Do nothing, as there is no group to commit for."""

    def close(self) -> None:
        """Do nothing, as there is no group to commit for."""


class GroupSource:
    """Source that reads the partitions of a member, from the committed offsets of its group; the consumer has no group."""

    def __init__(
        self,
        member: GroupMember,
        topics: Topics,
        consumer: KafkaConsumer,
        *,
        fetch_offsets: Callable[
            [Collection[TopicPartition]], Mapping[TopicPartition, OffsetAndMetadata]
        ],
        commits: Commits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._member = member
        self._topics = topics
        self._consumer = consumer
        self._fetch_offsets = fetch_offsets
        self._commits = commits
        self._clock = clock
        self._silent_from_s = clock() + _SILENCE_S
        self._assigned: frozenset[TopicPartition] = frozenset()
        self._next: dict[TopicPartition, int] = {}
        """Offset behind the last printed record, by partition."""

    def poll(self, most: int) -> list[Record]:
        if self._topics.look():
            self._member.subscribe(self._topics.names)
        if self._topics.names:
            self._member.poll()
        self._report_silence()
        # The assignment changes only inside the member's poll.
        if self._member.assignment != self._assigned:
            self._take_over()
        if not self._assigned:
            # kafka-python's poll returns at once without an assignment.
            time.sleep(POLL_MS / 1000)
            return []
        self._commits.commit_if_due(self._positions)
        records = _polled(self._consumer, most)
        for record in records:
            # The first record that is not printed yet, in case of an end in the middle.
            self._next.setdefault(TopicPartition(record.topic, record.partition), record.offset)
        return records

    def printed(self, record: Record) -> None:
        self._next[TopicPartition(record.topic, record.partition)] = record.offset + 1

    def close(self) -> None:
        """Commit the printed records; the member stays in its group."""
        self._commit(self._assigned)
        self._commits.close()

    def _take_over(self) -> None:
        kept = self._assigned & self._member.assignment
        if kept != self._assigned:
            # Revoked partitions are committed before the member's next poll, which releases them to other members.
            self._commit(self._assigned - kept)
            self._begin(kept)
        come = self._member.assignment - kept
        if not come:
            return
        try:
            committed = self._fetch_offsets(come)
        except RequestTimedOutError:
            return  # the next poll asks again
        self._begin(kept | come)
        for partition, offset in committed.items():
            self._consumer.seek(partition, offset.offset)
        self._commits.begin({one: offset.offset for one, offset in committed.items()})

    def _commit(self, partitions: Collection[TopicPartition]) -> None:
        # A commit outside the group would count as an administrator's.
        if self._member.generation_id >= 0:
            positions = self._positions()
            self._commits.commit({one: positions[one] for one in partitions if one in positions})

    def _begin(self, assigned: frozenset[TopicPartition]) -> None:
        self._next = {one: at for one, at in self._next.items() if one in assigned}
        self._assigned = assigned
        self._consumer.assign(sorted(assigned))

    def _positions(self) -> dict[TopicPartition, int]:
        """Known positions of the group: behind the printed records, or the first offset to read."""
        known = {one: self._next.get(one) for one in self._assigned}
        asked = {
            one: self._consumer.position(one, timeout_ms=0) if at is None else at
            for one, at in known.items()
        }
        return {one: at for one, at in asked.items() if at is not None}

    def _report_silence(self) -> None:
        # A long wait for partitions is explained once.
        if self._member.state is MemberState.STABLE:
            self._silent_from_s = float("inf")
        elif self._clock() >= self._silent_from_s:
            self._silent_from_s = float("inf")
            cause = (
                "Check that the job runs: it coordinates the group."
                if self._topics.names
                else "The topic does not exist yet."
            )
            click.echo(f"No partitions after {_SILENCE_S:g} s. {cause}", err=True)


def _polled(consumer: Any, most: int) -> list[Record]:
    found = consumer.poll(timeout_ms=POLL_MS, max_records=most)
    return [record for records in found.values() for record in records]


@contextmanager
def opened(wanted: Wanted, connection: Connection, job: JobSettings) -> Iterator[RecordSource]:
    """Open the source of the records. Raises ChannelError: the cluster does not answer, or lacks the job's topics."""
    with ExitStack() as stack:
        consumer = connection.open(
            KafkaConsumer,
            client_id=wanted.member.client_id,
            # Commits go through the member, as the coordinator is the job.
            enable_auto_commit=False,
            allow_auto_create_topics=False,
            **wanted.fetching,
        )
        stack.enter_context(closing(consumer))
        cluster = stack.enter_context(closing(Cluster(connection)))
        if wanted.topic is not None:
            # Without DESCRIBE the topic looks as if it did not exist, and `consume` would wait for it.
            cluster.check_may_see(wanted.topic)
        if wanted.partition is not None and wanted.topic is not None:
            one = TopicPartition(wanted.topic, wanted.partition)
            yield PartitionSource(consumer, one, wanted.first_offset)
            return
        channel = stack.enter_context(_channel(wanted, connection, job))
        topics = Topics(
            cluster, wanted.topic, wanted.include, wanted.metadata_max_age_s, time.monotonic
        )
        member = _member(wanted, channel, cluster, topics)
        if not wanted.stays_member:
            # The callbacks run in reverse order: the source commits before the member leaves.
            stack.callback(lambda: wait([member.leave_async()], CLOSE_TIMEOUT_S))
        source = _group_source(wanted, consumer, channel, topics, member)
        yield stack.enter_context(closing(source))


def _channel(wanted: Wanted, connection: Connection, job: JobSettings) -> RequestChannel:
    return RequestChannel(
        connection,
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        request_timeout_ms=job.request_timeout_ms,
        client_id=wanted.member.client_id,
    )


def _member(
    wanted: Wanted, channel: RequestChannel, cluster: Cluster, topics: Topics
) -> GroupMember:
    return GroupMember(
        channel,
        wanted.group_id,
        # The subscription follows once the topics are known.
        [],
        PartitionCounts(cluster),
        topic_ids=topics.ids,
        options=wanted.member,
    )


def _group_source(
    wanted: Wanted,
    consumer: KafkaConsumer,
    channel: RequestChannel,
    topics: Topics,
    member: GroupMember,
) -> GroupSource:
    def fetch(partitions: Collection[TopicPartition]) -> dict[TopicPartition, OffsetAndMetadata]:
        request = offset_messages.fetch_offsets(wanted.group_id, partitions)
        return offset_messages.fetched_offsets(channel.send(request).result())

    commits = Commits(member.commit_async, wanted.commit_interval_s)
    return GroupSource(member, topics, consumer, fetch_offsets=fetch, commits=commits)
