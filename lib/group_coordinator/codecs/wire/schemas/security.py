"""Logins, users, tokens and rights."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    blob,
    int8,
    int16,
    int32,
    int64,
    string,
    strings,
    structs,
)
from group_coordinator.codecs.wire.schemas.api import api

APIS = (
    api("SaslHandshake", 17, versions=(0, 1))
    .request(string("mechanism"))
    .response(int16("errorCode"), strings("mechanisms")),
    api("SaslAuthenticate", 36, versions=(0, 2), flexible_since=2)
    .request(blob("authBytes"))
    .response(
        int16("errorCode"),
        string("errorMessage", nullable=True),
        blob("authBytes"),
        int64("sessionLifetimeMs", since=1),
    ),
    api("DescribeAcls", 29, versions=(1, 3), flexible_since=2)
    .request(
        int8("resourceTypeFilter"),
        string("resourceNameFilter", nullable=True),
        int8("patternTypeFilter", default=3),
        string("principalFilter", nullable=True),
        string("hostFilter", nullable=True),
        int8("operation"),
        int8("permissionType"),
    )
    .response(
        int32("throttleTimeMs"),
        int16("errorCode"),
        string("errorMessage", nullable=True),
        structs(
            "resources",
            int8("resourceType"),
            string("resourceName"),
            int8("patternType", default=3),
            structs(
                "acls",
                string("principal"),
                string("host"),
                int8("operation"),
                int8("permissionType"),
            ),
        ),
    ),
    api("CreateAcls", 30, versions=(1, 3), flexible_since=2).request(
        structs(
            "creations",
            int8("resourceType"),
            string("resourceName"),
            int8("resourcePatternType", default=3),
            string("principal"),
            string("host"),
            int8("operation"),
            int8("permissionType"),
        )
    ),
    api("DeleteAcls", 31, versions=(1, 3), flexible_since=2).request(
        structs(
            "filters",
            int8("resourceTypeFilter"),
            string("resourceNameFilter", nullable=True),
            int8("patternTypeFilter", default=3),
            string("principalFilter", nullable=True),
            string("hostFilter", nullable=True),
            int8("operation"),
            int8("permissionType"),
        )
    ),
    api("CreateDelegationToken", 38, versions=(1, 3), flexible_since=2).request(
        string("ownerPrincipalType", since=3, nullable=True),
        string("ownerPrincipalName", since=3, nullable=True),
        structs("renewers", string("principalType"), string("principalName")),
        int64("maxLifetimeMs"),
    ),
    api("RenewDelegationToken", 39, versions=(1, 2), flexible_since=2).request(
        blob("hmac"), int64("renewPeriodMs")
    ),
    api("ExpireDelegationToken", 40, versions=(1, 2), flexible_since=2).request(
        blob("hmac"), int64("expiryTimePeriodMs")
    ),
    api("DescribeDelegationToken", 41, versions=(1, 3), flexible_since=2).request(
        structs("owners", string("principalType"), string("principalName"), nullable=True)
    ),
    api("DescribeUserScramCredentials", 50, versions=(0, 0), flexible_since=0).request(
        structs("users", string("name"), nullable=True)
    ),
    api("AlterUserScramCredentials", 51, versions=(0, 0), flexible_since=0).request(
        structs("deletions", string("name"), int8("mechanism")),
        structs(
            "upsertions",
            string("name"),
            int8("mechanism"),
            int32("iterations"),
            blob("salt"),
            blob("saltedPassword"),
        ),
    ),
)
