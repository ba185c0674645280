from __future__ import annotations

import re
from dataclasses import replace

import pytest

from group_coordinator.core.model.config import ConfigError, CoordinatorConfig
from group_coordinator.settings import load

KAFKAS = load().coordinator
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
    "group.consumer.session.timeout.ms": 2,
    "group.consumer.min.session.timeout.ms": 1,
    "group.consumer.max.session.timeout.ms": 2,
    "group.consumer.heartbeat.interval.ms": 1,
    "group.consumer.min.heartbeat.interval.ms": 1,
    "group.consumer.max.heartbeat.interval.ms": 1,
    "group.consumer.max.size": 1,
    "group.consumer.assignment.interval.ms": 0,
    "group.consumer.min.assignment.interval.ms": 0,
    "group.consumer.max.assignment.interval.ms": 0,
    "group.consumer.regex.refresh.interval.ms": 10_000,
}
"""A session is longer than a heartbeat interval, so that its lowest value is one more than the bound."""

IN_ORDER = ("session_timeout_ms", "heartbeat_interval_ms", "assignment_interval_ms")
WORDS = {
    "group_consumer_assignors",
    "group_consumer_migration_policy",
    "group_consumer_assignor_offload_enable",
}


LOW = {
    f"group_consumer_{bound}{name}": LOWEST[f"group.consumer.{bound}{name}".replace("_", ".")]
    for name in IN_ORDER
    for bound in ("", "min_", "max_")
}
"""Every setting that must be in order with others at its lowest."""


def with_setting(key: str, value: int) -> CoordinatorConfig:
    field = key.replace(".", "_")
    if field == "group_max_session_timeout_ms":
        return replace(KAFKAS, group_min_session_timeout_ms=1, **{field: value})
    if field.endswith(IN_ORDER) and field.startswith("group_consumer"):
        lowest = {name: value for name, value in LOW.items() if name != field}
        return replace(KAFKAS, **lowest | {field: value})
    return replace(KAFKAS, **{field: value})


def test_every_setting_has_a_bound() -> None:
    fields = [key.replace(".", "_") for key in LOWEST]

    assert fields == [name for name in CoordinatorConfig.__dataclass_fields__ if name not in WORDS]


@pytest.mark.parametrize(("key", "lowest"), LOWEST.items())
def test_the_lowest_value_is_fine(key: str, lowest: int) -> None:
    assert getattr(with_setting(key, lowest), key.replace(".", "_")) == lowest


@pytest.mark.parametrize(("key", "lowest"), LOWEST.items())
def test_a_lower_value_is_refused_by_name(key: str, lowest: int) -> None:
    lowest = 1 if key.endswith("session.timeout.ms") else lowest
    with pytest.raises(ConfigError) as refusal:
        with_setting(key, lowest - 1)

    assert str(refusal.value) == f"{key} = {lowest - 1}: must be at least {lowest}"
    assert (refusal.value.key, refusal.value.value) == (key, lowest - 1)


@pytest.mark.parametrize("name", IN_ORDER)
def test_settings_of_consumer_groups_lie_between_their_bounds(name: str) -> None:
    key = f"group.consumer.{name}".replace("_", ".")
    lowest, value, highest = (
        getattr(KAFKAS, f"group_consumer_{bound}{name}") for bound in ("min_", "", "max_")
    )
    for field, beyond in (
        (f"group_consumer_max_{name}", value - 1),
        (f"group_consumer_min_{name}", value + 1),
    ):
        with pytest.raises(ConfigError, match="must not exceed"):
            replace(KAFKAS, **{field: beyond})
    with pytest.raises(ConfigError, match=f"^{re.escape(key)} = {highest + 1}: must not exceed"):
        replace(KAFKAS, **{f"group_consumer_{name}": highest + 1})
    assert lowest <= value <= highest


def test_a_session_is_longer_than_a_heartbeat_interval() -> None:
    same = {
        "group_consumer_min_session_timeout_ms": 5_000,
        "group_consumer_session_timeout_ms": 5_000,
    }

    with pytest.raises(ConfigError, match="must be less than the session timeout"):
        replace(KAFKAS, **same)


@pytest.mark.parametrize("policy", ["disabled", "Upgrade", "DOWNGRADE", "bidirectional"])
def test_policies_are_words(policy: str) -> None:
    replace(KAFKAS, group_consumer_migration_policy=policy)

    with pytest.raises(ConfigError, match="must be one of disabled, upgrade"):
        replace(KAFKAS, group_consumer_migration_policy=f"{policy}!")


def test_assignors_are_a_list() -> None:
    swapped = replace(KAFKAS, group_consumer_assignors="range, uniform")
    assert swapped.assignors == ("range", "uniform")
    for wrong in ("", "range,range", "sticky"):
        with pytest.raises(ConfigError, match="must be a list, without repetition"):
            replace(KAFKAS, group_consumer_assignors=wrong)


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
