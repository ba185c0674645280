"""The configs of groups, and the value in effect: the group's own within the coordinator's bounds, else the coordinator's.

Source: GroupConfig.CONFIG_DEF in Kafka 4.4. A group need not exist to be given settings.

OFFSETS_RETENTION is ours: KIP-211 leaves retention by group to a later KIP, and no broker has it.

Source: GroupConfigManager in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.group_configs.definition import GroupConfig
from group_coordinator.core.group_configs.foreign import FOREIGN
from group_coordinator.core.kafka_order.java_tables import hash_map_order, string_spot
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.responses import ConfigType

SESSION_TIMEOUT = GroupConfig(
    "consumer.session.timeout.ms",
    ConfigType.INT,
    "45000",
    "How long a member may be silent before the group removes it.",
    "group.consumer.session.timeout.ms",
    least=1,
)
HEARTBEAT_INTERVAL = GroupConfig(
    "consumer.heartbeat.interval.ms",
    ConfigType.INT,
    "5000",
    "How often each member sends a heartbeat.",
    "group.consumer.heartbeat.interval.ms",
    least=1,
)
ASSIGNMENT_INTERVAL = GroupConfig(
    "consumer.assignment.interval.ms",
    ConfigType.INT,
    "1000",
    "The least time from one assignment of the group to the next.",
    "group.consumer.assignment.interval.ms",
    least=0,
)
_CONSUMER = (
    SESSION_TIMEOUT,
    HEARTBEAT_INTERVAL,
    ASSIGNMENT_INTERVAL,
    GroupConfig(
        "consumer.assignor.offload.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether a separate thread computes the group's assignments. No effect here.",
        "group.consumer.assignor.offload.enable",
        is_internal=True,
    ),
)
OFFSETS_RETENTION = GroupConfig(
    "offsets.retention.ms",
    ConfigType.LONG,
    "10080",
    "How long the offsets of the group are kept, in place of the coordinator's own retention. "
    "Setting it to -1 gives the group the coordinator's own again.",
    "offsets.retention.minutes",
    least=1,
    taken_back_by="-1",
)

_KAFKAS = (*_CONSUMER, *FOREIGN)
GROUP_CONFIGS = {definition.name: definition for definition in (*_KAFKAS, OFFSETS_RETENTION)}
"""By name, in the order in which Kafka reads them, and ours behind."""


def _listed(definitions: Iterable[GroupConfig]) -> list[GroupConfig]:
    """As they come out of a Java HashMap of 32 buckets."""
    return hash_map_order(definitions, lambda definition: string_spot(definition.name), 32)


LISTED = (
    *_listed(definition for definition in _KAFKAS if definition.is_internal),
    *_listed(definition for definition in _KAFKAS if not definition.is_internal),
    OFFSETS_RETENTION,
)
"""In the order in which Kafka lists them, and ours behind. Not followed: where a group has nearly all, Kafka's table is larger."""


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
