"""The coordinator's settings under Kafka's names. Defaults live in conf/coordinator.toml."""

from __future__ import annotations

from dataclasses import dataclass

NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""A constant in Kafka: how long a member that never got an answer may wait in a join phase."""

HIGHEST_EVENT_MAX_BYTES = 1024 * 1024
"""Hundreds of events are in memory at once, outside the heap of Spark (streaming/session.py)."""

_LOWEST = {
    "offsets_retention_minutes": 1,
    "offsets_retention_ms": -1,
    "offsets_retention_check_interval_ms": 1,
    "offset_metadata_max_bytes": 0,
    "group_min_session_timeout_ms": 1,
    "group_max_session_timeout_ms": 1,
    "group_initial_rebalance_delay_ms": 0,
    "group_max_size": 1,
    "group_max_offsets": 1,
    "event_max_bytes": 1,
}


class ConfigError(ValueError):
    """A setting has a value that Kafka would refuse."""

    def __init__(self, key: str, value: object, why: str) -> None:
        super().__init__(f"{key} = {value}: {why}")
        self.key = key
        self.value = value


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """Settings of the state machine; field names are Kafka's keys, and ours for limits, with underscores.

    Raises:
        ConfigError: a value is out of its bounds.
    """

    offsets_retention_minutes: int
    offsets_retention_ms: int
    offsets_retention_check_interval_ms: int
    offset_metadata_max_bytes: int
    group_min_session_timeout_ms: int
    group_max_session_timeout_ms: int
    group_initial_rebalance_delay_ms: int
    group_max_size: int
    group_max_offsets: int
    event_max_bytes: int

    def __post_init__(self) -> None:
        for field, lowest in _LOWEST.items():
            value = getattr(self, field)
            if value < lowest:
                raise ConfigError(field.replace("_", "."), value, f"must be at least {lowest}")
        if self.event_max_bytes > HIGHEST_EVENT_MAX_BYTES:
            why = f"must be at most {HIGHEST_EVENT_MAX_BYTES}"
            raise ConfigError("event.max.bytes", self.event_max_bytes, why)
        if self.group_min_session_timeout_ms > self.group_max_session_timeout_ms:
            raise ConfigError(
                "group.min.session.timeout.ms",
                self.group_min_session_timeout_ms,
                f"must not exceed group.max.session.timeout.ms = {self.group_max_session_timeout_ms}",
            )

    @property
    def retention_ms(self) -> int:
        """How long offsets outlive their group's activity; milliseconds win over minutes where both are set."""
        if self.offsets_retention_ms >= 0:
            return self.offsets_retention_ms
        return self.offsets_retention_minutes * 60_000
