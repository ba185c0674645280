"""Group configurations: their definition, and the value in effect: the group's own within the coordinator's bounds, else its setting.

A group with configurations need not exist. OFFSETS_RETENTION is our own: KIP-211 leaves retention by group to a later KIP. Those of
share and streams groups are stored and shown without effect, with Kafka's own defaults and limits: there are no such groups here.
Source: GroupConfig, GroupConfigManager, GroupCoordinatorConfig and ShareGroupConfig in Kafka 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from group_coordinator.core.kafka_order import hash_map_order, string_spot
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.responses import ConfigType
from group_coordinator.core.value import Value


class GroupConfig(Value, frozen=True):
    """A group configuration. `default` is Kafka's, except for OFFSETS_RETENTION."""

    name: str
    type: ConfigType
    default: str
    """The default of the broker's setting, in its unit, in the form that is shown."""
    documentation: str
    """The description. All other fields are compared with Kafka in tests."""
    broker_name: str
    """The broker's setting for groups without this configuration; without such a setting, Kafka uses the configuration's name."""
    least: int | None = None
    """The lowest number, independent of the broker's settings."""
    is_internal: bool = False
    """True: listed only for a group that has a value of its own, and with its original text."""
    taken_back_by: str | None = None
    """A value, in the form that is shown, that removes the configuration; None: there is no such value."""


def _number(
    name: str, default: str, documentation: str, *, least: int, is_internal: bool = False
) -> GroupConfig:
    # The setting of the broker has the name of the configuration after `group.`.
    return GroupConfig(
        name=name,
        type=ConfigType.INT,
        default=default,
        documentation=documentation,
        broker_name=f"group.{name}",
        least=least,
        is_internal=is_internal,
    )


OFFSET_RESET = GroupConfig(
    "share.auto.offset.reset",
    ConfigType.STRING,
    "latest",
    "The start offset of a partition that the group has not read yet: `earliest`, `latest`, or "
    "`by_duration:` and an ISO 8601 duration (`by_duration:PT1H` is an hour ago).",
    "share.auto.offset.reset",
)
ISOLATION_LEVEL = GroupConfig(
    "share.isolation.level",
    ConfigType.STRING,
    "read_uncommitted",
    "Whether members get records of open and aborted transactions (`read_uncommitted`) or not "
    "(`read_committed`).",
    "share.isolation.level",
)
ASSIGNMENT_TAGS = GroupConfig(
    "streams.rack.aware.assignment.tags",
    ConfigType.LIST,
    "",
    "Client tags, such as `zone`, whose values should differ among the clients that hold "
    "copies of one task.",
    "group.streams.rack.aware.assignment.tags",
)
TASK_ASSIGNOR = GroupConfig(
    "streams.assignor.name",
    ConfigType.STRING,
    "sticky",
    "The task assignor of the group, by its short name.",
    "group.streams.assignors",
)
DEAD_LETTER_TOPIC = GroupConfig(
    "errors.deadletterqueue.topic.name",
    ConfigType.STRING,
    "",
    "The topic that gets the records which the share group gives up; empty: none.",
    "errors.deadletterqueue.topic.name",
)
_SHARE = (
    _number(
        "share.session.timeout.ms",
        "45000",
        "How long a member of a share group may be silent before the group removes it.",
        least=1,
    ),
    _number(
        "share.heartbeat.interval.ms",
        "5000",
        "How often each member of a share group sends a heartbeat.",
        least=1,
    ),
    _number(
        "share.record.lock.duration.ms",
        "30000",
        "How long a member may hold a record; after that another member may get it.",
        least=1_000,
    ),
    _number(
        "share.delivery.count.limit",
        "5",
        "How many times a record is delivered before the group gives it up.",
        least=2,
    ),
    _number(
        "share.partition.max.record.locks",
        "2000",
        "How many records of one partition the members may hold at once.",
        least=100,
    ),
    OFFSET_RESET,
    ISOLATION_LEVEL,
    GroupConfig(
        "share.renew.acknowledge.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether a member may hold a record longer by acknowledging it with RENEW.",
        "share.renew.acknowledge.enable",
    ),
    _number(
        "share.assignment.interval.ms",
        "1000",
        "The least time from one assignment of a share group to the next.",
        least=0,
    ),
    GroupConfig(
        "share.assignor.offload.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether a separate thread computes a share group's assignments.",
        "group.share.assignor.offload.enable",
        is_internal=True,
    ),
)
_STREAMS = (
    _number(
        "streams.session.timeout.ms",
        "45000",
        "How long a member of a streams group may be silent before the group removes it.",
        least=1,
    ),
    _number(
        "streams.heartbeat.interval.ms",
        "5000",
        "How often each member of a streams group sends a heartbeat.",
        least=1,
    ),
    _number("streams.num.standby.replicas", "0", "How many standby copies each task has.", least=0),
    _number(
        "streams.initial.rebalance.delay.ms",
        "3000",
        "How long a new streams group waits for further members before its first assignment.",
        least=0,
    ),
    _number(
        "streams.assignment.interval.ms",
        "1000",
        "The least time from one assignment of a streams group to the next.",
        least=0,
    ),
    GroupConfig(
        "streams.assignor.offload.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether a separate thread computes a streams group's assignments.",
        "group.streams.assignor.offload.enable",
        is_internal=True,
    ),
    _number(
        "streams.task.offset.interval.ms",
        "60000",
        "How often a member reports how far its warm-up tasks have read their changelogs.",
        least=1,
        is_internal=True,
    ),
    _number(
        "streams.num.warmup.replicas",
        "2",
        "How many warm-up tasks a streams group may have at once.",
        least=0,
        is_internal=True,
    ),
    ASSIGNMENT_TAGS,
    GroupConfig(
        "streams.acceptable.recovery.lag",
        ConfigType.LONG,
        "10000",
        "How many records of its changelog a client may lack and still get a task as active.",
        "group.streams.acceptable.recovery.lag",
        least=0,
        is_internal=True,
    ),
    TASK_ASSIGNOR,
)
_DEAD_LETTERS = (
    DEAD_LETTER_TOPIC,
    GroupConfig(
        "errors.deadletterqueue.copy.record.enable",
        ConfigType.BOOLEAN,
        "false",
        "Whether the dead-letter topic gets the record itself, or only headers that describe the "
        "failure.",
        "errors.deadletterqueue.copy.record.enable",
    ),
)

FOREIGN = (*_SHARE, *_STREAMS, *_DEAD_LETTERS)
"""The definitions in the order in which Kafka reads them."""
# Kafka checks a value twice, with different messages: first by its definition (`least`), then by the brokers' limits.
LIMITS: Mapping[str, tuple[int | None, int | None]] = MappingProxyType(
    {
        "share.heartbeat.interval.ms": (5_000, 15_000),
        "share.session.timeout.ms": (45_000, 60_000),
        "share.record.lock.duration.ms": (15_000, 60_000),
        "share.delivery.count.limit": (2, 10),
        "share.partition.max.record.locks": (100, 4_000),
        "share.assignment.interval.ms": (0, 15_000),
        "streams.heartbeat.interval.ms": (5_000, 15_000),
        "streams.session.timeout.ms": (45_000, 60_000),
        "streams.num.standby.replicas": (None, 2),
        "streams.assignment.interval.ms": (0, 15_000),
        "streams.task.offset.interval.ms": (15_000, None),
        "streams.num.warmup.replicas": (None, 20),
    }
)
"""The lowest and the highest number, in the order in which Kafka checks them; None: no limit.

A session timeout within its limits is longer than any heartbeat interval, which Kafka checks too.
"""


SESSION_TIMEOUT = _number(
    "consumer.session.timeout.ms",
    "45000",
    "How long a member may be silent before the group removes it.",
    least=1,
)
HEARTBEAT_INTERVAL = _number(
    "consumer.heartbeat.interval.ms", "5000", "How often each member sends a heartbeat.", least=1
)
ASSIGNMENT_INTERVAL = _number(
    "consumer.assignment.interval.ms",
    "1000",
    "The least time from one assignment of the group to the next.",
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
"""The definitions by name, in the order in which Kafka reads them; our own is last."""


def _listed(definitions: Iterable[GroupConfig]) -> list[GroupConfig]:
    # The order of a Java HashMap of 32 buckets.
    return hash_map_order(definitions, lambda definition: string_spot(definition.name), 32)


LISTED = (
    *_listed(definition for definition in _KAFKAS if definition.is_internal),
    *_listed(definition for definition in _KAFKAS if not definition.is_internal),
    OFFSETS_RETENTION,
)
"""The definitions in the order in which Kafka lists them; our own is last. Not followed: Kafka's table is larger for a group with
nearly all of them.
"""


def session_timeout_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the session timeout of members of the consumer group, in milliseconds."""
    return _effective(SESSION_TIMEOUT, group, config, config.group_consumer_session_timeout_ms)


def heartbeat_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the heartbeat interval of members of the consumer group, in milliseconds."""
    otherwise = config.group_consumer_heartbeat_interval_ms
    return _effective(HEARTBEAT_INTERVAL, group, config, otherwise)


def assignment_interval_ms(group: Group, config: CoordinatorConfig) -> int:
    """Return the shortest time between two assignments of the consumer group, in milliseconds."""
    otherwise = config.group_consumer_assignment_interval_ms
    return _effective(ASSIGNMENT_INTERVAL, group, config, otherwise)


def _effective(
    definition: GroupConfig, group: Group, config: CoordinatorConfig, otherwise: int
) -> int:
    value = group.configs.get(definition.name)
    if value is None:
        return otherwise
    # The coordinator's bounds may have changed after the group got its value.
    lowest, highest = limits(definition, config)
    return min(max(int(value), lowest), highest)


def limits(definition: GroupConfig, config: CoordinatorConfig) -> tuple[int, int]:
    """Return the lowest and highest allowed values of a configuration of consumer groups."""
    # The bounds have the broker's name with min or max after the prefix.
    _, _, rest = definition.broker_name.partition("group.consumer.")
    lowest, highest = (
        getattr(config, f"group.consumer.{bound}.{rest}".replace(".", "_"))
        for bound in ("min", "max")
    )
    return lowest, highest


def coordinators_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """Return the coordinator's setting in its unit; Kafka's default if this coordinator has no such setting."""
    value = getattr(config, definition.broker_name.replace(".", "_"), definition.default)
    # Python's True is true in Kafka.
    return str(value).lower()


def value_without_own(definition: GroupConfig, config: CoordinatorConfig) -> str:
    """Return the value for a group without this configuration, in the configuration's unit."""
    if definition is OFFSETS_RETENTION:
        return str(config.retention_ms)
    return coordinators_own(definition, config)
