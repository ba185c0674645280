"""Parts of an application: members of groups, and committers without membership."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from typing import NamedTuple, Protocol

from kafka import TopicPartition

from group_coordinator.clients import offset_messages
from group_coordinator.clients.channel.channel import Body, Channel, Request
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.options import MemberOptions, MemberState
from group_coordinator.clients.member_identity import MemberIdentity
from group_coordinator.demo.cast import UNLIMITED, Application

COMMIT_INTERVAL_S = 5.0


class Records(Protocol):
    """Read positions of the topics."""

    def read_up_to(self, partition: TopicPartition) -> int:
        """Return the offset after the last record."""
        ...


class ShopTopics(NamedTuple):
    """Facts of the shop's topics that the members need, by name."""

    partition_counts: Mapping[str, int]
    ids: Mapping[str, str]


class Consumer:
    """A member: starts at its group's committed offsets, processes records, commits, sends heartbeats.

    Args:
        application: its application.
        channel: shared with all members.
        topics: of the whole shop.
        records: the records to process.
        clock: the same seconds that `tick` gets.
    """

    def __init__(
        self,
        application: Application,
        channel: Channel,
        topics: ShopTopics,
        records: Records,
        *,
        clock: Callable[[], float],
    ) -> None:
        self._application = application
        self._channel = channel
        self._records = records
        self._member = GroupMember(
            channel,
            application.group_id,
            application.topics,
            topics.partition_counts,
            topic_ids=topics.ids,
            options=_options(application),
            clock=clock,
        )
        self._positions: dict[TopicPartition, int] = {}
        self._fetching: Future[Body] | None = None
        self._assignment_number = 0
        self._commit_due_s = 0.0

    @property
    def is_stable(self) -> bool:
        """True if it has an assignment."""
        return self._member.state is MemberState.STABLE

    def tick(self, now_s: float) -> None:
        """Do the due work without waiting."""
        self._member.poll()
        if not self.is_stable:
            return
        # A rebalance may bring other partitions, or the same with other committed offsets.
        if self._member.rebalances != self._assignment_number:
            self._assignment_number = self._member.rebalances
            self._fetch_positions()
        self._take_positions(now_s)
        if self._positions and now_s >= self._commit_due_s:
            self._commit(now_s)

    def subscribe(self, topics: Collection[str]) -> None:
        """Change the topics, which makes the group rebalance."""
        self._member.subscribe(topics)

    def leave(self) -> None:
        self._member.leave_async()

    def _fetch_positions(self) -> None:
        # The partitions may be new to this member, so it starts at the group's committed offsets.
        self._positions = {}
        request = offset_messages.fetch_offsets(self._application.group_id, self._member.assignment)
        self._fetching = self._channel.send(request)

    def _take_positions(self, now_s: float) -> None:
        if self._fetching is None or not self._fetching.done():
            return
        reply, self._fetching = self._fetching, None
        try:
            committed = offset_messages.fetched_offsets(reply.result())
        except ClientError:
            self._fetch_positions()
            return
        self._positions = {
            partition: committed[partition].offset if partition in committed else 0
            for partition in self._member.assignment
        }
        self._commit_due_s = now_s

    def _commit(self, now_s: float) -> None:
        # An error response is normal in a rebalance; the member's next heartbeat notices the rebalance.
        self._commit_due_s = now_s + COMMIT_INTERVAL_S
        self._positions = advanced(
            self._positions, self._records, self._application.records_a_commit
        )
        self._member.commit_async(self._positions)


def _options(application: Application) -> MemberOptions:
    # A response takes about a second here, so a session of some ten seconds is short.
    session_timeout_ms = application.session_timeout_ms
    return MemberOptions(
        client_id=application.group_id,
        group_protocol=application.group_protocol,
        session_timeout_ms=session_timeout_ms,
        heartbeat_interval_ms=session_timeout_ms // 4,
    )


class SimpleCommitter:
    """A group that only stores offsets: no member, no rebalance, no heartbeat."""

    def __init__(
        self,
        application: Application,
        channel: Channel,
        partition_counts: Mapping[str, int],
        records: Records,
    ) -> None:
        self._application = application
        self._channel = channel
        self._records = records
        self._positions = dict.fromkeys(partitions_of(application, partition_counts), 0)
        self._commit_due_s = 0.0
        self._is_working = True

    def tick(self, now_s: float) -> None:
        """Commit if it is due."""
        if not self._is_working or now_s < self._commit_due_s:
            return
        self._commit_due_s = now_s + COMMIT_INTERVAL_S
        self._positions = advanced(self._positions, self._records)
        committer = MemberIdentity(self._application.group_id)
        request = offset_messages.commit_offsets(committer, self._positions)
        self._channel.send(request._replace(client_id=self._application.group_id))

    def stop(self) -> None:
        self._is_working = False


def start_positions(application: Application, partition_counts: Mapping[str, int]) -> Request:
    """Return an administrator's commit of the first offset of every partition.

    Without offsets, the sweep would remove a group before its first members have joined.
    """
    positions = dict.fromkeys(partitions_of(application, partition_counts), 0)
    return offset_messages.commit_offsets(MemberIdentity(application.group_id), positions)


def partitions_of(
    application: Application, partition_counts: Mapping[str, int]
) -> list[TopicPartition]:
    """Return all partitions that an application reads."""
    return [
        TopicPartition(topic, number)
        for topic in application.topics
        for number in range(partition_counts[topic])
    ]


def advanced(
    positions: Mapping[TopicPartition, int], records: Records, at_most: int = UNLIMITED
) -> dict[TopicPartition, int]:
    """Return the positions after processing all records, or as many of each partition as the application can."""
    return {
        partition: min(records.read_up_to(partition), position + at_most)
        for partition, position in positions.items()
    }
