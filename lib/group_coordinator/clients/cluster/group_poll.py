"""Poll of the groups that a broker coordinates, by Kafka's admin protocol alone: no offsets topic is read, and nothing is written.

1. ListGroups names the broker's groups.
2. DescribeGroups, ConsumerGroupDescribe, ShareGroupDescribe and StreamsGroupDescribe describe them.
3. OffsetFetch returns their offsets, of many groups in a request where the broker can (KIP-709). Of share groups
   DescribeShareGroupOffsets returns start offsets and lag, for samples: they are in another topic of Kafka.

kafka-python lacks some of these requests, so they pass through its connections, with its logins, and the project's own codec makes
their bytes. Needs the right DESCRIBE on the groups and on their topics: offsets of other topics are left out by the broker.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, NamedTuple

from kafka import KafkaAdminClient
from kafka.errors import IncompatibleBrokerVersion

from group_coordinator.clients.cluster.cluster import Cluster
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.topics import described_cluster
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.codecs import wire
from group_coordinator.core.model.errors import ErrorCode

Body = Mapping[str, Any]

CLASSIC, CONSUMER, SHARE, STREAMS = "classic", "consumer", "share", "streams"
_DESCRIBE = {
    CLASSIC: ("DescribeGroups", "groups"),
    CONSUMER: ("ConsumerGroupDescribe", "groupIds"),
    SHARE: ("ShareGroupDescribe", "groupIds"),
    STREAMS: ("StreamsGroupDescribe", "groupIds"),
}
"""API and field of the description of groups of each type."""
_SHARE_OFFSETS = "DescribeShareGroupOffsets"
_GROUPS_AT_ONCE = 100
"""Groups in a request: few enough that a response has some hundred kilobytes."""
_SEVERAL_FROM = 8
"""The first version of OffsetFetch for several groups."""
_NAMES_UNTIL = 9
"""The last version of OffsetFetch that names topics: the next has only their ids."""
NO_GROUP = "GROUP_ID_NOT_FOUND"
_NO_OFFSETS: Body = {"errorCode": 0, "topics": ()}


class _Request:
    """A request for a connection of kafka-python, in the form of that package's own classes; its response is the decoded body.

    `most_version` limits the version, which the connection chooses by the broker's versions.
    """

    _min_version = None

    def __init__(self, api: str, body: Body, most_version: int | None = None) -> None:
        versions = wire.valid_versions(api)
        self.name = api
        self.API_KEY = wire.api_key(api)
        self.API_VERSION: int | None = None
        self.min_version, self.max_version = versions[0], versions[-1]
        self._max_version = most_version
        self._body = body

    def with_header(self, correlation_id: int, client_id: str) -> None:
        self.header, self.correlation_id = self, correlation_id
        self._frame = wire.request(self.name, self._version, correlation_id, client_id, self._body)

    def encode(self, *, framed: bool, header: bool) -> bytes:  # noqa: ARG002 - the package's signature
        return self._frame

    def expect_response(self) -> bool:
        return True

    def get_response_class(self) -> _Request:
        return self

    def parse_header(self, data: Any) -> _Request:
        frame = data.read()
        self.correlation_id, self._response = wire.response_body(self.name, self._version, frame)
        return self

    def decode(self, _data: object) -> Body:
        return self._response

    @property
    def _version(self) -> int:
        # The connection chooses it before it sends the request.
        return self.API_VERSION or 0


class PolledGroup(NamedTuple):
    """A group as its broker shows it: its description, and its offsets by topic, as in the responses.

    `error` is Kafka's name of an error, which leaves the group unknown; empty: none. An ended group has no description.
    """

    group_id: str
    group_type: str
    error: str = ""
    description: Body | None = None
    topics: Sequence[Body] = ()


def brokers(connection: Connection) -> list[int]:
    """Return the ids of the cluster's brokers. Raises ChannelError: the cluster does not respond, or rejects the login."""
    with connection.opened(KafkaAdminClient) as admin:
        return _broker_ids(admin)


def brokers_with_share_groups(admin: KafkaAdminClient) -> list[int]:
    """Return the ids of the cluster's brokers, or none if they lack DescribeShareGroupOffsets (before Kafka 4.1)."""
    try:
        admin._manager.broker_version_data.api_version(_Request(_SHARE_OFFSETS, {}))  # noqa: SLF001 - there is no public way
    except IncompatibleBrokerVersion:
        return []
    return _broker_ids(admin)


def _parts(group_ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(group_ids), _GROUPS_AT_ONCE):
        yield group_ids[start : start + _GROUPS_AT_ONCE]


def _broker_ids(admin: KafkaAdminClient) -> list[int]:
    return [broker["broker_id"] for broker in described_cluster(admin)["brokers"]]


def polled_groups(connection: Connection, broker_id: int) -> Iterator[PolledGroup]:
    """Yield the groups of a broker. Raises ChannelError: it does not respond, rejects the login, or cannot list its groups."""
    with closing(connection.open(KafkaAdminClient)) as admin:
        broker = _Broker(admin, broker_id)
        with connection.awaited():
            listed = broker.listed()
        for group_type, group_ids in listed.items():
            for some in _parts(group_ids):
                # Each part is awaited by itself: a poll of many groups takes long, without a long wait for a response.
                with connection.awaited():
                    found = [*_with_offsets(broker, group_type, some)]
                yield from found


def polled_share_offsets(admin: KafkaAdminClient, broker_id: int) -> Iterator[PolledGroup]:
    """Yield the share groups of a broker with their start offsets and lags, and without descriptions.

    Raises ChannelError: the broker cannot list its groups; KafkaError: the broker does not respond.
    """
    broker = _Broker(admin, broker_id)
    for some in _parts(broker.listed(SHARE)[SHARE]):
        for group in broker.share_offsets(some):
            yield PolledGroup(group["groupId"], SHARE, error_of(group), topics=group["topics"])


def ended_groups(connection: Connection, group_ids: Collection[str]) -> set[str]:
    """Return those of the groups that no broker lists, and of which a broker says that they do not exist.

    A list alone also lacks groups whose coordinator is away, and groups that this user may no longer describe. Raises ChannelError: as
    for `polled_groups`.
    """
    with connection.opened(KafkaAdminClient) as admin:
        found = [_Broker(admin, broker_id) for broker_id in _broker_ids(admin)]
        listed = {name for broker in found for names in broker.listed().values() for name in names}
        # Only the coordinator calls a group dead, and only to users with the right. The type does not matter.
        return {
            group_id
            for broker in found
            for some in _parts(sorted(set(group_ids) - listed))
            for group_id, described in broker.described(CLASSIC, some).items()
            if described["groupState"] == "Dead"
        }


def hidden_topics(connection: Connection, topics: Collection[str]) -> Collection[str]:
    """Return those of the topics that this user may not describe: a poll lacks their offsets. Raises ChannelError."""
    with closing(Cluster(connection)) as cluster:
        return set(topics) - cluster.topics_seen(topics).keys()


def _with_offsets(
    broker: _Broker, group_type: str, group_ids: Sequence[str]
) -> Iterator[PolledGroup]:
    # The descriptions first: a group that is empty and ends in between has no offsets either.
    descriptions = broker.described(group_type, group_ids)
    # Start offsets of share groups are sampled, and are no commits.
    offsets = (
        dict.fromkeys(group_ids, _NO_OFFSETS) if group_type == SHARE else broker.offsets(group_ids)
    )
    for group_id in group_ids:
        described, fetched = descriptions[group_id], offsets[group_id]
        errors = [error_of(each) for each in (described, fetched)]
        is_gone = NO_GROUP in errors or described["groupState"] == "Dead"
        error = next((each for each in errors if each and each != NO_GROUP), "")
        yield PolledGroup(
            group_id,
            group_type,
            error,
            None if is_gone or error else described,
            () if error else fetched["topics"],
        )


def error_of(body: Body) -> str:
    """Return Kafka's name of the error in a response or a part of it, or an empty text."""
    code = body["errorCode"]
    if not code:
        return ""
    return ErrorCode(code).name if code in set(ErrorCode) else f"error {code}"


class _Broker:
    def __init__(self, admin: KafkaAdminClient, broker_id: int) -> None:
        self._manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
        self._broker_id = broker_id

    def _ask(self, request: _Request) -> Body:
        response: Body = self._manager.run(self._manager.send, request, self._broker_id)
        return response

    def listed(self, *only: str) -> dict[str, list[str]]:
        """Return the groups by type. Brokers since Kafka 3.8 list `only` the groups of these types, if any."""
        response = self._ask(_Request("ListGroups", {"typesFilter": only}))
        error = error_of(response)
        if error:
            raise BrokerUnreachableError(
                f"broker {self._broker_id} cannot list its groups: {error}"
            )
        found: dict[str, list[str]] = {group_type: [] for group_type in _DESCRIBE}
        for group in response["groups"]:
            # Brokers before Kafka 3.8 do not name the type: all their groups are classic.
            of_type = found.get(group.get("groupType", CLASSIC).lower())
            # Of another type nothing is known here.
            if of_type is not None:
                of_type.append(group["groupId"])
        return found

    def described(self, group_type: str, group_ids: Sequence[str]) -> dict[str, Body]:
        api, field = _DESCRIBE[group_type]
        try:
            response = self._ask(_Request(api, {field: group_ids}))
        except IncompatibleBrokerVersion:
            # The broker has an early version of the group type, as Kafka 4.0 has of share groups.
            unknown = {"errorCode": ErrorCode.UNSUPPORTED_VERSION, "groupState": ""}
            return dict.fromkeys(group_ids, unknown)
        return {str(group["groupId"]): group for group in response["groups"]}

    def share_offsets(self, group_ids: Sequence[str]) -> list[Body]:
        wanted = [{"groupId": group_id, "topics": None} for group_id in group_ids]
        response = self._ask(_Request(_SHARE_OFFSETS, {"groups": wanted}))
        return list(response["groups"])

    def offsets(self, group_ids: Sequence[str]) -> dict[str, Body]:
        wanted = [{"groupId": group_id, "topics": None} for group_id in group_ids]
        first = _Request("OffsetFetch", {**wanted[0], "groups": wanted}, _NAMES_UNTIL)
        response = self._ask(first)
        if first.API_VERSION is not None and first.API_VERSION >= _SEVERAL_FROM:
            return {str(group["groupId"]): group for group in response["groups"]}
        # An older broker has responded for the first group alone.
        rest = {
            str(group["groupId"]): self._ask(_Request("OffsetFetch", group, _NAMES_UNTIL))
            for group in wanted[1:]
        }
        return {group_ids[0]: response, **rest}
