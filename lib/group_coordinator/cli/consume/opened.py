"""Connections of a source, opened and closed together."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from concurrent.futures import wait
from contextlib import ExitStack, closing, contextmanager

from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition

from group_coordinator.cli.consume.formatter import PartitionCounts, Topics
from group_coordinator.cli.consume.sources import (
    CLOSE_TIMEOUT_S,
    Commits,
    GroupSource,
    PartitionSource,
    RecordSource,
)
from group_coordinator.cli.consume.wanted import Wanted
from group_coordinator.clients import offset_messages
from group_coordinator.clients.channel import RequestChannel
from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.settings import JobSettings


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
