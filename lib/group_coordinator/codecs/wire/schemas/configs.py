"""Configs and quotas: described and changed."""

from __future__ import annotations

from group_coordinator.binary.notation import (
    boolean,
    float64,
    int8,
    int8s,
    int16,
    int32,
    string,
    strings,
    structs,
)
from group_coordinator.codecs.wire.schemas.api import api

_ALTERED = (
    int32("throttleTimeMs"),
    structs(
        "responses",
        int16("errorCode"),
        string("errorMessage", nullable=True),
        int8("resourceType"),
        string("resourceName"),
    ),
)

APIS = (
    api("DescribeConfigs", 32, versions=(1, 4), flexible_since=4)
    .request(
        structs(
            "resources",
            int8("resourceType"),
            string("resourceName"),
            strings("configurationKeys", nullable=True),
        ),
        boolean("includeSynonyms"),
        boolean("includeDocumentation", since=3),
    )
    .response(
        int32("throttleTimeMs"),
        structs(
            "results",
            int16("errorCode"),
            string("errorMessage", nullable=True),
            int8("resourceType"),
            string("resourceName"),
            structs(
                "configs",
                string("name"),
                string("value", nullable=True),
                boolean("readOnly"),
                int8("configSource", default=-1),
                boolean("isSensitive"),
                structs("synonyms", string("name"), string("value", nullable=True), int8("source")),
                int8("configType", since=3),
                string("documentation", since=3, nullable=True),
            ),
        ),
    ),
    api("AlterConfigs", 33, versions=(0, 2), flexible_since=2)
    .request(
        structs(
            "resources",
            int8("resourceType"),
            string("resourceName"),
            structs("configs", string("name"), string("value", nullable=True)),
        ),
        boolean("validateOnly"),
    )
    .response(*_ALTERED),
    api("IncrementalAlterConfigs", 44, versions=(0, 1), flexible_since=1)
    .request(
        structs(
            "resources",
            int8("resourceType"),
            string("resourceName"),
            structs(
                "configs", string("name"), int8("configOperation"), string("value", nullable=True)
            ),
        ),
        boolean("validateOnly"),
    )
    .response(*_ALTERED),
    api("ListConfigResources", 74, versions=(0, 1), flexible_since=0)
    .request(int8s("resourceTypes", since=1))
    .response(
        int32("throttleTimeMs"),
        int16("errorCode"),
        structs(
            "configResources", string("resourceName"), int8("resourceType", since=1, default=16)
        ),
    ),
    api("DescribeClientQuotas", 48, versions=(0, 1), flexible_since=1).request(
        structs(
            "components", string("entityType"), int8("matchType"), string("match", nullable=True)
        ),
        boolean("strict"),
    ),
    api("AlterClientQuotas", 49, versions=(0, 1), flexible_since=1).request(
        structs(
            "entries",
            structs("entity", string("entityType"), string("entityName", nullable=True)),
            structs("ops", string("key"), float64("value"), boolean("remove")),
        ),
        boolean("validateOnly"),
    ),
)
