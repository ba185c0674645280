"""Positions of all partitions: samples of the start and end offsets of a cluster's topics, and of the offsets of share groups."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

from kafka import IsolationLevel, KafkaAdminClient, OffsetSpec, TopicPartition
from kafka.errors import BrokerResponseError, KafkaError, RequestTimedOutError, for_code

from group_coordinator.clients.cluster.connection import LOGIN_ERRORS, Connection
from group_coordinator.clients.cluster.group_poll import (
    NO_GROUP,
    PolledGroup,
    brokers_with_share_groups,
    error_of,
    polled_share_offsets,
)
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.cluster.topics import topic_id
from group_coordinator.clients.errors import ChannelError
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.tables.position import Position, ShareOffset

_TIMEOUT_MS = 5_000
"""Timeout of one broker; the other brokers respond long before."""
_MOVED_MS = 1_000
"""Timeout for the new leader of a partition that moves."""
_PATIENCE_S = 5.0
"""Time to separate partitions with errors from the others, which are asked again without them."""


class Skipped(NamedTuple):
    """Partition, topic or share group that is missing in a sample, and the reason."""

    what: str
    why: str


class Sample(NamedTuple):
    """Positions at the same time, sorted by topic and partition, and the missing partitions."""

    positions: list[Position]
    skipped: list[Skipped]
    sampled_at_ms: int
    topic_ids: Mapping[str, str] = MappingProxyType({})
    """Topic name by topic id, for all described topics."""
    share_offsets: Sequence[ShareOffset] = ()


class _Question(NamedTuple):
    """Kind of offset that a leader is asked for."""

    spec: OffsetSpec
    isolation_level: IsolationLevel


# The order matters: a log's start and its stable end only grow, so a position is consistent.
_START = _Question(OffsetSpec.EARLIEST, IsolationLevel.READ_UNCOMMITTED)
_STABLE = _Question(OffsetSpec.LATEST, IsolationLevel.READ_COMMITTED)
_END = _Question(OffsetSpec.LATEST, IsolationLevel.READ_UNCOMMITTED)


class PositionSampler(LastingClient[KafkaAdminClient]):
    """Asks the leaders for samples over the same connections, and connects again after a failure.

    Without `topics` a sample has all that the user may see, of Kafka's internal topics only those in `internal`. `clock` never
    goes back.
    """

    def __init__(
        self,
        connection: Connection,
        topics: Collection[str] | None,
        now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000,
        clock: Callable[[], float] = time.monotonic,
        *,
        internal: Collection[str] = (),
    ) -> None:
        patience = {"request_timeout_ms": _TIMEOUT_MS}
        patient = replace(connection, options={**patience, **connection.options})
        super().__init__(patient, KafkaAdminClient)
        self._topics = None if topics is None else sorted(set(topics))
        self._internal = frozenset(internal)
        self._now_ms = now_ms
        self._clock = clock

    def sample(self) -> Sample:
        """Ask every leader three times, whatever the number of its partitions, and every broker for its share groups.

        Partitions and share groups without a result are skipped.

        ChannelError: the cluster does not answer, or rejects the login.
        """
        described, brokers = self._described()
        by_leader, skipped = leaders(
            described, every_topic=self._topics is None, internal=self._internal
        )
        asked = list(by_leader.values())
        starts = self._ask_all(asked, _START, skipped)
        stable = self._ask_all(_those_in(asked, starts), _STABLE, skipped)
        before_ms = self._now_ms()
        ends = self._ask_all(_those_in(asked, stable), _END, skipped)
        # A broker reads its logs between the request and the response.
        sampled_at_ms = (before_ms + self._now_ms()) // 2
        found = (
            Position(key.topic, key.partition, starts[key], stable[key], end)
            for key, end in sorted(ends.items())
        )
        positions = list(_of_one_log(found, skipped))
        shares = [each for broker in brokers for each in self._share_offsets(broker, skipped)]
        names = topic_names(described)
        return Sample(positions, sorted(skipped), sampled_at_ms, names, shares)

    def _described(self) -> tuple[list[dict[str, Any]], list[int]]:
        with self.reported_failures():
            topics = list(self.opened().describe_topics(self._topics))
            return topics, brokers_with_share_groups(self.opened())

    def _share_offsets(self, broker_id: int, skipped: list[Skipped]) -> Iterator[ShareOffset]:
        try:
            groups = list(polled_share_offsets(self.opened(), broker_id))
        except (KafkaError, ChannelError) as failure:
            # Lag of other groups does not depend on it.
            skipped.append(Skipped(f"share groups of broker {broker_id}", _reason(failure)))
            return
        for group in groups:
            # A group may end between the list and its description.
            if group.error and group.error != NO_GROUP:
                skipped.append(Skipped(f"share group {group.group_id}", group.error))
            for offset, error in _offsets_of(group):
                if error:
                    what = f"share group {group.group_id}, {offset.topic}-{offset.partition}"
                    skipped.append(Skipped(what, error))
                elif self._topics is None or offset.topic in self._topics:
                    yield offset

    def _ask_all(
        self, asked: Iterable[Sequence[TopicPartition]], question: _Question, skipped: list[Skipped]
    ) -> dict[TopicPartition, int]:
        """Results of all leaders; partitions without a result are added to `skipped`."""
        answers: dict[TopicPartition, int] = {}
        for partitions in asked:
            until_s = self._clock() + _PATIENCE_S
            answers |= self._ask(partitions, question, skipped, until_s)
        return answers

    def _ask(
        self,
        partitions: Sequence[TopicPartition],
        question: _Question,
        skipped: list[Skipped],
        until_s: float,
    ) -> dict[TopicPartition, int]:
        specs = dict.fromkeys(partitions, question.spec)
        try:
            found = self.opened().list_partition_offsets(specs, question.isolation_level, _MOVED_MS)
        except KafkaError as error:
            # kafka-python raises the first error of any partition, and drops the other results. Halves find the partition.
            if len(partitions) > 1 and _is_of_a_partition(error) and self._clock() < until_s:
                middle = len(partitions) // 2
                halves = (partitions[:middle], partitions[middle:])
                first, second = (self._ask(each, question, skipped, until_s) for each in halves)
                return first | second
            skipped += [Skipped(_name(partition), _reason(error)) for partition in partitions]
            return {}
        return {partition: response.offset for partition, response in found.items()}


def leaders(
    described: Iterable[Mapping[str, Any]], *, every_topic: bool, internal: Collection[str] = ()
) -> tuple[dict[int, list[TopicPartition]], list[Skipped]]:
    """Partitions of kafka-python's metadata by leader, and partitions without a leader.

    `every_topic`: the request was for all topics, so deleted topics are left out, and internal topics but those in `internal`.
    """
    by_leader: dict[int, list[TopicPartition]] = {}
    skipped = []
    for topic in described:
        is_unwanted = topic["is_internal"] and topic["name"] not in internal
        # A topic that was deleted during the request has no partitions.
        if every_topic and (is_unwanted or not topic["partitions"]):
            continue
        if not topic["partitions"]:
            skipped.append(Skipped(topic["name"], _reason(for_code(topic["error_code"])())))
        for partition in topic["partitions"]:
            known = TopicPartition(topic["name"], partition["partition_index"])
            if partition["leader_id"] < 0:
                skipped.append(Skipped(_name(known), "no leader"))
            else:
                by_leader.setdefault(partition["leader_id"], []).append(known)
    return by_leader, skipped


def topic_names(described: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Topic names in kafka-python's metadata by id; brokers before Kafka 2.8 return no ids, and deleted topics have none."""
    known = [topic for topic in described if topic["partitions"]]
    return {topic_id(topic): topic["name"] for topic in known if topic_id(topic) != ZERO_UUID}


def _those_in(
    asked: Iterable[Sequence[TopicPartition]], answered: Collection[TopicPartition]
) -> list[list[TopicPartition]]:
    # A partition without a result is not asked again, so that each broker's timeout counts once.
    left = ([each for each in partitions if each in answered] for partitions in asked)
    return [partitions for partitions in left if partitions]


def _is_of_a_partition(error: KafkaError) -> bool:
    of_the_request = (RequestTimedOutError, *LOGIN_ERRORS)
    return isinstance(error, BrokerResponseError) and not isinstance(error, of_the_request)


def _of_one_log(found: Iterable[Position], skipped: list[Skipped]) -> Iterator[Position]:
    # The three offsets were read one after another: meanwhile a topic may be deleted and created, or an unclean leader cut its log.
    for position in found:
        if position.log_start_offset <= position.last_stable_offset <= position.log_end_offset:
            yield position
        else:
            skipped.append(Skipped(_name(position), "its log became shorter meanwhile"))


def _name(partition: TopicPartition | Position) -> str:
    return f"{partition.topic}-{partition.partition}"


def _offsets_of(group: PolledGroup) -> Iterator[tuple[ShareOffset, str]]:
    """Yield the offsets of a share group, each with the name of its error or an empty text."""
    for topic in group.topics:
        for partition in topic["partitions"]:
            # Versions before 1 have no lag.
            numbers = (partition["startOffset"], partition["leaderEpoch"], partition.get("lag", -1))
            known = (None if number < 0 else number for number in numbers)
            index = partition["partitionIndex"]
            yield (
                ShareOffset(group.group_id, topic["topicName"], index, *known),
                error_of(partition),
            )


def _reason(error: KafkaError | ChannelError) -> str:
    return error.message if isinstance(error, BrokerResponseError) else str(error)
