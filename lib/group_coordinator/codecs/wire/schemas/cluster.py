"""APIs of brokers and controllers: addresses, features, API versions and quorum; logins, users, tokens and ACLs."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    blob,
    boolean,
    int8,
    int16,
    int32,
    int64,
    string,
    strings,
    structs,
    uint16,
    uuid,
)
from group_coordinator.codecs.fields import NOT_ASKED_FOR
from group_coordinator.codecs.wire.schemas.api import api

APIS = (
    api("ApiVersions", 18, versions=(0, 5), flexible_since=3).with_messages(
        request=[
            string("clientSoftwareName", since=3),
            string("clientSoftwareVersion", since=3),
            string("clusterId", since=5, nullable=True, default=None),
            int32("nodeId", since=5, default=-1),
        ],
        response=[
            int16("errorCode"),
            structs("apiKeys")[int16("apiKey"), int16("minVersion"), int16("maxVersion")],
            int32("throttleTimeMs", since=1),
            structs("supportedFeatures", since=3, tag=0)[
                string("name"), int16("minVersion"), int16("maxVersion")
            ],
            int64("finalizedFeaturesEpoch", since=3, tag=1, default=-1),
            structs("finalizedFeatures", since=3, tag=2)[
                string("name"), int16("maxVersionLevel"), int16("minVersionLevel")
            ],
            boolean("zkMigrationReady", since=3, tag=3),
        ],
    ),
    api("DescribeCluster", 60, versions=(0, 2), flexible_since=0).with_messages(
        request=[
            boolean("includeClusterAuthorizedOperations"),
            int8("endpointType", since=1, default=1),
            boolean("includeFencedBrokers", since=2),
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            string("errorMessage", nullable=True, default=None),
            int8("endpointType", since=1, default=1),
            string("clusterId"),
            int32("controllerId", default=-1),
            structs("brokers")[
                int32("brokerId"),
                string("host"),
                int32("port"),
                string("rack", nullable=True, default=None),
                boolean("isFenced", since=2),
            ],
            int32("clusterAuthorizedOperations", default=NOT_ASKED_FOR),
        ],
    ),
    api("DescribeQuorum", 55, versions=(0, 2), flexible_since=0).with_messages(
        request=[
            structs("topics")[string("topicName"), structs("partitions")[int32("partitionIndex")]]
        ]
    ),
    api("AddRaftVoter", 80, versions=(0, 1), flexible_since=0).with_messages(
        request=[
            string("clusterId", nullable=True),
            int32("timeoutMs"),
            int32("voterId"),
            uuid("voterDirectoryId"),
            structs("listeners")[string("name"), string("host"), uint16("port")],
            boolean("ackWhenCommitted", since=1, default=True),
        ]
    ),
    api("RemoveRaftVoter", 81, versions=(0, 0), flexible_since=0).with_messages(
        request=[string("clusterId", nullable=True), int32("voterId"), uuid("voterDirectoryId")]
    ),
    api("UnregisterBroker", 64, versions=(0, 0), flexible_since=0).with_messages(
        request=[int32("brokerId")]
    ),
    api("UnregisterController", 94, versions=(0, 0), flexible_since=0).with_messages(
        request=[int32("controllerId")]
    ),
    api("UpdateFeatures", 57, versions=(0, 2), flexible_since=0).with_messages(
        request=[
            int32("timeoutMs", default=60_000),
            structs("featureUpdates")[
                string("feature"),
                int16("maxVersionLevel"),
                boolean("allowDowngrade", until=0),
                int8("upgradeType", since=1, default=1),
            ],
            boolean("validateOnly", since=1),
        ]
    ),
    api("GetTelemetrySubscriptions", 71, versions=(0, 0), flexible_since=0).with_messages(
        request=[uuid("clientInstanceId")]
    ),
    api("PushTelemetry", 72, versions=(0, 0), flexible_since=0).with_messages(
        request=[
            uuid("clientInstanceId"),
            int32("subscriptionId"),
            boolean("terminating"),
            int8("compressionType"),
            blob("metrics"),
        ]
    ),
    api("SaslHandshake", 17, versions=(0, 1)).with_messages(
        request=[string("mechanism")], response=[int16("errorCode"), strings("mechanisms")]
    ),
    api("SaslAuthenticate", 36, versions=(0, 2), flexible_since=2).with_messages(
        request=[blob("authBytes")],
        response=[
            int16("errorCode"),
            string("errorMessage", nullable=True),
            blob("authBytes"),
            int64("sessionLifetimeMs", since=1),
        ],
    ),
    api("DescribeAcls", 29, versions=(1, 3), flexible_since=2).with_messages(
        request=[
            int8("resourceTypeFilter"),
            string("resourceNameFilter", nullable=True),
            int8("patternTypeFilter", default=3),
            string("principalFilter", nullable=True),
            string("hostFilter", nullable=True),
            int8("operation"),
            int8("permissionType"),
        ],
        response=[
            int32("throttleTimeMs"),
            int16("errorCode"),
            string("errorMessage", nullable=True),
            structs("resources")[
                int8("resourceType"),
                string("resourceName"),
                int8("patternType", default=3),
                structs("acls")[
                    string("principal"), string("host"), int8("operation"), int8("permissionType")
                ],
            ],
        ],
    ),
    api("CreateAcls", 30, versions=(1, 3), flexible_since=2).with_messages(
        request=[
            structs("creations")[
                int8("resourceType"),
                string("resourceName"),
                int8("resourcePatternType", default=3),
                string("principal"),
                string("host"),
                int8("operation"),
                int8("permissionType"),
            ]
        ]
    ),
    api("DeleteAcls", 31, versions=(1, 3), flexible_since=2).with_messages(
        request=[
            structs("filters")[
                int8("resourceTypeFilter"),
                string("resourceNameFilter", nullable=True),
                int8("patternTypeFilter", default=3),
                string("principalFilter", nullable=True),
                string("hostFilter", nullable=True),
                int8("operation"),
                int8("permissionType"),
            ]
        ]
    ),
    api("CreateDelegationToken", 38, versions=(1, 3), flexible_since=2).with_messages(
        request=[
            string("ownerPrincipalType", since=3, nullable=True),
            string("ownerPrincipalName", since=3, nullable=True),
            structs("renewers")[string("principalType"), string("principalName")],
            int64("maxLifetimeMs"),
        ]
    ),
    api("RenewDelegationToken", 39, versions=(1, 2), flexible_since=2).with_messages(
        request=[blob("hmac"), int64("renewPeriodMs")]
    ),
    api("ExpireDelegationToken", 40, versions=(1, 2), flexible_since=2).with_messages(
        request=[blob("hmac"), int64("expiryTimePeriodMs")]
    ),
    api("DescribeDelegationToken", 41, versions=(1, 3), flexible_since=2).with_messages(
        request=[structs("owners", nullable=True)[string("principalType"), string("principalName")]]
    ),
    api("DescribeUserScramCredentials", 50, versions=(0, 0), flexible_since=0).with_messages(
        request=[structs("users", nullable=True)[string("name")]]
    ),
    api("AlterUserScramCredentials", 51, versions=(0, 0), flexible_since=0).with_messages(
        request=[
            structs("deletions")[string("name"), int8("mechanism")],
            structs("upsertions")[
                string("name"),
                int8("mechanism"),
                int32("iterations"),
                blob("salt"),
                blob("saltedPassword"),
            ],
        ]
    ),
)
