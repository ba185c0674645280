"""The cluster as the gateway saw it last: brokers and topics."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from itertools import count
from time import monotonic
from typing import Any, NamedTuple

from group_coordinator.clients.cluster.cluster_topics import racks_of
from group_coordinator.codecs.uuids import ZERO_UUID
from group_coordinator.codecs.wire import WireError
from group_coordinator.core.model.topic import Topic
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.broker_link import BrokerLink

LOOK_TIMEOUT_S = 5.0
AUTHORIZER_LOOK_INTERVAL_S = 30.0
"""Brokers write a denial into their logs where we may not ask."""
_FAILURES = (OSError, EOFError, WireError, TimeoutError)

_SECURITY_DISABLED = 54
"""What a broker without an authorizer says of ACLs."""
_ANY_ACL = {
    "resourceTypeFilter": 4,  # the cluster, of which there is one
    "resourceNameFilter": "kafka-cluster",
    "patternTypeFilter": 3,
    "principalFilter": "User:nobody",
    "hostFilter": "nowhere",
    "operation": 1,
    "permissionType": 1,
}

_log = logging.getLogger(__name__)


class TopicSeen(NamedTuple):
    """A topic: the node that leads each of its partitions, -1 for none."""

    topic_id: str
    leaders: tuple[int, ...]
    racks: tuple[tuple[str, ...], ...] | None
    """Of each partition's replicas; None: they are in none."""


class ClusterView:
    """Looks in the background, and when it is asked to; without an answer all stays as it was."""

    def __init__(
        self,
        bootstrap: Sequence[Address],
        interval_ms: int,
        access: BrokerAccess = PLAIN_ACCESS,
    ) -> None:
        self._bootstrap = tuple(bootstrap)
        self.access = access
        self._interval_s = interval_ms / 1000
        self._turns = count()
        self._link: BrokerLink | None = None
        self._look: asyncio.Task[None] | None = None
        self.trouble: str | None = None
        """Why the last look failed; None: it did not."""
        self.has_authorizer = True
        """Whether brokers let some do what they do not let others do; until they say, they may."""
        self._next_authorizer_look_s = monotonic()
        self._seen_at_s: float | None = None
        self._names: dict[str, str] = {}
        self.brokers: dict[int, Address] = {}
        """Those that are there."""
        self._last_known: dict[int, Address] = {}
        self.topics: dict[str, TopicSeen] = {}

    def learn_broker(self, node_id: int, address: Address) -> None:
        """A broker's answer to a client says that another one is there."""
        self._last_known[node_id] = address

    def addresses_of(self, node_id: int | None) -> list[Address]:
        """Where a node is; for the bootstrap port all brokers that one may try, beginning with another each time."""
        if node_id is not None:
            return [self._last_known[node_id]] if node_id in self._last_known else []
        there = [*self.brokers.values()]
        first = next(self._turns) % max(len(there), 1)
        return list(dict.fromkeys((*there[first:], *there[:first], *self._bootstrap)))

    def name_of(self, topic_id: str) -> str | None:
        """None: there is no topic with this id."""
        return self._names.get(topic_id)

    def id_of(self, name: str) -> str | None:
        """None: there is no topic of this name."""
        return self.topics[name].topic_id if name in self.topics else None

    def knows(self, name: str) -> bool:
        """Whether there is a topic of this name."""
        return name in self.topics

    def partition_count(self, name: str) -> int:
        """0: there is no topic of this name."""
        return len(self.topics[name].leaders) if name in self.topics else 0

    def topic(self, name: str) -> Topic | None:
        """All that groups must know of it; None: there is no topic of this name."""
        seen = self.topics.get(name)
        if seen is None or seen.topic_id == ZERO_UUID:
            return None
        return Topic(name, seen.topic_id, len(seen.leaders), seen.racks)

    def leader_of(self, topic: str, partition: int) -> Address | None:
        """None: the partition has none, or there is no such partition."""
        if partition >= self.partition_count(topic):
            return None
        return self.brokers.get(self.topics[topic].leaders[partition])

    def age_s(self) -> float | None:
        """How long ago a broker answered; None: never yet."""
        return None if self._seen_at_s is None else monotonic() - self._seen_at_s

    async def keep_fresh(self) -> None:
        """Look again and again, until this is cancelled."""
        while True:
            await asyncio.sleep(self._interval_s)
            await self.look_again()

    async def look_again(self) -> None:
        """Ask the brokers. Who asks while another's question is on its way waits for the next one, together."""
        running = self._look
        if running is not None:
            await asyncio.wait([running])
        look = self._look
        if look is running or look is None:
            self._look = look = asyncio.create_task(self._try_to_look())
        await asyncio.wait([look])
        look.result()  # a defect is nobody's answer

    async def _try_to_look(self) -> None:
        try:
            async with asyncio.timeout(LOOK_TIMEOUT_S):
                link = await self._open_link()
                answer = await link.ask(
                    "Metadata", {"topics": None, "allowAutoTopicCreation": False}
                )
                await self._ask_for_authorizer(link)
        except _FAILURES as error:
            self.close()
            if self.trouble is None:
                _log.warning(
                    "The cluster does not say what is in it: %s", str(error) or repr(error)
                )
            self.trouble = str(error) or repr(error)
        else:
            self.trouble = None
            self._take(answer)

    async def _ask_for_authorizer(self, link: BrokerLink) -> None:
        now_s = monotonic()
        if now_s >= self._next_authorizer_look_s:
            self.has_authorizer = await _has_authorizer(link)
            self._next_authorizer_look_s = now_s + AUTHORIZER_LOOK_INTERVAL_S

    async def _open_link(self) -> BrokerLink:
        if self._link is not None and self._link.is_over:
            self.close()
        if self._link is None:
            self._link = await self._open()
        return self._link

    async def _open(self) -> BrokerLink:
        failures = []
        for address in self.addresses_of(None):
            try:
                return await BrokerLink.open(address, self.access)
            except (OSError, EOFError) as error:
                failures.append(f"{address}: {error}")
        raise ConnectionError("; ".join(failures))

    def _take(self, answer: dict[str, Any]) -> None:
        self.brokers = {b["nodeId"]: Address(b["host"], b["port"]) for b in answer["brokers"]}
        self._last_known |= self.brokers
        # A topic without leaders has an error and is there all the same.
        there = [topic for topic in answer["topics"] if topic["partitions"]]
        racks = {b["nodeId"]: b["rack"] for b in answer["brokers"] if b.get("rack")}
        self.topics = {topic["name"]: _seen(topic, racks) for topic in there}
        self._names = {
            seen.topic_id: name for name, seen in self.topics.items() if seen.topic_id != ZERO_UUID
        }
        self._seen_at_s = monotonic()

    def close(self) -> None:
        """Hang up."""
        if self._link is not None:
            self._link.close()
        self._link = None


def _seen(topic: dict[str, Any], racks: Mapping[int, str]) -> TopicSeen:
    partitions = sorted(topic["partitions"], key=lambda one: one["partitionIndex"])
    leaders = tuple(one["leaderId"] for one in partitions)
    in_racks = racks_of((one["replicaNodes"] for one in partitions), racks)
    return TopicSeen(topic.get("topicId", ZERO_UUID), leaders, in_racks)


async def _has_authorizer(link: BrokerLink) -> bool:
    if not link.knows("DescribeAcls"):
        return True
    answer = await link.ask("DescribeAcls", _ANY_ACL)
    return bool(answer["errorCode"] != _SECURITY_DISABLED)
