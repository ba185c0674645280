"""Members and groups of the shop, over the job's channel: a single thread drives them, a step at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from itertools import cycle
from typing import NamedTuple

from kafka import TopicPartition

from group_coordinator.clients import offset_messages
from group_coordinator.clients.channel import Body, Channel
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.member.member import GroupMember
from group_coordinator.clients.member.membership import MemberOptions, MemberState
from group_coordinator.clients.offset_messages import MemberIdentity
from group_coordinator.demo.coordinator.applications import ShopGroup

_COMMIT_INTERVAL_S = 5.0


class ShopTopics(NamedTuple):
    partition_counts: Mapping[str, int]
    ids: Mapping[str, str]
    end_of: Callable[[TopicPartition], int]
    """Returns the offset after the last record of a partition."""

    def partitions_of(self, group: ShopGroup) -> list[TopicPartition]:
        return [
            TopicPartition(topic, number)
            for topic in group.topics
            for number in range(self.partition_counts[topic])
        ]

    def advanced(
        self, group: ShopGroup, positions: Mapping[TopicPartition, int]
    ) -> dict[TopicPartition, int]:
        """Return the positions after processing all records, or as many of each partition as the group can."""
        return {
            partition: min(self.end_of(partition), position + group.records_a_commit)
            for partition, position in positions.items()
        }


class ShopMember:
    """A member, which starts at its group's committed offsets. The clock has the same seconds that `tick` gets.

    It reads no records, which would take more of two cores than the coordinator: it commits the offsets that the shop has written.
    """

    def __init__(
        self, group: ShopGroup, channel: Channel, topics: ShopTopics, clock: Callable[[], float]
    ) -> None:
        self._group = group
        self._channel = channel
        self._topics = topics
        self._member = GroupMember(
            channel,
            group.group_id,
            group.topics,
            topics.partition_counts,
            topic_ids=topics.ids,
            # A response takes about a second here, so a session of some ten seconds is short.
            options=MemberOptions(
                client_id=group.group_id,
                group_protocol=group.group_protocol,
                session_timeout_ms=group.session_timeout_ms,
                heartbeat_interval_ms=group.session_timeout_ms // 4,
            ),
            clock=clock,
        )
        self._positions: dict[TopicPartition, int] = {}
        self._fetching: Future[Body] | None = None
        self._rebalances = 0
        self._commit_due_s = 0.0

    def tick(self, now_s: float) -> None:
        self._member.poll()
        if self._member.state is not MemberState.STABLE:
            return
        # A rebalance may bring other partitions, or the same with other committed offsets.
        if self._member.rebalances != self._rebalances:
            self._rebalances = self._member.rebalances
            self._fetch_positions()
        self._take_positions(now_s)
        if self._positions and now_s >= self._commit_due_s:
            # An error response is normal in a rebalance; the member's next heartbeat notices the rebalance.
            self._commit_due_s = now_s + _COMMIT_INTERVAL_S
            self._positions = self._topics.advanced(self._group, self._positions)
            self._member.commit_async(self._positions)

    def subscribe(self, topics: Collection[str]) -> None:
        self._member.subscribe(topics)

    def leave(self) -> None:
        self._member.leave_async()

    def _fetch_positions(self) -> None:
        self._positions = {}
        request = offset_messages.fetch_offsets(self._group.group_id, self._member.assignment)
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


class OffsetCommitter:
    """A group that only stores offsets: no member, no rebalance, no heartbeat."""

    def __init__(self, group: ShopGroup, channel: Channel, topics: ShopTopics) -> None:
        self._group = group
        self._channel = channel
        self._topics = topics
        self._positions = dict.fromkeys(topics.partitions_of(group), 0)
        self._commit_due_s = 0.0

    def tick(self, now_s: float) -> None:
        if now_s >= self._commit_due_s:
            self._commit_due_s = now_s + _COMMIT_INTERVAL_S
            self._positions = self._topics.advanced(self._group, self._positions)
            committer = MemberIdentity(self._group.group_id)
            request = offset_messages.commit_offsets(committer, self._positions)
            self._channel.send(request._replace(client_id=self._group.group_id))


class ShopGroups:
    """Members and committers, by group; `add` receives a sentence about a member that was finally rejected."""

    def __init__(
        self, channel: Channel, topics: ShopTopics, add: Callable[[str], None], prefix: str = ""
    ) -> None:
        self._channel = channel
        self._topics = topics
        self._add = add
        self._prefix = prefix
        self._members: defaultdict[str, list[ShopMember]] = defaultdict(list)
        self._committers: dict[str, OffsetCommitter] = {}
        self._group_ids: dict[str, None] = {}
        self._now_s = 0.0

    @property
    def group_ids(self) -> list[str]:
        return list(self._group_ids)

    def set_start(self, group: ShopGroup) -> None:
        """Commit offset 0 of every partition: an expiration would remove a group before its first members have joined."""
        positions = dict.fromkeys(self._topics.partitions_of(self._here(group)), 0)
        request = offset_messages.commit_offsets(MemberIdentity(group.group_id), positions)
        self._channel.send(request)

    def join(self, group: ShopGroup, count: int = 1) -> None:
        for _ in range(count):
            member = ShopMember(self._here(group), self._channel, self._topics, lambda: self._now_s)
            self._members[group.group_id].append(member)
        self._group_ids[group.group_id] = None

    def start_committing(self, group: ShopGroup) -> None:
        committer = OffsetCommitter(self._here(group), self._channel, self._topics)
        self._committers[group.group_id] = committer
        self._group_ids[group.group_id] = None

    def stop_committing(self, group: ShopGroup) -> None:
        del self._committers[group.group_id]

    def leave(self, group: ShopGroup) -> None:
        while self._members[group.group_id]:
            self.leave_newest(group)

    def leave_newest(self, group: ShopGroup) -> None:
        self._members[group.group_id].pop().leave()

    def leave_eldest(self, group: ShopGroup) -> None:
        self._members[group.group_id].pop(0).leave()

    def stop_heartbeats(self, group: ShopGroup) -> None:
        """Let the member that joined last end without a request."""
        self._members[group.group_id].pop()

    def subscribe(self, group: ShopGroup, topics: Collection[str]) -> None:
        for member in self._members[group.group_id]:
            member.subscribe(self._names(topics))

    def tick(self, now_s: float) -> None:
        self._now_s = now_s
        for group_id, members in self._members.items():
            for member in list(members):
                try:
                    member.tick(now_s)
                except ClientError as error:
                    members.remove(member)
                    self._add(f"A member of {group_id} gave up: {error}")
        for committer in self._committers.values():
            committer.tick(now_s)

    def _here(self, group: ShopGroup) -> ShopGroup:
        return group._replace(topics=self._names(group.topics))

    def _names(self, topics: Iterable[str]) -> tuple[str, ...]:
        return tuple(self._prefix + topic for topic in topics)


class Arrivals:
    """Joins of the members, spread over time, so that no batch has the joins of all."""

    def __init__(self, groups: ShopGroups, all_groups: Collection[ShopGroup]) -> None:
        with_members = [group for group in all_groups if group.member_count]
        others = [group for group in all_groups if not group.member_count]
        self._steps: list[Callable[[], None]] = [
            *(partial(groups.set_start, group) for group in with_members),
            *(
                partial(groups.join, group)
                for group in with_members
                for _ in range(group.member_count)
            ),
            *(partial(groups.start_committing, group) for group in others),
        ]
        self._arrived = 0

    def tick(self, share: float) -> None:
        arrived = max(self._arrived, round(len(self._steps) * min(1.0, share)))
        for step in self._steps[self._arrived : arrived]:
            step()
        self._arrived = arrived


class Shifts:
    """Changes of members: each time the last group gets its member back, and the next group loses a member."""

    def __init__(self, groups: ShopGroups, all_groups: Iterable[ShopGroup]) -> None:
        self._groups = groups
        # A group must keep a member, or it would be Empty.
        self._next = cycle([group for group in all_groups if group.member_count > 1])
        self._away: ShopGroup | None = None

    def change(self) -> None:
        if self._away is not None:
            self._groups.join(self._away)
        self._away = next(self._next, None)
        if self._away is not None:
            self._groups.leave_newest(self._away)
