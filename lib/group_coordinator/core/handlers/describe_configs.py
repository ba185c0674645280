"""DescribeConfigs 1-4 of a group: each configuration, the source of its value, and the values it would have otherwise.

Source: ConfigHelper in Kafka 4.4. The coordinator's own settings are Kafka's static configuration if they differ from Kafka's
default. Values are shown in their original form, even if the bounds have become narrower since.
"""

from __future__ import annotations

from group_coordinator.core.group_configs import (
    LISTED,
    OFFSETS_RETENTION,
    GroupConfig,
    coordinators_own,
    value_without_own,
)
from group_coordinator.core.model.changes import Decision
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.requests import DescribeConfigs, RequestContext
from group_coordinator.core.model.responses import (
    ConfigSource,
    DescribeConfigsResponse,
    DescribedConfig,
    DescribedSynonym,
    Reply,
)


def decide(
    group: Group, request: DescribeConfigs, context: RequestContext, config: CoordinatorConfig
) -> Decision:
    """Describe the requested configurations; all if none was named. The group need not exist."""
    response = DescribeConfigsResponse(ErrorCode.NONE, "", group.group_id)
    if not group.group_id:
        message = "Group name must not be empty"
        response = response.replace(error=ErrorCode.INVALID_REQUEST, error_message=message)
    else:
        described = [
            _described(definition, group, request, config)
            for definition in LISTED
            if _is_wanted(definition, group, request)
        ]
        response = response.replace(configs=tuple(described))
    return Decision([], [Reply(context.ticket, response)])


def _is_wanted(definition: GroupConfig, group: Group, request: DescribeConfigs) -> bool:
    if request.names and definition.name not in request.names:
        return False
    if definition is OFFSETS_RETENTION:
        # Listing it for every group would differ from Kafka's response.
        return bool(request.names) or definition.name in group.configs
    return not definition.is_internal or definition.name in group.configs


def _described(
    definition: GroupConfig, group: Group, request: DescribeConfigs, config: CoordinatorConfig
) -> DescribedConfig:
    synonyms = _synonyms(definition, group, config)
    return DescribedConfig(
        name=definition.name,
        value=group.configs.get(definition.name, value_without_own(definition, config)),
        source=synonyms[0].source,
        synonyms=synonyms if request.wants_synonyms else (),
        documentation=definition.documentation if request.wants_documentation else None,
        type=definition.type,
    )


def _synonyms(
    definition: GroupConfig, group: Group, config: CoordinatorConfig
) -> tuple[DescribedSynonym, ...]:
    # The possible sources of the value, each in its own unit; the first is in effect.
    name = definition.broker_name
    synonyms = [DescribedSynonym(name, definition.default, ConfigSource.DEFAULT_CONFIG)]
    static = coordinators_own(definition, config)
    if static != definition.default:
        synonyms.insert(0, DescribedSynonym(name, static, ConfigSource.STATIC_BROKER_CONFIG))
    if definition is OFFSETS_RETENTION and config.offsets_retention_ms >= 0:
        value_ms = str(config.offsets_retention_ms)
        finer = DescribedSynonym(
            "offsets.retention.ms", value_ms, ConfigSource.STATIC_BROKER_CONFIG
        )
        synonyms.insert(0, finer)
    value = group.configs.get(definition.name)
    if value is not None:
        synonyms.insert(0, DescribedSynonym(definition.name, value, ConfigSource.GROUP_CONFIG))
    return tuple(synonyms)
