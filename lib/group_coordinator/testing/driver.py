"""GroupDriver: one group, the requests of the protocols, and a clock that the caller moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, cast

from group_coordinator.codecs.events import Event
from group_coordinator.core import coordinator
from group_coordinator.core.acls import Authorizer
from group_coordinator.core.coordinator import Step
from group_coordinator.core.deadlines import Outage, Outages
from group_coordinator.core.embedded_protocol import encode_assignment, encode_subscription
from group_coordinator.core.model import requests, responses
from group_coordinator.core.model.classic_group import CONSUMER_PROTOCOL_TYPE
from group_coordinator.core.model.classic_member import Protocol
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import Record
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.replay import begin_sessions, replay
from group_coordinator.runtime.event_handling import event_id_at, rights_of, take
from group_coordinator.settings import load
from group_coordinator.testing.outcome import ConsumerVerbs, NotAnsweredError, Outcome, R_co

_PROTOCOL = "range"


class GroupDriver:
    """One group with a method for each request. Settings are Kafka's, with underscores; times are in milliseconds.

    `group` is the group in its present state, `log` has all records since the start, `responses` all responses by correlation id.

    >>> driver = GroupDriver("billing", offsets_retention_ms=60_000)
    >>> committed = driver.commit({"orders": {0: 42}})
    >>> driver.next_deadline_ms
    600000
    >>> [record.reason.value for record in driver.sleep(600_000).records]
    ['offset-expired', 'group-expired']
    """

    def __init__(self, group_id: str = "g", *, start_ms: int = 0, **settings: Any) -> None:
        self.config: CoordinatorConfig = replace(_default_config(), **settings)
        self.group = Group(group_id)
        self.now_ms = start_ms
        self.client_id = "client"
        self.client_host = "/127.0.0.1"
        self.principal: str | None = None
        self.acls: Authorizer | None = None
        """The operations that principals may do; None: all. With ACLs, `learn_topics` needs CLUSTER_ACTION."""
        self.log: list[Record] = []
        self.responses: dict[str, responses.Response] = {}
        self.consumers = ConsumerVerbs(self, group_id)
        """The requests of the consumer protocol (KIP-848). The methods below are the classic protocol's."""
        self._requests = 0
        self._outages: Outages = ()

    # Time.

    def sleep(self, duration_ms: int) -> Outcome[responses.Response]:
        """Let time pass. Deadlines fire in order, each at its own time."""
        return self.at(self.now_ms + duration_ms)

    def at(self, time_ms: int) -> Outcome[responses.Response]:
        """Let time pass until `time_ms`. Raises ValueError if that is earlier than now."""
        if time_ms < self.now_ms:
            raise ValueError(f"time never goes back: {time_ms} < {self.now_ms}")
        self.now_ms = time_ms
        due = coordinator.advance(self.group, time_ms, self.config, self._outages)
        return self._outcome("", due)

    def outage(self, duration_ms: int) -> Outcome[responses.Response]:
        """Let time pass without events or responses. Members have their whole timeout again at its end."""
        self._outages += (Outage(self.now_ms, self.now_ms + duration_ms, was_heard=False),)
        return self.sleep(duration_ms)

    def slow_batch(self, duration_ms: int) -> Outcome[responses.Response]:
        """Let time pass without responses. The last requests get their responses at its end."""
        self._outages += (Outage(self.now_ms, self.now_ms + duration_ms, was_heard=True),)
        return self.sleep(duration_ms)

    @property
    def next_deadline_ms(self) -> int | None:
        """The time at which the group will act by itself; None: never."""
        return coordinator.next_deadline(self.group, self.config, self._outages)

    # Membership.

    def join(
        self,
        member_id: str = "",
        *,
        topics: Iterable[str] = ("orders",),
        instance_id: str | None = None,
        session_timeout_ms: int = 10_000,
        rebalance_timeout_ms: int = 60_000,
        version: int = 9,
    ) -> Outcome[responses.JoinGroupResponse]:
        """Join as a consumer of these topics, with the protocol "range"."""
        subscribed = tuple(topics)
        protocol = Protocol(_PROTOCOL, encode_subscription(subscribed))
        request = requests.JoinGroup(
            group_id=self.group.group_id,
            session_timeout_ms=session_timeout_ms,
            rebalance_timeout_ms=rebalance_timeout_ms,
            member_id=member_id,
            group_instance_id=instance_id,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocols=(protocol,),
        )
        return self.send(request, version)

    def sync(
        self,
        member_id: str,
        generation: int,
        assignments: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
        version: int = 5,
    ) -> Outcome[responses.SyncGroupResponse]:
        """Request the assignment. The leader gives all assignments: {member id: {topic: partitions}}."""
        request = requests.SyncGroup(
            group_id=self.group.group_id,
            generation=generation,
            member_id=member_id,
            group_instance_id=None,
            protocol_type=CONSUMER_PROTOCOL_TYPE,
            protocol=_PROTOCOL,
            assignments=tuple(
                (member, encode_assignment(given)) for member, given in (assignments or {}).items()
            ),
        )
        return self.send(request, version)

    def heartbeat(
        self, member_id: str, generation: int, version: int = 4
    ) -> Outcome[responses.HeartbeatResponse]:
        """Send a Heartbeat of the member."""
        request = requests.Heartbeat(self.group.group_id, generation, member_id, None)
        return self.send(request, version)

    def leave(
        self, *member_ids: str, instance_id: str | None = None, version: int = 5
    ) -> Outcome[responses.LeaveGroupResponse]:
        """Leave. An instance id alone is an administrator's removal of a static member."""
        leaving = [requests.LeavingMember(member_id, None) for member_id in member_ids]
        if instance_id is not None:
            leaving.append(requests.LeavingMember("", instance_id))
        request = requests.LeaveGroup(self.group.group_id, tuple(leaving))
        return self.send(request, version)

    def form(self, size: int = 1, topics: Iterable[str] = ("orders",)) -> list[str]:
        """Bring a new group of dynamic consumers to Stable, without assignments. The leader's id is first."""
        subscribed = tuple(topics)
        ids = [self.join(topics=subscribed).response.member_id for _ in range(size)]
        # The first JoinGroup only returned the member id (KIP-394): members join again with it.
        joins = [self.join(member_id, topics=subscribed) for member_id in ids]
        while any(join.correlation_id not in self.responses for join in joins):
            self.at(self.next_deadline_ms or self.now_ms)
        first = self.response_to(joins[0])
        ids.sort(key=lambda member_id: member_id != first.leader)
        # The leader is last: its SyncGroup completes the rebalance.
        for member_id in reversed(ids):
            self.sync(member_id, first.generation or 0)
        return ids

    # Offsets.

    def commit(
        self,
        offsets: Mapping[str, Mapping[int, int]],
        member_id: str = "",
        generation: int | None = None,
        *,
        retention_ms: int | None = None,
        metadata: str = "",
        version: int = 8,
    ) -> Outcome[responses.OffsetCommitResponse]:
        """Commit offsets, given as {topic: {partition: offset}}. Without a member the commit is an administrator's."""
        topics = tuple(
            requests.TopicCommit(
                topic,
                None,
                tuple(
                    requests.PartitionCommit(partition, offset, None, metadata, None)
                    for partition, offset in partitions.items()
                ),
            )
            for topic, partitions in offsets.items()
        )
        request = requests.OffsetCommit(
            group_id=self.group.group_id,
            generation=generation,
            member_id=member_id,
            group_instance_id=None,
            retention_time_ms=retention_ms,
            topics=topics,
        )
        return self.send(request, version)

    def fetch(
        self, partitions: Mapping[str, Sequence[int]] | None = None, version: int = 8
    ) -> Outcome[responses.OffsetFetchResponse]:
        """Fetch the committed offsets of these partitions, given as {topic: partitions}, or of all."""
        topics = None if partitions is None else _by_topic(partitions)
        request = requests.OffsetFetch(
            self.group.group_id, None, None, topics, require_stable=False
        )
        return self.send(request, version)

    def delete_offsets(
        self, partitions: Mapping[str, Sequence[int]]
    ) -> Outcome[responses.OffsetDeleteResponse]:
        """Delete committed offsets (KIP-496), given as {topic: partitions}."""
        request = requests.OffsetDelete(self.group.group_id, _by_topic(partitions))
        return self.send(request, 0)

    # The group.

    def delete(self, version: int = 2) -> Outcome[responses.DeleteGroupResponse]:
        """Delete the group and its offsets (KIP-229)."""
        request = requests.DeleteGroup(self.group.group_id)
        return self.send(request, version)

    def describe(self, version: int = 6) -> Outcome[responses.DescribeGroupResponse]:
        """Describe the group by DescribeGroups."""
        request = requests.DescribeGroup(self.group.group_id)
        return self.send(request, version)

    def alter_configs(
        self, settings: Mapping[str, str | None]
    ) -> Outcome[responses.AlterConfigsResponse]:
        """Set group configurations. `settings` has values by Kafka's names; None deletes a setting."""
        set_, delete = requests.ConfigOperation.SET, requests.ConfigOperation.DELETE
        changes = tuple(
            requests.ConfigChange(name, delete if value is None else set_, value)
            for name, value in settings.items()
        )
        request = requests.AlterConfigs(self.group.group_id, changes, validates_only=False)
        return self.send(request, 1)

    def learn_topics(
        self, *topics: Topic, deleted: Iterable[Topic] = ()
    ) -> Outcome[responses.Response]:
        """Send topic metadata: existing and deleted topics. Without topic metadata the group accepts every name."""
        gone = tuple((topic.name, topic.topic_id) for topic in deleted)
        return self.send(requests.TopicMetadata(self.group.group_id, topics, gone), 0)

    def send(self, request: requests.Request, version: int) -> Outcome[Any]:
        """Send any request. The methods above call it with the usual arguments."""
        self._requests += 1
        name = f"{type(request).__name__}-{self._requests}"
        event = Event(
            version=version,
            correlation_id=name,
            client_id=self.client_id,
            client_host=self.client_host,
            principal=self.principal,
            request=request,
        )
        event_id = event_id_at("driver", 0, self._requests)
        rights = None if self.acls is None else rights_of(event, self.acls)
        step = take(
            self.group, event, event_id, now_ms=self.now_ms, config=self.config, rights=rights
        )
        # The event may have set a deadline that is already due.
        due = coordinator.advance(self.group, self.now_ms, self.config, self._outages, rights)
        denials = () if rights is None else rights.denials
        return replace(self._outcome(name, [step, *due]), denials=denials)

    # Answers.

    def response_to(self, outcome: Outcome[R_co]) -> R_co:
        """Return the response to a request, also one that was pending at first. Raises NotAnsweredError while it is pending."""
        if outcome.correlation_id not in self.responses:
            raise NotAnsweredError(outcome.correlation_id)
        return cast("R_co", self.responses[outcome.correlation_id])

    def rebuilt(self) -> Group:
        """Rebuild the group from the log alone, as a coordinator would load it now."""
        group = Group(self.group.group_id)
        replay(group, self.log, self.now_ms)
        # The log has no sessions: consumers get a new session, as after a failover in Kafka.
        if group.consumer is not None:
            begin_sessions(group, self.now_ms, self.config)
        return group

    def _outcome(self, correlation_id: str, steps: Iterable[Step]) -> Outcome[Any]:
        records: list[Record] = []
        answers: dict[str, responses.Response] = {}
        for step in steps:
            records += step.records
            answers |= {
                reply.ticket.correlation_id: reply.response
                for reply in step.replies
                if reply.ticket.correlation_id is not None
            }
        self.log += records
        self.responses |= answers
        return Outcome(correlation_id, tuple(records), answers)


@cache
def _default_config() -> CoordinatorConfig:
    return load().coordinator


def _by_topic(partitions: Mapping[str, Sequence[int]]) -> tuple[requests.TopicPartitions, ...]:
    return tuple(
        requests.TopicPartitions(topic, None, tuple(numbers))
        for topic, numbers in partitions.items()
    )
