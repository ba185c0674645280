"""Table of the APIs for clients: route and versions of each. The APIs of the job are in core/apis.py.

APIs that are neither here nor in codecs/wire are hidden: the APIs of brokers and controllers, share groups and streams
groups. A version that is not here may have a broker's address in a field that is not rewritten, or a hidden feature.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import schemas
from group_coordinator.core import apis


class Way(Enum):
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
    """API for clients: key, name, route and versions."""

    key: int
    name: str
    way: Way
    versions: range


GROUP_APIS = {
    api.name: api.rights
    for api in apis.APIS.values()
    if api.rights is not None and api.name in schemas.APIS
}
"""APIs of the job by name, with the rights that a client needs."""
_BY_WAY = {
    Way.GROUPS: " ".join(["ListGroups", *GROUP_APIS]),
    Way.READ: (
        "ApiVersions FindCoordinator DescribeConfigs AlterConfigs IncrementalAlterConfigs ListConfigResources"
    ),
    Way.PRODUCED: "Produce",
    Way.LOGIN: "SaslHandshake SaslAuthenticate",
    Way.TOPICS: (
        "Fetch ListOffsets CreateTopics DeleteTopics DeleteRecords OffsetForLeaderEpoch AddPartitionsToTxn "
        "AlterReplicaLogDirs CreatePartitions ElectLeaders AlterPartitionReassignments DescribeProducers"
    ),
    Way.SHOWN: "Metadata DescribeTopicPartitions",
    Way.PASSED: (
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
_LOWEST = {
    "SaslHandshake": 1
}  # after version 0 the tokens have no header, so they look like requests


def _api(name: str, way: Way) -> ServedApi:
    # Only versions that codecs/wire can read: a broker may already have later ones.
    defined = wire.valid_versions(name)
    highest = _HIGHEST.get(name, defined[-1])
    lowest = _LOWEST.get(name, defined[0])
    return ServedApi(wire.api_key(name), name, way, range(lowest, highest + 1))


APIS = {
    api.key: api for way, names in _BY_WAY.items() for api in (_api(n, way) for n in names.split())
}
"""APIs by key; of two routes the later counts."""

API_VERSIONS = APIS[wire.api_key("ApiVersions")]

PARKED_APIS = frozenset({"JoinGroup", "SyncGroup"})
"""APIs whose responses wait for other members, which may take minutes."""

HIDDEN_FEATURES = frozenset({"share.version", "streams.version", "transaction.version"})
"""Features of a cluster that would lead clients to hidden APIs, or to another way to end transactions."""

GROUP_RESOURCE = 32
"""Type of a resource whose configs are the settings of a group."""
