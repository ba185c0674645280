"""Settings of share and streams groups. What is answered was seen on Kafka 4.4.0 (tests/conformance/test_group_configs.py)."""

from __future__ import annotations

import pytest

from group_coordinator.core.group_configs import FOREIGN, LIMITS, GroupConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import ConfigRecord, Reason
from group_coordinator.core.model.requests import ConfigChange, ConfigOperation, DescribeConfigs
from group_coordinator.core.model.responses import (
    ConfigSource,
    ConfigType,
    DescribedConfig,
    DescribedSynonym,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core.group_settings import alter, deletion, described, setting

TAGS = "streams.rack.aware.assignment.tags"
RESET = "share.auto.offset.reset"
ISOLATION = "share.isolation.level"
RENEW = "share.renew.acknowledge.enable"
ASSIGNOR = "streams.assignor.name"
DEAD_LETTERS = "errors.deadletterqueue.topic.name"
TASK_OFFSETS = "streams.task.offset.interval.ms"
LAG = "streams.acceptable.recovery.lag"
OFFLOAD = "consumer.assignor.offload.enable"
SESSION = "consumer.session.timeout.ms"


def test_all_settings_are_listed_in_kafkas_order() -> None:
    found = [(config.name, config.value, config.type) for config in described(GroupDriver())]
    assert found == [
        ("consumer.session.timeout.ms", "45000", ConfigType.INT),
        ("streams.assignor.name", "sticky", ConfigType.STRING),
        ("consumer.assignment.interval.ms", "1000", ConfigType.INT),
        ("errors.deadletterqueue.copy.record.enable", "false", ConfigType.BOOLEAN),
        ("share.auto.offset.reset", "latest", ConfigType.STRING),
        ("streams.rack.aware.assignment.tags", "", ConfigType.LIST),
        ("share.renew.acknowledge.enable", "true", ConfigType.BOOLEAN),
        ("streams.initial.rebalance.delay.ms", "3000", ConfigType.INT),
        ("share.session.timeout.ms", "45000", ConfigType.INT),
        ("streams.assignment.interval.ms", "1000", ConfigType.INT),
        ("share.heartbeat.interval.ms", "5000", ConfigType.INT),
        ("streams.heartbeat.interval.ms", "5000", ConfigType.INT),
        ("share.delivery.count.limit", "5", ConfigType.INT),
        ("errors.deadletterqueue.topic.name", "", ConfigType.STRING),
        ("consumer.heartbeat.interval.ms", "5000", ConfigType.INT),
        ("share.record.lock.duration.ms", "30000", ConfigType.INT),
        ("share.assignment.interval.ms", "1000", ConfigType.INT),
        ("share.isolation.level", "read_uncommitted", ConfigType.STRING),
        ("streams.session.timeout.ms", "45000", ConfigType.INT),
        ("share.partition.max.record.locks", "2000", ConfigType.INT),
        ("streams.num.standby.replicas", "0", ConfigType.INT),
    ]


def test_internal_settings_are_listed_in_front_where_they_were_given_as_they_were_given() -> None:
    driver = GroupDriver()
    alter(driver, setting(LAG, "9223372036854775807"), setting(TASK_OFFSETS, " +60000 "))
    alter(driver, setting(OFFLOAD, "FALSE"))

    internal = described(driver)[:3]

    assert [(config.name, config.value, config.type) for config in internal] == [
        (OFFLOAD, "FALSE", ConfigType.BOOLEAN),
        (LAG, "9223372036854775807", ConfigType.LONG),
        (TASK_OFFSETS, " +60000 ", ConfigType.INT),
    ]
    assert described(driver, LAG, "nope") == (internal[1],)
    assert described(GroupDriver(), LAG) == ()


def test_where_a_value_comes_from() -> None:
    driver = GroupDriver()
    alter(driver, setting(TAGS, " rack , zone "), setting(RENEW, "FALSE"))

    assert described(driver, TAGS, RENEW, ASSIGNOR) == (
        DescribedConfig(
            name=ASSIGNOR,
            value="sticky",
            source=ConfigSource.DEFAULT_CONFIG,
            synonyms=(
                DescribedSynonym("group.streams.assignors", "sticky", ConfigSource.DEFAULT_CONFIG),
            ),
            documentation=None,
            type=ConfigType.STRING,
        ),
        DescribedConfig(
            name=TAGS,
            value="rack,zone",
            source=ConfigSource.GROUP_CONFIG,
            synonyms=(
                DescribedSynonym(TAGS, "rack,zone", ConfigSource.GROUP_CONFIG),
                DescribedSynonym(f"group.{TAGS}", "", ConfigSource.DEFAULT_CONFIG),
            ),
            documentation=None,
            type=ConfigType.LIST,
        ),
        DescribedConfig(
            name=RENEW,
            value="false",
            source=ConfigSource.GROUP_CONFIG,
            synonyms=(
                DescribedSynonym(RENEW, "false", ConfigSource.GROUP_CONFIG),
                DescribedSynonym(RENEW, "true", ConfigSource.DEFAULT_CONFIG),
            ),
            documentation=None,
            type=ConfigType.BOOLEAN,
        ),
    )


def test_each_setting_is_explained_to_who_asks() -> None:
    request = DescribeConfigs("g", (), wants_synonyms=False, wants_documentation=True)
    configs = GroupDriver().send(request, 4).response.configs
    assert all(config.documentation for config in configs)


@pytest.mark.parametrize("definition", FOREIGN, ids=lambda definition: definition.name)
def test_every_default_may_be_set_and_deleted(definition: GroupConfig) -> None:
    driver = GroupDriver()
    name, default = definition.name, definition.default
    assert alter(driver, setting(name, default)).records == (
        ConfigRecord(name, default, Reason.CONFIG),
    )
    assert alter(driver, deletion(name)).records == (ConfigRecord(name, None, Reason.CONFIG),)


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        (RESET, " earliest ", "earliest"),
        (RESET, "by_duration:pt1h\n", "by_duration:pt1h"),
        (RESET, "by_duration:PT0S", "by_duration:PT0S"),
        (RESET, "by_duration:-PT-1H", "by_duration:-PT-1H"),
        (ISOLATION, "read_committed", "read_committed"),
        (ASSIGNOR, " sticky ", "sticky"),
        (DEAD_LETTERS, " any/thing ", "any/thing"),
        (DEAD_LETTERS, "None", "None"),
        (TAGS, " a \t,\n b ", "a,b"),
        (TAGS, "a\u00a0,b", "a\u00a0,b"),
        (TAGS, " ", ""),
        ("streams.initial.rebalance.delay.ms", "2147483647", "2147483647"),
        ("streams.assignment.interval.ms", "0" * 5000 + "7", "7"),
    ],
)
def test_texts_that_stand_for_a_value(name: str, text: str, value: str) -> None:
    driver = GroupDriver()
    assert alter(driver, setting(name, text)).response.error is ErrorCode.NONE
    assert driver.group.configs == {name: value}


@pytest.mark.parametrize("name", LIMITS)
def test_numbers_have_limits(name: str) -> None:
    lowest, highest = LIMITS[name]
    fine = [limit for limit in (lowest, highest) if limit is not None]
    beyond = [
        *([] if lowest is None else [lowest - 1]),
        *([] if highest is None else [highest + 1]),
    ]
    for value in fine:
        assert alter(GroupDriver(), setting(name, str(value))).response.error is ErrorCode.NONE
    for value in beyond:
        refusal = alter(GroupDriver(), setting(name, str(value))).response
        assert refusal.error is ErrorCode.INVALID_CONFIG


def not_a_reset(value: str) -> str:
    return (
        f"Invalid value {value} for configuration {RESET}: Invalid value `{value}` for configuration {RESET}. "
        "The value must be either 'earliest', 'latest' or of the format 'by_duration:<PnDTnHnMn.nS>'."
    )


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (
            "share.session.timeout.ms",
            "60001",
            "{name} must be in the range 45000 to 60000 inclusive.",
        ),
        ("streams.num.standby.replicas", "3", "{name} must be less than or equal to 2"),
        (TASK_OFFSETS, "14999", "{name} must be greater than or equal to 15000"),
        (
            "share.record.lock.duration.ms",
            "999",
            "Invalid value 999 for configuration {name}: Value must be at least 1000",
        ),
        (LAG, " x ", "Invalid value  x  for configuration {name}: Not a number of type LONG"),
        (
            RENEW,
            "no",
            "Invalid value no for configuration {name}: Expected value to be either true or false",
        ),
        *((RESET, text, not_a_reset(text)) for text in ("", "none", "LATEST", "by_duration")),
        *((RESET, text, not_a_reset(text)) for text in ("by_duration:x", "by_duration:-PT1H")),
        (
            ISOLATION,
            " x ",
            "Invalid value x for configuration {name}: String must be one of: read_committed, read_uncommitted",
        ),
        (
            ASSIGNOR,
            " x ",
            "{name} 'x' is not a registered task assignor. Registered assignors are: [sticky].",
        ),
        (DEAD_LETTERS, " __x", "{name}: DLQ topic name must not start with '__'"),
        (TAGS, "a, a", "{name} must not contain duplicate tag keys."),
        (TAGS, ",", "{name} must not contain duplicate tag keys."),
        (TAGS, "a,,b", "Configuration '{name}' values must not be empty."),
        ("streams.num.warmup.replicas", "9" * 5000, None),
    ],
)
def test_a_value_is_refused(name: str, text: str, message: str | None) -> None:
    refusal = alter(GroupDriver(), setting(name, text)).response
    assert refusal.error is ErrorCode.INVALID_CONFIG
    assert message is None or refusal.error_message == message.format(name=name)


@pytest.mark.parametrize("operation", [ConfigOperation.APPEND, ConfigOperation.SUBTRACT])
def test_nothing_is_added_to_a_list(operation: ConfigOperation) -> None:
    refusal = alter(GroupDriver(), ConfigChange(TAGS, operation, "a")).response
    assert refusal.error_message == (
        f"Can't {operation.name} to key {TAGS} because its type is not LIST."
    )


def test_of_several_faults_kafkas_first_one_is_named() -> None:
    """Names, the tags' duplicates, texts, limits, the assignor, the topic's name."""
    faults = {
        "nope": "Unknown group config name: nope",
        TAGS: f"{TAGS} must not contain duplicate tag keys.",
        SESSION: f"Invalid value a,a for configuration {SESSION}: Not a number of type INT",
        OFFLOAD: f"Invalid value a,a for configuration {OFFLOAD}: Expected value to be either true or false",
        LAG: f"Invalid value a,a for configuration {LAG}: Not a number of type LONG",
        ASSIGNOR: f"{ASSIGNOR} 'a,a' is not a registered task assignor. Registered assignors are: [sticky].",
    }
    while faults:
        refusal = alter(GroupDriver(), *(setting(name, "a,a") for name in faults)).response
        assert refusal.error_message == faults.pop(next(iter(faults)))


def test_limits_are_checked_in_kafkas_order() -> None:
    too_high = {name: "99999" for name, (_, highest) in LIMITS.items() if highest is not None}
    too_high = {"consumer.heartbeat.interval.ms": "99999", SESSION: "99999", **too_high}
    while too_high:
        changes = [setting(name, value) for name, value in reversed(too_high.items())]
        message = alter(GroupDriver(), *changes).response.error_message
        assert message is not None
        assert message.startswith(next(iter(too_high)))
        too_high.pop(next(iter(too_high)))
