"""The settings that a group may be given: Kafka's, for groups of every kind, and one of our own.

Source: GroupConfig.CONFIG_DEF in Kafka 4.4. A group need not exist to be given settings.

OFFSETS_RETENTION is ours: KIP-211 leaves retention by group to a later KIP, and no broker has it.
"""

from __future__ import annotations

from collections.abc import Iterable

from group_coordinator.core.group_configs.definition import GroupConfig
from group_coordinator.core.group_configs.foreign import FOREIGN
from group_coordinator.core.kafka_order.java_tables import hash_map_order, string_spot
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
