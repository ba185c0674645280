"""What is done with each API of Kafka, in which versions; the APIs of the job are those of core/apis.py.

What is neither here nor in codecs/wire is hidden: what only brokers and controllers say, share groups and streams groups.
A version that is not here may have a broker's address where nobody would look for it, or a feature that is hidden.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from group_coordinator.codecs import wire
from group_coordinator.codecs.wire import schemas
from group_coordinator.core import apis


class Way(Enum):
    """Who answers a request."""

    GROUPS = auto()
    """The job: the versions are ours, whatever the brokers have."""
    READ = auto()
    """The broker, or this gateway, or both: the request says which."""
    PRODUCED = auto()
    """The broker, if the request wants an answer at all."""
    LOGIN = auto()
    """The broker; the request and the answer are read along."""
    TOPICS = auto()
    """The broker, unless the request names a topic of the coordinator itself."""
    SHOWN = auto()
    """The broker; its answer may name them."""
    PASSED = auto()
    """The broker; nobody reads the request."""


class Api(NamedTuple):
    """An API that clients may use."""

    key: int
    name: str
    way: Way
    versions: range


GROUP_APIS = {
    api.name: api.rights
    for api in apis.APIS.values()
    if api.rights is not None and api.name in schemas.APIS
}
"""The APIs that the job answers, by name, with the rights that a client needs."""
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
_HIGHEST = {
    "Fetch": 15,  # 16 has addresses behind the data
    # Beyond these transaction.version 2 is at work, where the brokers learn of a group's offsets without AddOffsetsToTxn.
    "Produce": 11,
    "EndTxn": 4,
    "TxnOffsetCommit": 4,
}
"""Caps below what Kafka defines."""
_LOWEST = {
    "SaslHandshake": 1
}  # what follows the one before has no header, and nobody could tell it from a request


def _api(name: str, way: Way) -> Api:
    defined = wire.valid_versions(name)
    highest = _HIGHEST.get(name, defined[-1])
    lowest = _LOWEST.get(name, defined[0])
    return Api(wire.api_key(name), name, way, range(lowest, highest + 1))


APIS = {
    api.key: api for way, names in _BY_WAY.items() for api in (_api(n, way) for n in names.split())
}
"""By key; of two ways the later one counts."""

API_VERSIONS = APIS[wire.api_key("ApiVersions")]

PARKED_APIS = frozenset({"JoinGroup", "SyncGroup"})
"""They are answered when a group has met, which may take minutes."""

HIDDEN_FEATURES = frozenset({"share.version", "streams.version", "transaction.version"})
"""Features of a cluster with which clients would use what is hidden, or end transactions another way."""

GROUP_RESOURCE = 32
"""The type of a resource whose configs are the settings of a group."""
