from __future__ import annotations

from dataclasses import replace

import pytest

from group_coordinator.core.config import ConfigError, CoordinatorConfig

KAFKAS = CoordinatorConfig(
    offsets_retention_minutes=10_080,
    offsets_retention_ms=-1,
    offsets_retention_check_interval_ms=600_000,
    offset_metadata_max_bytes=4_096,
    group_min_session_timeout_ms=6_000,
    group_max_session_timeout_ms=1_800_000,
    group_initial_rebalance_delay_ms=3_000,
    group_max_size=2_147_483_647,
    group_max_offsets=100_000,
    event_max_bytes=1_048_576,
    group_consumer_session_timeout_ms=45_000,
    group_consumer_min_session_timeout_ms=45_000,
    group_consumer_max_session_timeout_ms=60_000,
    group_consumer_heartbeat_interval_ms=5_000,
    group_consumer_min_heartbeat_interval_ms=5_000,
    group_consumer_max_heartbeat_interval_ms=15_000,
    group_consumer_max_size=2_147_483_647,
    group_consumer_assignors="uniform,range",
    group_consumer_migration_policy="bidirectional",
    group_consumer_assignment_interval_ms=1_000,
    group_consumer_min_assignment_interval_ms=0,
    group_consumer_max_assignment_interval_ms=15_000,
    group_consumer_assignor_offload_enable=True,
    group_consumer_regex_refresh_interval_ms=600_000,
)
LOWEST = {
    "offsets.retention.minutes": 1,
    "offsets.retention.ms": -1,
    "offsets.retention.check.interval.ms": 1,
    "offset.metadata.max.bytes": 0,
    "group.min.session.timeout.ms": 1,
    "group.max.session.timeout.ms": 1,
    "group.initial.rebalance.delay.ms": 0,
    "group.max.size": 1,
    "group.max.offsets": 1,
    "event.max.bytes": 1,
}


def with_setting(key: str, value: int) -> CoordinatorConfig:
    field = key.replace(".", "_")
    if field == "group_max_session_timeout_ms":
        return replace(KAFKAS, group_min_session_timeout_ms=1, **{field: value})
    return replace(KAFKAS, **{field: value})


def test_every_setting_has_a_bound() -> None:
    fields = [key.replace(".", "_") for key in LOWEST]

    assert fields == list(CoordinatorConfig.__dataclass_fields__)


@pytest.mark.parametrize(("key", "lowest"), LOWEST.items())
def test_the_lowest_value_is_fine(key: str, lowest: int) -> None:
    assert getattr(with_setting(key, lowest), key.replace(".", "_")) == lowest


@pytest.mark.parametrize(("key", "lowest"), LOWEST.items())
def test_a_lower_value_is_refused_by_name(key: str, lowest: int) -> None:
    with pytest.raises(ConfigError) as refusal:
        with_setting(key, lowest - 1)

    assert str(refusal.value) == f"{key} = {lowest - 1}: must be at least {lowest}"
    assert (refusal.value.key, refusal.value.value) == (key, lowest - 1)


def test_an_event_may_not_be_longer_than_what_travels() -> None:
    assert replace(KAFKAS, event_max_bytes=1_048_576).event_max_bytes == 1_048_576

    with pytest.raises(
        ConfigError, match=r"^event\.max\.bytes = 1048577: must be at most 1048576$"
    ):
        replace(KAFKAS, event_max_bytes=1_048_577)


def test_the_bounds_of_session_timeouts_must_be_in_order() -> None:
    same = replace(KAFKAS, group_min_session_timeout_ms=1_800_000)
    assert same.group_min_session_timeout_ms == same.group_max_session_timeout_ms

    message = (
        r"^group\.min\.session\.timeout\.ms = 1800001: "
        r"must not exceed group\.max\.session\.timeout\.ms = 1800000$"
    )
    with pytest.raises(ConfigError, match=message):
        replace(KAFKAS, group_min_session_timeout_ms=1_800_001)


@pytest.mark.parametrize(
    ("minutes", "milliseconds", "retention_ms"),
    [(10_080, -1, 604_800_000), (1, -1, 60_000), (1, 59_999, 59_999), (10_080, 0, 0)],
)
def test_milliseconds_win_over_minutes(minutes: int, milliseconds: int, retention_ms: int) -> None:
    config = replace(KAFKAS, offsets_retention_minutes=minutes, offsets_retention_ms=milliseconds)

    assert config.retention_ms == retention_ms
