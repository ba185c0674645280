"""Brokers and controllers: addresses, features, API versions and quorum."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    blob,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    structs,
    uint16,
    uuid,
)
from group_coordinator.codecs.fields import NOT_ASKED_FOR
from group_coordinator.codecs.wire.schemas.api import api

APIS = (
    api("ApiVersions", 18, versions=(0, 5), flexible_since=3)
    .request(
        string("clientSoftwareName", since=3),
        string("clientSoftwareVersion", since=3),
        string("clusterId", since=5, nullable=True, default=None),
        int32("nodeId", since=5, default=-1),
    )
    .response(
        int16("errorCode"),
        structs("apiKeys", int16("apiKey"), int16("minVersion"), int16("maxVersion")),
        int32("throttleTimeMs", since=1),
        structs(
            "supportedFeatures",
            string("name"),
            int16("minVersion"),
            int16("maxVersion"),
            since=3,
            tag=0,
        ),
        int64("finalizedFeaturesEpoch", since=3, tag=1, default=-1),
        structs(
            "finalizedFeatures",
            string("name"),
            int16("maxVersionLevel"),
            int16("minVersionLevel"),
            since=3,
            tag=2,
        ),
        boolean("zkMigrationReady", since=3, tag=3),
    ),
    api("DescribeCluster", 60, versions=(0, 2), flexible_since=0)
    .request(
        boolean("includeClusterAuthorizedOperations"),
        int8("endpointType", since=1, default=1),
        boolean("includeFencedBrokers", since=2),
    )
    .response(
        int32("throttleTimeMs"),
        int16("errorCode"),
        string("errorMessage", nullable=True, default=None),
        int8("endpointType", since=1, default=1),
        string("clusterId"),
        int32("controllerId", default=-1),
        structs(
            "brokers",
            int32("brokerId"),
            string("host"),
            int32("port"),
            string("rack", nullable=True, default=None),
            boolean("isFenced", since=2),
        ),
        int32("clusterAuthorizedOperations", default=NOT_ASKED_FOR),
    ),
    api("DescribeQuorum", 55, versions=(0, 2), flexible_since=0).request(
        structs("topics", string("topicName"), structs("partitions", int32("partitionIndex")))
    ),
    api("AddRaftVoter", 80, versions=(0, 1), flexible_since=0).request(
        string("clusterId", nullable=True),
        int32("timeoutMs"),
        int32("voterId"),
        uuid("voterDirectoryId"),
        structs("listeners", string("name"), string("host"), uint16("port")),
        boolean("ackWhenCommitted", since=1, default=True),
    ),
    api("RemoveRaftVoter", 81, versions=(0, 0), flexible_since=0).request(
        string("clusterId", nullable=True), int32("voterId"), uuid("voterDirectoryId")
    ),
    api("UnregisterBroker", 64, versions=(0, 0), flexible_since=0).request(int32("brokerId")),
    api("UnregisterController", 94, versions=(0, 0), flexible_since=0).request(
        int32("controllerId")
    ),
    api("UpdateFeatures", 57, versions=(0, 2), flexible_since=0).request(
        int32("timeoutMs", default=60_000),
        structs(
            "featureUpdates",
            string("feature"),
            int16("maxVersionLevel"),
            boolean("allowDowngrade", until=0),
            int8("upgradeType", since=1, default=1),
        ),
        boolean("validateOnly", since=1),
    ),
    api("GetTelemetrySubscriptions", 71, versions=(0, 0), flexible_since=0).request(
        uuid("clientInstanceId")
    ),
    api("PushTelemetry", 72, versions=(0, 0), flexible_since=0).request(
        uuid("clientInstanceId"),
        int32("subscriptionId"),
        boolean("terminating"),
        int8("compressionType"),
        blob("metrics"),
    ),
)
