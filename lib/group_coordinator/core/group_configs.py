"""What administrators may set for one group: names, bounds, and the value in effect.

Source: GroupConfig and GroupConfigManager in Kafka 4.4, as far as they are about consumer groups; Kafka keeps the settings
of share and streams groups under further names. A group need not exist to be given settings.

One setting is ours: OFFSETS_RETENTION. KIP-211 leaves retention by group to a later KIP, and no broker has it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Meta

from group_coordinator.core.java_text import java_trimmed
from group_coordinator.core.model.config import BOUNDS, CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.responses import ConfigType
from group_coordinator.core.value import Value

_INTEGER = re.compile(r"[+-]?\d+")
_HIGHEST = {ConfigType.INT: 2**31 - 1, ConfigType.LONG: 2**63 - 1}


class GroupConfig(Value, frozen=True):
    """A setting that a group may be given; `default` is Kafka's, and `documentation` too but for our own."""

    name: str
    broker_name: str
    """The setting of the coordinator that applies to a group without its own."""
    default: int
    """Of the coordinator's setting, in its unit."""
    documentation: str
    type: ConfigType = ConfigType.INT
    taken_back_by: int | None = None
    """A value that stands for none; None: there is no such value."""

    @property
    def bounds(self) -> Meta:
        """Those of the coordinator's setting; what an administrator set narrows them (`check`)."""
        return BOUNDS[self.broker_name.replace(".", "_")]

    @property
    def minimum_name(self) -> str:
        """The setting of the coordinator that a consumer group's must not fall below."""
        return self.broker_name.replace("group.consumer.", "group.consumer.min.")

    @property
    def maximum_name(self) -> str:
        """The setting of the coordinator that a consumer group's must not exceed."""
        return self.broker_name.replace("group.consumer.", "group.consumer.max.")


ASSIGNOR_OFFLOAD = GroupConfig(
    "consumer.assignor.offload.enable",
    "group.consumer.assignor.offload.enable",
    default=True,
    documentation="Whether to offload consumer group assignment to a group coordinator background thread.",
    type=ConfigType.BOOLEAN,
)
"""Kafka knows it and assigns on the spot whatever it says; it is shown where it was given."""
SESSION_TIMEOUT = GroupConfig(
    "consumer.session.timeout.ms",
    "group.consumer.session.timeout.ms",
    45_000,
    "The timeout to detect client failures when using the consumer group protocol.",
)
ASSIGNMENT_INTERVAL = GroupConfig(
    "consumer.assignment.interval.ms",
    "group.consumer.assignment.interval.ms",
    1_000,
    "The interval between assignment updates for a consumer group.",
)
HEARTBEAT_INTERVAL = GroupConfig(
    "consumer.heartbeat.interval.ms",
    "group.consumer.heartbeat.interval.ms",
    5_000,
    "The heartbeat interval given to the members of a consumer group.",
)
OFFSETS_RETENTION = GroupConfig(
    "offsets.retention.ms",
    "offsets.retention.minutes",
    10_080,
    "How long the offsets of the group are kept, in place of the coordinator's own retention. "
    "Setting it to -1 gives the group the coordinator's own again.",
    ConfigType.LONG,
    taken_back_by=-1,
)
GROUP_CONFIGS = {
    definition.name: definition
    for definition in (
        ASSIGNOR_OFFLOAD,
        SESSION_TIMEOUT,
        ASSIGNMENT_INTERVAL,
        HEARTBEAT_INTERVAL,
        OFFSETS_RETENTION,
    )
}
"""By name, in the order in which Kafka lists them, and ours behind."""


class GroupConfigError(ValueError):
    """Settings that Kafka refuses, in Kafka's words."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


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
    lowest = broker_value(definition.minimum_name, config)
    return min(max(int(value), lowest), broker_value(definition.maximum_name, config))


def broker_value(name: str, config: CoordinatorConfig) -> int:
    """The coordinator's own setting of that name."""
    value: int = getattr(config, name.replace(".", "_"))
    return value


def shown(value: int) -> str:
    """A number, or a truth, as Kafka shows it."""
    return str(value).lower()


def value_without_own(definition: GroupConfig, config: CoordinatorConfig) -> int:
    """What counts for a group that was not given the setting, in the unit of the group's setting."""
    if definition is OFFSETS_RETENTION:
        return config.retention_ms
    return broker_value(definition.broker_name, config)


def parse(definition: GroupConfig, text: str) -> int:
    """The value that a text stands for.

    Raises:
        GroupConfigError: INVALID_CONFIG, it is neither a number within the bounds nor one that takes the setting back.
    """
    trimmed = java_trimmed(text)
    value = int(trimmed) if _INTEGER.fullmatch(trimmed) else None
    highest = _HIGHEST[definition.type]
    if value is None or not -highest - 1 <= value <= highest:
        raise _invalid_value(definition, text, f"Not a number of type {definition.type.name}")
    lowest, none = definition.bounds.ge, definition.taken_back_by
    if lowest is not None and value < lowest and value != none:
        also = "" if none is None else f", or {none} to take it back"
        raise _invalid_value(definition, value, f"Value must be at least {lowest}{also}")
    return value


def check_truth(definition: GroupConfig, text: str) -> None:
    """Whether a text stands for true or false.

    Raises:
        GroupConfigError: INVALID_CONFIG.
    """
    if java_trimmed(text).lower() not in ("true", "false"):
        raise _invalid_value(definition, text, "Expected value to be either true or false")


def check(configs: Mapping[str, str], config: CoordinatorConfig) -> None:
    """Whether a group may have these settings, together with the coordinator's where it has none.

    Settings that were valid once are refused if the coordinator's bounds have changed since.

    Raises:
        GroupConfigError: INVALID_CONFIG.
    """
    for name in sorted(configs.keys() - GROUP_CONFIGS.keys()):
        raise GroupConfigError(ErrorCode.INVALID_CONFIG, f"Unknown group config name: {name}")
    if ASSIGNOR_OFFLOAD.name in configs:
        check_truth(ASSIGNOR_OFFLOAD, configs[ASSIGNOR_OFFLOAD.name])
    if OFFSETS_RETENTION.name in configs:
        parse(OFFSETS_RETENTION, configs[OFFSETS_RETENTION.name])
    values = {
        definition.name: parse(definition, configs[definition.name])
        for definition in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL, ASSIGNMENT_INTERVAL)
        if definition.name in configs
    }
    for definition in (HEARTBEAT_INTERVAL, SESSION_TIMEOUT, ASSIGNMENT_INTERVAL):
        if definition.name in values:
            _check_bounds(definition, values[definition.name], config)
    _check_session(values, config)


def _check_bounds(definition: GroupConfig, value: int, config: CoordinatorConfig) -> None:
    lowest = broker_value(definition.minimum_name, config)
    highest = broker_value(definition.maximum_name, config)
    if not lowest <= value <= highest:
        message = f"{definition.name} must be in the range {lowest} to {highest} inclusive."
        raise GroupConfigError(ErrorCode.INVALID_CONFIG, message)


def _check_session(values: Mapping[str, int], config: CoordinatorConfig) -> None:
    """A session must be longer than the interval of heartbeats, where the group has a value of its own for either."""
    if not values.keys() & {SESSION_TIMEOUT.name, HEARTBEAT_INTERVAL.name}:
        return
    session_ms, heartbeat_ms = (
        values.get(definition.name, broker_value(definition.broker_name, config))
        for definition in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL)
    )
    if session_ms <= heartbeat_ms:
        message = f"{SESSION_TIMEOUT.name} must be greater than {HEARTBEAT_INTERVAL.name}"
        raise GroupConfigError(ErrorCode.INVALID_CONFIG, message)


def _invalid_value(definition: GroupConfig, value: object, why: str) -> GroupConfigError:
    message = f"Invalid value {value} for configuration {definition.name}: {why}"
    return GroupConfigError(ErrorCode.INVALID_CONFIG, message)
