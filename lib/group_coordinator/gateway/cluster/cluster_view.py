"""Cache of the cluster's brokers, topics and authorizers, as of the last request to a broker.

The rate of look-ups of unknown topics is limited.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from itertools import count
from time import monotonic
from typing import Any, NamedTuple

from group_coordinator.clients.cluster.topics import LONGEST_TOPIC_NAME, racks_of
from group_coordinator.codecs import wire
from group_coordinator.codecs.fields import ZERO_UUID
from group_coordinator.core.model.requests import Topic
from group_coordinator.gateway.cluster.addresses import Address
from group_coordinator.gateway.cluster.broker_access import PLAIN_ACCESS, BrokerAccess
from group_coordinator.gateway.cluster.broker_links import FAILURES, BrokerLink, BrokerLinks

_MOST_TOPICS = 1_000
"""Topics of one request. Further topics stay unknown until the next request for all topics."""


class TopicKey(NamedTuple):
    field: str
    """Field of a MetadataRequest: name or topicId."""
    value: str


class LookUps:
    """Look-ups of unknown topics: a single request at a time and in each interval, a limit of their load."""

    def __init__(
        self,
        look: Callable[[Sequence[TopicKey]], Awaitable[Collection[TopicKey]]],
        interval_s: float,
    ) -> None:
        """Take the function that asks the brokers, and returns the topics that do not exist."""
        self._look = look
        self._interval_s = interval_s
        self._wanted: dict[TopicKey, None] = {}
        self._coming: asyncio.Task[None] | None = None
        self._one_by_one = asyncio.Lock()
        self._next_s = 0.0
        self._missing_until_s: dict[TopicKey, float] = {}
        """Topics that did not exist in the last interval; the oldest entry is the first."""

    async def take(self, wanted: Iterable[TopicKey]) -> None:
        """Return after the brokers answered, at once if all topics were missing in this interval."""
        now_s = monotonic()
        for lapsed in [each for each, until_s in self._missing_until_s.items() if until_s <= now_s]:
            del self._missing_until_s[lapsed]
        unknown = [each for each in wanted if each not in self._missing_until_s]
        if not unknown:
            return
        self._wanted |= dict.fromkeys(unknown[: max(0, _MOST_TOPICS - len(self._wanted))])
        if self._coming is None:
            self._coming = asyncio.create_task(self._ask())
        look = self._coming
        # A caller that is cancelled must not cancel the request that the other callers wait for.
        await asyncio.wait([look])
        look.result()  # raises an internal error

    async def _ask(self) -> None:
        async with self._one_by_one:
            await asyncio.sleep(max(0.0, self._next_s - monotonic()))
            wanted = [*self._wanted]
            self._wanted.clear()
            self._coming = None
            try:
                # The requests that arrive from here on wait for the next look-up.
                missing = await self._look(wanted)
            finally:
                self._next_s = monotonic() + self._interval_s
            self._missing_until_s |= dict.fromkeys(missing, self._next_s)


LOOK_INTERVAL_S = 30.0
"""Where the gateway lacks the right, brokers log a denial for each request."""
_TIMEOUT_S = 5.0
_SECURITY_DISABLED = 54
"""Error code of a broker without an authorizer."""
_ANY_ACL = {
    "resourceTypeFilter": 4,  # the cluster
    # No ACL matches, so the response is short whatever the cluster has.
    "resourceNameFilter": "kafka-cluster",
    "patternTypeFilter": 3,
    "principalFilter": "User:nobody",
    "hostFilter": "nowhere",
    "operation": 1,
    "permissionType": 1,
}

_log = logging.getLogger(__name__)


class Authorizers:
    """Search of all brokers for an authorizer: a broker with other settings still denies requests."""

    def __init__(self, access: BrokerAccess) -> None:
        self._links = BrokerLinks(access)
        self._said: dict[int, bool] = {}
        """Results by node. A broker that does not answer keeps its last result."""
        self._next_look_s = monotonic()
        self.are_there = True
        """A broker has an authorizer. True until all brokers have answered."""

    async def look(self, brokers: Mapping[int, Address]) -> None:
        """Ask the brokers, if the interval is over or a broker is new."""
        if monotonic() < self._next_look_s and brokers.keys() <= self._said.keys():
            return
        # The first result is information, a later change needs attention.
        level = logging.WARNING if self._said else logging.INFO
        said = await asyncio.gather(*map(self._ask, brokers.values()))
        self._next_look_s = monotonic() + LOOK_INTERVAL_S
        self._said = {
            node: self._said.get(node, True) if response is None else response
            for node, response in zip(brokers, said, strict=True)
        }
        self._conclude([node for node, has_one in self._said.items() if has_one], level)

    def close(self) -> None:
        self._links.close()

    def _conclude(self, nodes: list[int], level: int) -> None:
        are_there = bool(nodes) or not self._said
        if are_there and not self.are_there:
            _log.log(level, "Rights of clients are checked: nodes with an authorizer: %s", nodes)
        elif self.are_there and not are_there:
            _log.log(level, "Rights of clients are not checked: no broker has an authorizer")
        self.are_there = are_there

    async def _ask(self, broker: Address) -> bool | None:
        """Return True for a broker with an authorizer; None: it did not answer."""
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                if not await self._links.knows(broker, "DescribeAcls"):
                    # A broker that does not know the API may have an authorizer.
                    return True
                response = await self._links.ask(broker, "DescribeAcls", _ANY_ACL)
        except FAILURES:  # TimeoutError is an OSError
            return None
        return bool(response["errorCode"] != _SECURITY_DISABLED)


LOOK_TIMEOUT_S = 5.0

_IDS_SINCE = 12
"""First version of Metadata with topic ids as keys of a request."""


class TopicSeen(NamedTuple):
    """Topic with the node that leads each partition, -1 for none."""

    topic_id: str
    leaders: tuple[int, ...]
    racks: tuple[tuple[str, ...], ...] | None
    """Racks of each partition's replicas; None: no broker has a rack."""


class ClusterView:
    """Cache that is refreshed in the background and on request. Without a response it stays as it was."""

    def __init__(
        self,
        bootstrap: Sequence[Address],
        interval_ms: int,
        access: BrokerAccess = PLAIN_ACCESS,
        lookup_interval_ms: int = 1000,
    ) -> None:
        self._bootstrap = tuple(bootstrap)
        self.access = access
        self._interval_s = interval_ms / 1000
        self._turns = count()
        self._link: BrokerLink | None = None
        self._look: asyncio.Task[None] | None = None
        self.trouble: str | None = None
        """Error of the last refresh; None: it succeeded."""
        self._authorizers = Authorizers(access)
        self._look_ups = LookUps(self._look_for, lookup_interval_ms / 1000)
        self._one_by_one = asyncio.Lock()
        self._seen_at_s: float | None = None
        self._names: dict[str, str] = {}
        self.brokers: dict[int, Address] = {}
        self._last_known: dict[int, Address] = {}
        self.topics: dict[str, TopicSeen] = {}

    @property
    def has_authorizer(self) -> bool:
        return self._authorizers.are_there

    def learn_broker(self, node_id: int, address: Address) -> None:
        self._last_known[node_id] = address

    def addresses_of(self, node_id: int | None) -> list[Address]:
        """Addresses of a node; None is the bootstrap port: all brokers, beginning with another broker each time."""
        if node_id is not None:
            return [self._last_known[node_id]] if node_id in self._last_known else []
        # Clients of the bootstrap port are spread over the brokers.
        there = [*self.brokers.values()]
        first = next(self._turns) % max(len(there), 1)
        return list(dict.fromkeys((*there[first:], *there[:first], *self._bootstrap)))

    def name_of(self, topic_id: str) -> str | None:
        """Name of a topic; None: no topic has this id."""
        return self._names.get(topic_id)

    def id_of(self, name: str) -> str | None:
        """Id of a topic; None: no topic has this name."""
        return self.topics[name].topic_id if name in self.topics else None

    def knows(self, name: str) -> bool:
        return name in self.topics

    def partition_count(self, name: str) -> int:
        """Number of partitions; 0: no topic has this name."""
        return len(self.topics[name].leaders) if name in self.topics else 0

    def topic(self, name: str) -> Topic | None:
        """Topic metadata for groups; None: no topic has this name."""
        seen = self.topics.get(name)
        if seen is None or seen.topic_id == ZERO_UUID:
            return None
        return Topic(name, seen.topic_id, len(seen.leaders), seen.racks)

    def leader_of(self, topic: str, partition: int) -> Address | None:
        """Address of a partition's leader; None: the partition has no leader or does not exist."""
        if partition >= self.partition_count(topic):
            return None
        return self.brokers.get(self.topics[topic].leaders[partition])

    def age_s(self) -> float | None:
        """Seconds since the last response of a broker; None: there was none yet."""
        return None if self._seen_at_s is None else monotonic() - self._seen_at_s

    async def keep_fresh(self) -> None:
        while True:
            await asyncio.sleep(self._interval_s)
            await self.look_again()

    async def look_again(self) -> None:
        """Refresh now. Callers during a refresh share the next refresh."""
        running = self._look
        # The running refresh may have read the brokers before the caller's change.
        if running is not None:
            await asyncio.wait([running])
        look = self._look
        if look is running or look is None:
            self._look = look = asyncio.create_task(self._try_to_look())
        await asyncio.wait([look])
        look.result()  # raises an internal error

    async def look_for(self, names: Collection[str] = (), topic_ids: Collection[str] = ()) -> None:
        """Look up these topics, together with all other pending look-ups. Without a response the cache stays as it was."""
        by_name = (TopicKey("name", name) for name in names if len(name) <= LONGEST_TOPIC_NAME)
        await self._look_ups.take((*by_name, *(TopicKey("topicId", each) for each in topic_ids)))

    async def _try_to_look(self) -> None:
        async with self._one_by_one:
            found = await self._found(None)
            if found is None:
                return
            self.topics, self._names = {}, {}
            self._add(found)
            self._seen_at_s = monotonic()
        await self._authorizers.look(self.brokers)

    async def _look_for(self, wanted: Sequence[TopicKey]) -> Collection[TopicKey]:
        for field in ("name", "topicId"):
            values = [each.value for each in wanted if each.field == field]
            topics = [{"name": None, field: value} for value in values]
            async with self._one_by_one:
                found = await self._found(topics) if topics else None
                if found is not None:
                    self._add(found, gone=values if field == "name" else ())
        known: dict[str, Collection[str]] = {"name": self.topics, "topicId": self._names}
        return [each for each in wanted if each.value not in known[each.field]]

    async def _found(self, topics: Sequence[dict[str, Any]] | None) -> _Picture | None:
        """Ask for these topics, None: all; None without a response."""
        try:
            async with asyncio.timeout(LOOK_TIMEOUT_S):
                link = await self._open_link()
                is_by_id = any("topicId" in topic for topic in topics or ())
                if is_by_id and link.version_of("Metadata") < _IDS_SINCE:
                    # Older brokers do not accept ids: all topics are read instead.
                    topics = None
                body = {"topics": topics, "allowAutoTopicCreation": False}
                found = await link.ask_for_much("Metadata", body, _picture)
        except FAILURES as error:
            self._hang_up()
            trouble = _reason(error)
            # Only the first of several failures is logged.
            if self.trouble is None:
                _log.warning("The brokers and topics of the cluster cannot be read: %s", trouble)
            self.trouble = trouble
            return None
        self.trouble = None
        return found

    async def _open_link(self) -> BrokerLink:
        if self._link is not None and self._link.is_over:
            self._hang_up()
        if self._link is None:
            self._link = await self._open()
        return self._link

    async def _open(self) -> BrokerLink:
        failures = []
        for address in self.addresses_of(None):
            try:
                return await BrokerLink.open(address, self.access)
            except (OSError, EOFError) as error:
                failures.append(f"{address}: {_reason(error)}")
        raise ConnectionError("; ".join(failures))

    def _add(self, found: _Picture, gone: Collection[str] = ()) -> None:
        self.brokers = found.brokers
        self._last_known |= self.brokers
        # Both the topics in the response and the missing topics lose their former entries.
        for name in (*gone, *found.topics):
            before = self.topics.pop(name, None)
            if before is not None:
                self._names.pop(before.topic_id, None)
        self.topics |= found.topics
        self._names |= found.names

    def close(self) -> None:
        self._authorizers.close()
        self._hang_up()

    def _hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
        self._link = None


def _reason(error: Exception) -> str:
    # An end of the connection has no text that helps, and a plain listener ends TLS, as one with a login ends requests.
    if isinstance(error, EOFError | ConnectionResetError):
        return "the broker closed the connection: if it always does, correct security.protocol"
    if isinstance(error, TimeoutError):
        return f"no response within {LOOK_TIMEOUT_S:.0f} s"
    return str(error) or repr(error)


class _Picture(NamedTuple):
    brokers: dict[int, Address]
    topics: dict[str, TopicSeen]
    names: dict[str, str]


def _picture(version: int, frame: bytes) -> _Picture:
    first, found = wire.response_elements("Metadata", version, "topics", frame)
    brokers = {b["nodeId"]: Address(b["host"], b["port"]) for b in first["brokers"]}
    racks = {b["nodeId"]: b["rack"] for b in first["brokers"] if b.get("rack")}
    # A topic without leaders has an error code, and exists all the same.
    topics = {t["name"]: _seen(t, racks) for t in found if t["partitions"]}
    names = {seen.topic_id: name for name, seen in topics.items() if seen.topic_id != ZERO_UUID}
    return _Picture(brokers, topics, names)


def _seen(topic: dict[str, Any], racks: Mapping[int, str]) -> TopicSeen:
    partitions = sorted(topic["partitions"], key=lambda one: one["partitionIndex"])
    leaders = tuple(one["leaderId"] for one in partitions)
    in_racks = racks_of((one["replicaNodes"] for one in partitions), racks)
    return TopicSeen(topic.get("topicId", ZERO_UUID), leaders, in_racks)
