"""Settings of one group. What is answered was seen on Kafka 4.4.0 (tests/conformance/test_group_configs.py)."""

from __future__ import annotations

from dataclasses import fields

import pytest

from group_coordinator.core import group_configs
from group_coordinator.core.group_configs import GROUP_CONFIGS
from group_coordinator.core.model.config import CoordinatorConfig, key_of
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import ConfigRecord, Reason
from group_coordinator.core.model.requests import ConfigChange, ConfigOperation, DescribeConfigs
from group_coordinator.core.model.responses import (
    AlterConfigsResponse,
    ConfigSource,
    ConfigType,
    DescribedConfig,
    DescribedSynonym,
)
from group_coordinator.settings import load
from group_coordinator.testing import GroupDriver
from tests.unit.core.group_settings import alter, deletion, described, setting

SESSION = "consumer.session.timeout.ms"
HEARTBEAT = "consumer.heartbeat.interval.ms"
INTERVAL = "consumer.assignment.interval.ms"
RETENTION = "offsets.retention.ms"
OFFLOAD = "consumer.assignor.offload.enable"


def of_consumer_groups(driver: GroupDriver) -> list[DescribedConfig]:
    return [config for config in described(driver) if config.name.startswith("consumer.")]


def test_a_group_without_settings_has_the_coordinators() -> None:
    driver = GroupDriver()
    found = [(config.name, config.value, config.source) for config in of_consumer_groups(driver)]
    assert found == [
        (SESSION, "45000", ConfigSource.DEFAULT_CONFIG),
        (INTERVAL, "1000", ConfigSource.DEFAULT_CONFIG),
        (HEARTBEAT, "5000", ConfigSource.DEFAULT_CONFIG),
    ]
    assert group_configs.session_timeout_ms(driver.group, driver.config) == 45_000
    assert group_configs.heartbeat_interval_ms(driver.group, driver.config) == 5_000
    assert group_configs.assignment_interval_ms(driver.group, driver.config) == 1_000


def test_kafkas_defaults_are_ours() -> None:
    config = load().coordinator
    ours = {key_of(field.name) for field in fields(CoordinatorConfig)}
    shared = [definition for definition in GROUP_CONFIGS.values() if definition.broker_name in ours]
    names = [definition.name for definition in shared]
    assert names == [SESSION, HEARTBEAT, INTERVAL, OFFLOAD, RETENTION]
    for definition in shared:
        assert group_configs.coordinators_own(definition, config) == definition.default


def test_a_retention_of_its_own_is_listed_by_a_group_that_has_one_alone() -> None:
    driver = GroupDriver(offsets_retention_ms=60_000)
    assert RETENTION not in [config.name for config in described(driver)]

    alter(driver, setting(RETENTION, "1000"))
    *kafkas, retention = described(driver)

    assert kafkas == [*described(GroupDriver(offsets_retention_ms=60_000))]
    assert retention == DescribedConfig(
        name=RETENTION,
        value="1000",
        source=ConfigSource.GROUP_CONFIG,
        synonyms=(
            DescribedSynonym(RETENTION, "1000", ConfigSource.GROUP_CONFIG),
            DescribedSynonym(RETENTION, "60000", ConfigSource.STATIC_BROKER_CONFIG),
            DescribedSynonym("offsets.retention.minutes", "10080", ConfigSource.DEFAULT_CONFIG),
        ),
        documentation=None,
        type=ConfigType.LONG,
    )


@pytest.mark.parametrize(
    ("settings", "value_ms", "source", "synonym"),
    [
        ({}, "604800000", ConfigSource.DEFAULT_CONFIG, ("offsets.retention.minutes", "10080")),
        (
            {"offsets_retention_minutes": 1},
            "60000",
            ConfigSource.STATIC_BROKER_CONFIG,
            ("offsets.retention.minutes", "1"),
        ),
        (
            {"offsets_retention_minutes": 1, "offsets_retention_ms": 0},
            "0",
            ConfigSource.STATIC_BROKER_CONFIG,
            (RETENTION, "0"),
        ),
    ],
)
def test_who_asks_for_the_retention_of_a_group_without_one_gets_the_coordinators(
    settings: dict[str, int], value_ms: str, source: ConfigSource, synonym: tuple[str, str]
) -> None:
    driver = GroupDriver(**settings)

    [retention] = described(driver, RETENTION)

    assert (retention.value, retention.source) == (value_ms, source)
    assert retention.synonyms[0] == DescribedSynonym(*synonym, source)


def test_a_setting_is_made_and_deleted() -> None:
    driver = GroupDriver()
    changed = alter(driver, setting(SESSION, " +50000 "), setting(INTERVAL, "0"))
    assert changed.response == AlterConfigsResponse(ErrorCode.NONE, None, "g")
    assert changed.records == (
        ConfigRecord(SESSION, "50000", Reason.CONFIG),
        ConfigRecord(INTERVAL, "0", Reason.CONFIG),
    )
    assert group_configs.session_timeout_ms(driver.group, driver.config) == 50_000
    assert group_configs.assignment_interval_ms(driver.group, driver.config) == 0
    assert described(driver, SESSION) == (
        DescribedConfig(
            name=SESSION,
            value="50000",
            source=ConfigSource.GROUP_CONFIG,
            synonyms=(
                DescribedSynonym(SESSION, "50000", ConfigSource.GROUP_CONFIG),
                DescribedSynonym(f"group.{SESSION}", "45000", ConfigSource.DEFAULT_CONFIG),
            ),
            documentation=None,
        ),
    )
    assert alter(driver, setting(SESSION, "50000")).records == ()
    assert alter(driver, deletion(SESSION), deletion("nope")).records == (
        ConfigRecord(SESSION, None, Reason.CONFIG),
    )
    assert driver.group.configs == {INTERVAL: "0"}


def test_who_only_asks_changes_nothing() -> None:
    driver = GroupDriver()
    asked = alter(driver, setting(SESSION, "50000"), validates_only=True)
    assert asked.response.error is ErrorCode.NONE
    assert asked.records == ()
    assert driver.group.configs == {}
    refused = alter(driver, setting(SESSION, "1"), validates_only=True)
    assert refused.response.error is ErrorCode.INVALID_CONFIG


def test_settings_outlive_the_group_and_the_log_brings_them_back() -> None:
    driver = GroupDriver()
    alter(driver, setting(SESSION, "50000"))
    driver.commit({"orders": {0: 1}})
    driver.delete()
    assert driver.group.membership is None
    assert not driver.group.is_forgotten
    assert driver.rebuilt().configs == {SESSION: "50000"}
    alter(driver, deletion(SESSION))
    assert driver.group.is_forgotten
    assert driver.rebuilt().is_forgotten


def test_settings_beyond_new_bounds_count_as_the_nearer_bound() -> None:
    driver = GroupDriver()
    alter(driver, setting(SESSION, "60000"), setting(HEARTBEAT, "5000"))
    later = GroupDriver(
        group_consumer_max_session_timeout_ms=50_000,
        group_consumer_heartbeat_interval_ms=7_000,
        group_consumer_min_heartbeat_interval_ms=6_000,
    )
    later.group = driver.group
    assert group_configs.session_timeout_ms(later.group, later.config) == 50_000
    assert group_configs.heartbeat_interval_ms(later.group, later.config) == 6_000
    # They are shown as they were set, and whoever changes another one has to put them right.
    assert [config.value for config in described(later, SESSION, HEARTBEAT)] == ["60000", "5000"]
    refusal = alter(later, setting(INTERVAL, "2000")).response
    assert refusal.error_message == (f"{HEARTBEAT} must be in the range 6000 to 15000 inclusive.")
    fine = alter(later, setting(INTERVAL, "2000"), deletion(HEARTBEAT), deletion(SESSION))
    assert fine.response.error is ErrorCode.NONE


def test_a_value_that_the_coordinator_was_told_is_its_static_configuration() -> None:
    driver = GroupDriver(group_consumer_session_timeout_ms=50_000)
    [session] = described(driver, SESSION)
    assert (session.value, session.source) == ("50000", ConfigSource.STATIC_BROKER_CONFIG)
    assert session.synonyms == (
        DescribedSynonym(f"group.{SESSION}", "50000", ConfigSource.STATIC_BROKER_CONFIG),
        DescribedSynonym(f"group.{SESSION}", "45000", ConfigSource.DEFAULT_CONFIG),
    )


def test_a_group_needs_a_name() -> None:
    driver = GroupDriver("")
    answer = driver.send(
        DescribeConfigs("", (), wants_synonyms=False, wants_documentation=False), 4
    ).response
    assert (answer.error, answer.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Group name must not be empty",
    )
    assert answer.configs == ()
    refusal = alter(driver, setting(SESSION, "50000")).response
    assert refusal.error_message == "Default group resources are not allowed."


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ([setting("nope", "1"), setting("a", "1")], 40, "Unknown group config name: a"),
        (
            [setting(SESSION, "abc")],
            40,
            f"Invalid value abc for configuration {SESSION}: Not a number of type INT",
        ),
        (
            [setting(SESSION, "99999999999")],
            40,
            f"Invalid value 99999999999 for configuration {SESSION}: Not a number of type INT",
        ),
        (
            [setting(SESSION, "0")],
            40,
            f"Invalid value 0 for configuration {SESSION}: Value must be at least 1",
        ),
        (
            [setting(SESSION, "44999")],
            40,
            f"{SESSION} must be in the range 45000 to 60000 inclusive.",
        ),
        (
            [setting(HEARTBEAT, "15001")],
            40,
            f"{HEARTBEAT} must be in the range 5000 to 15000 inclusive.",
        ),
        (
            [ConfigChange(SESSION, ConfigOperation.APPEND, "1")],
            40,
            f"Can't APPEND to key {SESSION} because its type is not LIST.",
        ),
        (
            [ConfigChange(RETENTION, ConfigOperation.SUBTRACT, "1")],
            40,
            f"Can't SUBTRACT to key {RETENTION} because its type is not LIST.",
        ),
        (
            [ConfigChange("nope", ConfigOperation.SUBTRACT, "1")],
            40,
            "Can't SUBTRACT to key nope because its type is not LIST.",
        ),
        ([ConfigChange(SESSION, 7, "1")], -1, None),
        (
            [setting(SESSION, "50000"), deletion(SESSION)],
            42,
            "Error due to duplicate config keys",
        ),
        (
            [setting(SESSION, None), setting(HEARTBEAT, None)],
            42,
            f"Null value not supported for : {SESSION}, {HEARTBEAT}",
        ),
    ],
)
def test_a_change_is_refused_as_a_whole(
    changes: list[ConfigChange], error: int, message: str | None
) -> None:
    driver = GroupDriver()
    refusal = alter(driver, setting(INTERVAL, "2000"), *changes)
    assert (refusal.response.error, refusal.response.error_message) == (error, message)
    assert refusal.records == ()


def test_the_session_must_be_longer_than_the_heartbeat_interval() -> None:
    driver = GroupDriver(
        group_consumer_min_session_timeout_ms=5_000, group_consumer_session_timeout_ms=10_000
    )
    refusal = alter(driver, setting(SESSION, "5000")).response
    assert refusal.error_message == f"{SESSION} must be greater than {HEARTBEAT}"
    assert alter(driver, setting(SESSION, "5001")).response.error is ErrorCode.NONE
