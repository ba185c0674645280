"""Whether a group may have the settings that it would have.

Source: GroupConfig.validate in Kafka 4.4; the first of several faults is the one that Kafka names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from group_coordinator.core.group_configs.definitions import (
    ASSIGNMENT_INTERVAL,
    GROUP_CONFIGS,
    HEARTBEAT_INTERVAL,
    SESSION_TIMEOUT,
)
from group_coordinator.core.group_configs.foreign import (
    ASSIGNMENT_TAGS,
    DEAD_LETTER_TOPIC,
    LIMITS,
    TASK_ASSIGNOR,
)
from group_coordinator.core.group_configs.in_effect import coordinators_own, limits
from group_coordinator.core.group_configs.texts import GroupConfigError, entries, shown
from group_coordinator.core.kafka_order.java_tables import new_hash_map_order
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode

_INTERNAL_TOPICS = "__"


def check(configs: Mapping[str, str], config: CoordinatorConfig) -> None:
    """Whether a group may have these settings, together with the coordinator's where it has none.

    Settings that were valid once are refused if the coordinator's bounds have changed since.

    Raises:
        GroupConfigError: INVALID_CONFIG.
    """
    for name in new_hash_map_order(configs):
        if name not in GROUP_CONFIGS:
            raise _refusal(f"Unknown group config name: {name}")
    tags = entries(configs.get(ASSIGNMENT_TAGS.name, ""))
    if len(set(tags)) < len(tags):
        raise _refusal(f"{ASSIGNMENT_TAGS.name} must not contain duplicate tag keys.")
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
        raise _refusal(f"{DEAD_LETTER_TOPIC.name}: {message}")


def _limits(config: CoordinatorConfig) -> Iterator[tuple[str, int | None, int | None]]:
    for definition in (HEARTBEAT_INTERVAL, SESSION_TIMEOUT, ASSIGNMENT_INTERVAL):
        yield definition.name, *limits(definition, config)
    for name, bounds in LIMITS.items():
        yield name, *bounds


def _check_limits(name: str, value: int, lowest: int | None, highest: int | None) -> None:
    if (lowest is None or lowest <= value) and (highest is None or value <= highest):
        return
    if lowest is None:
        raise _refusal(f"{name} must be less than or equal to {highest}")
    if highest is None:
        raise _refusal(f"{name} must be greater than or equal to {lowest}")
    raise _refusal(f"{name} must be in the range {lowest} to {highest} inclusive.")


def _check_assignor(name: str) -> None:
    known = TASK_ASSIGNOR.default
    if name != known:
        why = f"is not a registered task assignor. Registered assignors are: [{known}]."
        raise _refusal(f"{TASK_ASSIGNOR.name} '{name}' {why}")


def _check_session(values: Mapping[str, str], config: CoordinatorConfig) -> None:
    """A session must be longer than the interval of heartbeats, where the group has a value of its own for either."""
    if not values.keys() & {SESSION_TIMEOUT.name, HEARTBEAT_INTERVAL.name}:
        return
    session_ms, heartbeat_ms = (
        int(values.get(definition.name, coordinators_own(definition, config)))
        for definition in (SESSION_TIMEOUT, HEARTBEAT_INTERVAL)
    )
    if session_ms <= heartbeat_ms:
        raise _refusal(f"{SESSION_TIMEOUT.name} must be greater than {HEARTBEAT_INTERVAL.name}")


def _refusal(message: str) -> GroupConfigError:
    return GroupConfigError(ErrorCode.INVALID_CONFIG, message)
