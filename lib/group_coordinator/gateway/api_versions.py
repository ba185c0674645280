"""APIs for clients: the route and the versions of each, and the response to ApiVersions. The APIs of the job are in core/apis.py.

The broker's APIs are shown without hidden features, the group APIs in the job's versions. All others are hidden: APIs of brokers
and controllers, share groups and streams groups. A version that is not here may have a broker's address in a field that is not
rewritten, or a hidden feature.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

from group_coordinator.clients.errors import InvalidRequestError
from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import schemas
from group_coordinator.core import apis
from group_coordinator.core.model.errors import ErrorCode


class Route(Enum):
    """Routes of the served APIs."""

    GROUPS = auto()
    """The job; the versions are the gateway's, whatever the brokers have."""
    READ = auto()
    """The broker, the gateway, or both: it depends on the request."""
    PRODUCED = auto()
    """The broker, if the request has a response at all."""
    LOGIN = auto()
    """The broker; request and response are read."""
    TOPICS = auto()
    """The broker, unless the request names a topic of the coordinator itself."""
    SHOWN = auto()
    """The broker; its response may name the coordinator's topics."""
    PASSED = auto()
    """The broker; the request is not read."""


class ServedApi(NamedTuple):
    key: int
    name: str
    route: Route
    versions: range


GROUP_APIS = {
    api.name: api.rights
    for api in apis.APIS.values()
    if api.rights is not None and api.name in schemas.APIS
}
"""APIs of the job by name, with the rights that a client needs."""
_BY_ROUTE = {
    Route.GROUPS: " ".join(["ListGroups", *GROUP_APIS]),
    Route.READ: (
        "ApiVersions FindCoordinator DescribeConfigs AlterConfigs IncrementalAlterConfigs ListConfigResources"
    ),
    Route.PRODUCED: "Produce",
    Route.LOGIN: "SaslHandshake SaslAuthenticate",
    Route.TOPICS: (
        "Fetch ListOffsets CreateTopics DeleteTopics DeleteRecords OffsetForLeaderEpoch AddPartitionsToTxn "
        "AlterReplicaLogDirs CreatePartitions ElectLeaders AlterPartitionReassignments DescribeProducers"
    ),
    Route.SHOWN: "Metadata DescribeTopicPartitions",
    Route.PASSED: (
        "InitProducerId AddOffsetsToTxn EndTxn DescribeAcls CreateAcls DeleteAcls DescribeLogDirs CreateDelegationToken "
        "RenewDelegationToken ExpireDelegationToken DescribeDelegationToken ListPartitionReassignments "
        "DescribeClientQuotas AlterClientQuotas DescribeUserScramCredentials AlterUserScramCredentials DescribeQuorum "
        "UpdateFeatures DescribeCluster UnregisterBroker DescribeTransactions ListTransactions "
        "GetTelemetrySubscriptions PushTelemetry AddRaftVoter RemoveRaftVoter UnregisterController"
    ),
}
# Clients choose the highest common version, so a lower limit here changes their way without an error.
_HIGHEST = {
    "Fetch": 15,  # 16 has addresses behind the data
    # Later versions use transaction.version 2, where brokers get a group's offsets without AddOffsetsToTxn.
    "Produce": 11,
    "EndTxn": 4,
    "TxnOffsetCommit": 4,
}
"""Highest versions where they are lower than Kafka's."""
# After version 0 the tokens have no header, so they look like requests.
_LOWEST = {"SaslHandshake": 1}


def _api(name: str, route: Route) -> ServedApi:
    # Only versions that codecs/wire can read: a broker may already have later ones.
    defined = wire.valid_versions(name)
    highest = _HIGHEST.get(name, defined[-1])
    lowest = _LOWEST.get(name, defined[0])
    return ServedApi(wire.api_key(name), name, route, range(lowest, highest + 1))


APIS = {
    api.key: api
    for route, names in _BY_ROUTE.items()
    for api in (_api(n, route) for n in names.split())
}
"""APIs by key; of two routes the later counts."""

API_VERSIONS = APIS[wire.api_key("ApiVersions")]

PENDING_APIS = frozenset({"JoinGroup", "SyncGroup"})
"""APIs whose responses wait for other members, which may take minutes."""

HIDDEN_FEATURES = frozenset({"share.version", "streams.version", "transaction.version"})
"""Features of a cluster that would lead clients to hidden APIs, or to another way to end transactions."""

MALFORMED = str(InvalidRequestError())
"""Text of Kafka for INVALID_REQUEST."""

GROUP_RESOURCE = 32
"""Type of a resource whose configs are the settings of a group."""


def too_new(correlation_id: int) -> bytes:
    """Response to an unknown version: in version 0, with the range of ApiVersions itself (KIP-511)."""
    entry = _entry(API_VERSIONS, API_VERSIONS.versions[0], API_VERSIONS.versions[-1])
    body = {"errorCode": ErrorCode.UNSUPPORTED_VERSION, "apiKeys": [entry]}
    return wire.response("ApiVersions", 0, correlation_id, body)


def rewritten(version: int, frame: memoryview) -> bytes:
    """Rewrite a broker's response for clients. Raises WireError: it does not parse."""
    # A broker older than this gateway answers UNSUPPORTED_VERSION, in version 0.
    error_code = int.from_bytes(frame[4:6], signed=True)
    answered = 0 if error_code == ErrorCode.UNSUPPORTED_VERSION else version
    correlation_id, body = wire.response_body("ApiVersions", answered, frame)
    if body["errorCode"] != ErrorCode.NONE:
        return wire.response("ApiVersions", answered, correlation_id, body)
    body["apiKeys"] = _served([*filter(None, map(_shown, body["apiKeys"]))])
    for features in ("supportedFeatures", "finalizedFeatures"):
        if features in body:
            body[features] = [f for f in body[features] if f["name"] not in HIDDEN_FEATURES]
    return wire.response("ApiVersions", version, correlation_id, body)


def _shown(entry: dict[str, Any]) -> dict[str, int] | None:
    api = APIS.get(entry["apiKey"])
    if api is None or api.route is Route.GROUPS:
        return None
    # The broker's lowest version stays: an old librdkafka concludes from a higher version of Produce that there is no
    # compression (KAFKA-18659).
    highest = min(entry["maxVersion"], api.versions[-1])
    return _entry(api, entry["minVersion"], highest) if entry["minVersion"] <= highest else None


def _served(of_broker: list[dict[str, int]]) -> list[dict[str, int]]:
    ours = [
        _entry(api, api.versions[0], api.versions[-1])
        for api in APIS.values()
        if api.route is Route.GROUPS
    ]
    return sorted([*of_broker, *ours], key=lambda entry: entry["apiKey"])


def _entry(api: ServedApi, lowest: int, highest: int) -> dict[str, int]:
    return {"apiKey": api.key, "minVersion": lowest, "maxVersion": highest}


Rewriting: TypeAlias = Callable[[memoryview], bytes | Awaitable[bytes]]
"""Function from a broker's response, without its size, to the response for the client, with its size."""


class ClientRequest(NamedTuple):
    """Collected request; the frame begins with its size."""

    api: ServedApi
    version: int
    correlation_id: int
    frame: bytearray


class LocalResponse(NamedTuple):
    """Local response, with its size."""

    answer: bytes | Awaitable[bytes]


class ForwardedRequest(NamedTuple):
    """Request to forward, its size first, and how its response is rewritten, if at all."""

    request: bytes | bytearray
    rewriting: Rewriting | None
