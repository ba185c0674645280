"""What counts for a group: its own setting within the coordinator's bounds, else the coordinator's.

Source: GroupConfigManager in Kafka 4.4.
"""

from __future__ import annotations

from group_coordinator.core.group_configs.definition import GroupConfig
from group_coordinator.core.group_configs.definitions import (
    ASSIGNMENT_INTERVAL,
    HEARTBEAT_INTERVAL,
    OFFSETS_RETENTION,
    SESSION_TIMEOUT,
)
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group


def session_timeout_ms(group: Group, config: CoordinatorConfig) -> int:
    """How long a member of the consumer group may be silent."""
    return _effective(SESSION_TIMEOUT, group, config, config.group_consumer_session_timeout_ms)


def heartbeat_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """How often a member of the consumer group is asked to send a heartbeat."""
    otherwise = config.group_consumer_heartbeat_interval_ms
    return _effective(HEARTBEAT_INTERVAL, group, config, otherwise)


def assignment_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """The least time between two assignments of the consumer group."""
    otherwise = config.group_consumer_assignment_interval_ms
    return _effective(ASSIGNMENT_INTERVAL, group, config, otherwise)


def offsets_retention_ms(group: Group, otherwise_ms: int) -> int:
    """How long the group's offsets are kept; `otherwise_ms`, the coordinator's own, if it was not given a time."""
    value = group.configs.get(OFFSETS_RETENTION.name)
    return otherwise_ms if value is None else int(value)


def _effective(
    definition: GroupConfig, group: Group, config: CoordinatorConfig, otherwise: int
) -> int:
    """The group's own setting within the coordinator's bounds, which may have changed since; `otherwise` if it has none."""
    value = group.configs.get(definition.name)
    if value is None:
        return otherwise
    lowest, highest = limits(definition, config)
    return min(max(int(value), lowest), highest)


def limits(definition: GroupConfig, config: CoordinatorConfig) -> tuple[int, int]:
    """What the coordinator lets a setting of consumer groups be, both included."""
    _, _, rest = definition.broker_name.partition("group.consumer.")
    lowest, highest = (
        getattr(config, f"group.consumer.{bound}.{rest}".replace(".", "_"))
        for bound in ("min", "max")
    )
    return lowest, highest


def coordinators_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """The coordinator's setting, in its unit; Kafka's default where this coordinator has no such setting."""
    value = getattr(config, definition.broker_name.replace(".", "_"), definition.default)
    return str(value).lower()


def value_without_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """What counts for a group that was not given the setting, in the unit of the group's setting."""
    if definition is OFFSETS_RETENTION:
        return str(config.retention_ms)
    return coordinators_own(definition, config)
