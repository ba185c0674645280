"""Checks of group configurations, and the texts of their values as Kafka shows them. Of several faults Kafka names the first.

Source: ConfigDef.parseType and its validators, ShareGroupAutoOffsetResetStrategy, and GroupConfig.validate in Kafka 4.4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from group_coordinator.core.group_configs import (
    ASSIGNMENT_INTERVAL,
    ASSIGNMENT_TAGS,
    DEAD_LETTER_TOPIC,
    GROUP_CONFIGS,
    HEARTBEAT_INTERVAL,
    ISOLATION_LEVEL,
    LIMITS,
    OFFSET_RESET,
    SESSION_TIMEOUT,
    TASK_ASSIGNOR,
    GroupConfig,
    coordinators_own,
    limits,
)
from group_coordinator.core.kafka_order import (
    java_duration_ns,
    java_number,
    java_trimmed,
    new_hash_map_order,
)
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.responses import ConfigType

_HIGHEST = {ConfigType.INT: 2**31 - 1, ConfigType.LONG: 2**63 - 1}
_COMMA = re.compile(r"\s*,\s*", re.ASCII)
_TRUTHS = ("true", "false")
_ISOLATION_LEVELS = ("read_committed", "read_uncommitted")
_BY_DURATION = "by_duration:"


class GroupConfigError(ValueError):
    """An invalid group configuration, with Kafka's message."""

    def __init__(self, code: ErrorCode, message: str | None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def shown(definition: GroupConfig, text: str) -> str:
    """Return the value of a text as Kafka shows it. Raises GroupConfigError: INVALID_CONFIG, the text is no value of this type."""
    if definition.type is ConfigType.BOOLEAN:
        return _truth(definition, text)
    if definition.type is ConfigType.LIST:
        return ",".join(_entries(definition, text))
    if definition.type is ConfigType.STRING:
        return _checked_string(definition, java_trimmed(text))
    return str(_number(definition, text))


def entries(text: str) -> list[str]:
    """Return the entries of a list, which may be empty texts."""
    trimmed = java_trimmed(text)
    return _COMMA.split(trimmed) if trimmed else []


def _truth(definition: GroupConfig, text: str) -> str:
    truth = java_trimmed(text).lower()
    if truth not in _TRUTHS:
        raise _invalid_value(definition, text, "Expected value to be either true or false")
    return truth


def _entries(definition: GroupConfig, text: str) -> list[str]:
    found = entries(text)
    if not all(found):
        message = f"Configuration '{definition.name}' values must not be empty."
        raise GroupConfigError(ErrorCode.INVALID_CONFIG, message)
    return found


def _checked_string(definition: GroupConfig, value: str) -> str:
    if definition is ISOLATION_LEVEL and value not in _ISOLATION_LEVELS:
        known = ", ".join(_ISOLATION_LEVELS)
        raise _invalid_value(definition, value, f"String must be one of: {known}")
    if definition is OFFSET_RESET and not _is_offset_reset(value):
        why = (
            f"Invalid value `{value}` for configuration {definition.name}. The value must be either "
            "'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
        )
        raise _invalid_value(definition, value, why)
    return value


def _is_offset_reset(value: str) -> bool:
    if not value.startswith(_BY_DURATION):
        return value in ("earliest", "latest")
    duration_ns = java_duration_ns(value.removeprefix(_BY_DURATION))
    return duration_ns is not None and duration_ns >= 0


def _number(definition: GroupConfig, text: str) -> int:
    value = java_number(java_trimmed(text))
    highest = _HIGHEST[definition.type]
    if value is None or not -highest - 1 <= value <= highest:
        raise _invalid_value(definition, text, f"Not a number of type {definition.type.name}")
    least, none = definition.least, definition.taken_back_by
    if least is not None and value < least and str(value) != none:
        # The removing value is allowed although it is below the limit.
        also = "" if none is None else f", or {none} to remove the setting"
        raise _invalid_value(definition, value, f"Value must be at least {least}{also}")
    return value


def _invalid_value(definition: GroupConfig, value: object, why: str) -> GroupConfigError:
    message = f"Invalid value {value} for configuration {definition.name}: {why}"
    return GroupConfigError(ErrorCode.INVALID_CONFIG, message)


_INTERNAL_TOPICS = "__"


def check(configs: Mapping[str, str], config: CoordinatorConfig) -> None:
    """Check the configurations of a group, together with the coordinator's settings.

    Configurations that were valid before are invalid if the coordinator's bounds have changed since.
    Raises GroupConfigError: INVALID_CONFIG.
    """
    # Kafka goes through a hash map: its order decides which unknown name is in the message.
    for name in new_hash_map_order(configs):
        if name not in GROUP_CONFIGS:
            raise _config_error(f"Unknown group config name: {name}")
    tags = entries(configs.get(ASSIGNMENT_TAGS.name, ""))
    if len(set(tags)) < len(tags):
        raise _config_error(f"{ASSIGNMENT_TAGS.name} must not contain duplicate tag keys.")
    values = {
        name: shown(definition, configs[name])
        for name, definition in GROUP_CONFIGS.items()
        if name in configs
    }
    for name, lowest, highest in _limits(config):
        if name in values:
            _check_limits(name, int(values[name]), lowest, highest)
    _check_assignor(values.get(TASK_ASSIGNOR.name, TASK_ASSIGNOR.default))
    _check_session(values, config)
    if values.get(DEAD_LETTER_TOPIC.name, "").startswith(_INTERNAL_TOPICS):
        message = f"DLQ topic name must not start with '{_INTERNAL_TOPICS}'"
        raise _config_error(f"{DEAD_LETTER_TOPIC.name}: {message}")


def _limits(config: CoordinatorConfig) -> Iterator[tuple[str, int | None, int | None]]:
    for definition in (HEARTBEAT_INTERVAL, SESSION_TIMEOUT, ASSIGNMENT_INTERVAL):
        yield definition.name, *limits(definition, config)
    for name, bounds in LIMITS.items():
        yield name, *bounds


def _check_limits(name: str, value: int, lowest: int | None, highest: int | None) -> None:
    if (lowest is None or lowest <= value) and (highest is None or value <= highest):
        return
    if lowest is None:
        raise _config_error(f"{name} must be less than or equal to {highest}")
    if highest is None:
        raise _config_error(f"{name} must be greater than or equal to {lowest}")
    raise _config_error(f"{name} must be in the range {lowest} to {highest} inclusive.")


def _check_assignor(name: str) -> None:
    # Brokers have a single task assignor by default, and there are no settings for others here.
    known = TASK_ASSIGNOR.default
    if name != known:
        why = f"is not a registered task assignor. Registered assignors are: [{known}]."
        raise _config_error(f"{TASK_ASSIGNOR.name} '{name}' {why}")


def _check_session(values: Mapping[str, str], config: CoordinatorConfig) -> None:
    # Without values of its own, the coordinator's were checked at start.
    if not values.keys() & {SESSION_TIMEOUT.name, HEARTBEAT_INTERVAL.name}:
        return
    session_ms, heartbeat_ms = (
        int(values.get(definition.name, coordinators_own(definition, config)))
        for definition in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL)
    )
    if session_ms <= heartbeat_ms:
        raise _config_error(
            f"{SESSION_TIMEOUT.name} must be greater than {HEARTBEAT_INTERVAL.name}"
        )


def _config_error(message: str) -> GroupConfigError:
    return GroupConfigError(ErrorCode.INVALID_CONFIG, message)
