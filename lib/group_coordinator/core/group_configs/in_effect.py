"""Group configurations in effect: the group's own within the coordinator's bounds, else the coordinator's setting.

Source: GroupConfig.CONFIG_DEF and GroupConfigManager in Kafka 4.4. A group with configurations need not exist.

OFFSETS_RETENTION is our own: KIP-211 leaves retention by group to a later KIP, and no broker has it.
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
"""The definitions by name, in the order in which Kafka reads them; our own is last."""


def _listed(definitions: Iterable[GroupConfig]) -> list[GroupConfig]:
    # The order of a Java HashMap of 32 buckets.
    return hash_map_order(definitions, lambda definition: string_spot(definition.name), 32)


LISTED = (
    *_listed(definition for definition in _KAFKAS if definition.is_internal),
    *_listed(definition for definition in _KAFKAS if not definition.is_internal),
    OFFSETS_RETENTION,
)
"""The definitions in the order in which Kafka lists them; our own is last. Not followed: Kafka's table is larger for a group with
nearly all of them.
"""


def session_timeout_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the session timeout of members of the consumer group, in milliseconds."""
    return _effective(SESSION_TIMEOUT, group, config, config.group_consumer_session_timeout_ms)


def heartbeat_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the heartbeat interval of members of the consumer group, in milliseconds."""
    otherwise = config.group_consumer_heartbeat_interval_ms
    return _effective(HEARTBEAT_INTERVAL, group, config, otherwise)


def assignment_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the shortest time between two assignments of the consumer group, in milliseconds."""
    otherwise = config.group_consumer_assignment_interval_ms
    return _effective(ASSIGNMENT_INTERVAL, group, config, otherwise)


def offsets_retention_ms(group: Group, otherwise_ms: int) -> int:
    """Return the time for which the group's offsets are kept; `otherwise_ms` is the coordinator's own."""
    value = group.configs.get(OFFSETS_RETENTION.name)
    return otherwise_ms if value is None else int(value)


def _effective(
    definition: GroupConfig, group: Group, config: CoordinatorConfig, otherwise: int
) -> int:
    value = group.configs.get(definition.name)
    if value is None:
        return otherwise
    # The coordinator's bounds may have changed after the group got its value.
    lowest, highest = limits(definition, config)
    return min(max(int(value), lowest), highest)


def limits(definition: GroupConfig, config: CoordinatorConfig) -> tuple[int, int]:
    """Return the lowest and highest allowed values of a configuration of consumer groups."""
    # The bounds have the broker's name with min or max after the prefix.
    _, _, rest = definition.broker_name.partition("group.consumer.")
    lowest, highest = (
        getattr(config, f"group.consumer.{bound}.{rest}".replace(".", "_"))
        for bound in ("min", "max")
    )
    return lowest, highest


def coordinators_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """Return the coordinator's setting in its unit; Kafka's default if this coordinator has no such setting."""
    value = getattr(config, definition.broker_name.replace(".", "_"), definition.default)
    # Python's True is true in Kafka.
    return str(value).lower()


def value_without_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """Return the value for a group without this configuration, in the configuration's unit."""
    if definition is OFFSETS_RETENTION:
        return str(config.retention_ms)
    return coordinators_own(definition, config)
