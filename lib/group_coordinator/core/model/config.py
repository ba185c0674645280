"""The coordinator's settings under Kafka's names. conf/coordinator.toml has the defaults."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, TypeAlias, get_origin, get_type_hints

from msgspec import Meta

# A client without a response cannot send heartbeats, so its session would end in a long join phase.
NEW_MEMBER_JOIN_TIMEOUT_MS = 300_000
"""A constant in Kafka: the longest wait of a member without any response in a join phase."""

HIGHEST_EVENT_MAX_BYTES = 1024 * 1024
"""Hundreds of events are in memory at once, outside the heap of Spark (streaming/session.py)."""

Positive: TypeAlias = Annotated[int, Meta(ge=1)]
NotNegative: TypeAlias = Annotated[int, Meta(ge=0)]

# Each name stands for three settings: the default, the lowest and the highest value of a group.
_CONSUMER_RANGES = ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms")
"""Settings of consumer groups between two others, which limit the configuration of a single group."""

MIGRATION_POLICIES = ("disabled", "upgrade", "downgrade", "bidirectional")
BUILTIN_ASSIGNORS = ("uniform", "range")
"""The available server-side assignors (core/assignors)."""


class ConfigError(ValueError):
    """A setting has a value that Kafka rejects."""

    def __init__(self, key: str, value: object, why: str) -> None:
        super().__init__(f"{key} = {value}: {why}")
        self.key = key
        self.value = value


@dataclass(frozen=True, slots=True)
class CoordinatorConfig:
    """Settings of the state machine. Field names are Kafka's keys, and our own for limits, with underscores.

    Raises ConfigError: a value is out of its bounds.
    """

    offsets_retention_minutes: Positive
    offsets_retention_ms: Annotated[int, Meta(ge=-1)]
    offsets_retention_check_interval_ms: Positive
    offset_metadata_max_bytes: NotNegative
    group_min_session_timeout_ms: Positive
    group_max_session_timeout_ms: Positive
    group_initial_rebalance_delay_ms: NotNegative
    group_max_size: Positive
    group_max_offsets: Positive
    event_max_bytes: Annotated[int, Meta(ge=1, le=HIGHEST_EVENT_MAX_BYTES)]
    group_consumer_session_timeout_ms: Positive
    group_consumer_min_session_timeout_ms: Positive
    group_consumer_max_session_timeout_ms: Positive
    group_consumer_heartbeat_interval_ms: Positive
    group_consumer_min_heartbeat_interval_ms: Positive
    group_consumer_max_heartbeat_interval_ms: Positive
    group_consumer_max_size: Positive
    group_consumer_assignors: str
    group_consumer_migration_policy: str
    group_consumer_assignment_interval_ms: NotNegative
    group_consumer_min_assignment_interval_ms: NotNegative
    group_consumer_max_assignment_interval_ms: NotNegative
    group_consumer_assignor_offload_enable: bool
    group_consumer_regex_refresh_interval_ms: Annotated[int, Meta(ge=10_000)]

    def __post_init__(self) -> None:
        for field, bounds in BOUNDS.items():
            self._check_bounds(field, bounds)
        # Kafka does not start with contradicting settings either.
        self._check_order("group_min_session_timeout_ms", "group_max_session_timeout_ms")
        for name in _CONSUMER_RANGES:
            setting = f"group_consumer_{name}"
            self._check_order(f"group_consumer_min_{name}", f"group_consumer_max_{name}")
            self._check_order(f"group_consumer_min_{name}", setting)
            self._check_order(setting, f"group_consumer_max_{name}")
        self._check_words()

    def _check_bounds(self, field: str, bounds: Meta) -> None:
        value: int = getattr(self, field)
        if bounds.ge is not None and value < bounds.ge:
            raise ConfigError(key_of(field), value, f"must be at least {bounds.ge}")
        if bounds.le is not None and value > bounds.le:
            raise ConfigError(key_of(field), value, f"must be at most {bounds.le}")

    def _check_order(self, lower: str, upper: str) -> None:
        low, high = getattr(self, lower), getattr(self, upper)
        if low > high:
            raise ConfigError(key_of(lower), low, f"must not exceed {key_of(upper)} = {high}")

    def _check_words(self) -> None:
        if self.group_consumer_heartbeat_interval_ms >= self.group_consumer_session_timeout_ms:
            why = "must be less than the session timeout"
            value_ms = self.group_consumer_heartbeat_interval_ms
            raise ConfigError("group.consumer.heartbeat.interval.ms", value_ms, why)
        policy = self.group_consumer_migration_policy
        if policy.lower() not in MIGRATION_POLICIES:
            why = f"must be one of {', '.join(MIGRATION_POLICIES)}"
            raise ConfigError("group.consumer.migration.policy", policy, why)
        names = self.assignors
        if len(set(names)) < len(names) or not set(names) <= set(BUILTIN_ASSIGNORS):
            why = f"must be a list, without repetition, of {', '.join(BUILTIN_ASSIGNORS)}"
            raise ConfigError("group.consumer.assignors", self.group_consumer_assignors, why)

    @property
    def assignors(self) -> tuple[str, ...]:
        """The server-side assignors that members may request, by name. The first is the default."""
        return tuple(name.strip() for name in self.group_consumer_assignors.split(","))

    @property
    def retention_ms(self) -> int:
        """The retention time of offsets. Milliseconds precede minutes if both are set."""
        if self.offsets_retention_ms >= 0:
            return self.offsets_retention_ms
        return self.offsets_retention_minutes * 60_000


def key_of(field: str) -> str:
    return field.replace("_", ".")


BOUNDS: Mapping[str, Meta] = MappingProxyType(
    {
        field: hint.__metadata__[0]
        for field, hint in get_type_hints(CoordinatorConfig, include_extras=True).items()
        if get_origin(hint) is Annotated
    }
)
"""The bounds of each number, by its field."""
