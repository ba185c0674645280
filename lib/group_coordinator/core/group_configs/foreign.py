"""Kafka's configurations of share and streams groups. They are stored and shown without effect: there are no such groups here.

Source: GroupConfig, GroupCoordinatorConfig and ShareGroupConfig in Kafka 4.4. This coordinator does not have the brokers' settings
for these groups: it responds like a broker without them, with Kafka's own defaults and limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from group_coordinator.core.group_configs.definition import GroupConfig
from group_coordinator.core.model.responses import ConfigType

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
    GroupConfig(
        "share.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "How long a member of a share group may be silent before the group removes it.",
        "group.share.session.timeout.ms",
        least=1,
    ),
    GroupConfig(
        "share.heartbeat.interval.ms",
        ConfigType.INT,
        "5000",
        "How often each member of a share group sends a heartbeat.",
        "group.share.heartbeat.interval.ms",
        least=1,
    ),
    GroupConfig(
        "share.record.lock.duration.ms",
        ConfigType.INT,
        "30000",
        "How long a member may hold a record; after that another member may get it.",
        "group.share.record.lock.duration.ms",
        least=1_000,
    ),
    GroupConfig(
        "share.delivery.count.limit",
        ConfigType.INT,
        "5",
        "How many times a record is delivered before the group gives it up.",
        "group.share.delivery.count.limit",
        least=2,
    ),
    GroupConfig(
        "share.partition.max.record.locks",
        ConfigType.INT,
        "2000",
        "How many records of one partition the members may hold at once.",
        "group.share.partition.max.record.locks",
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
    GroupConfig(
        "share.assignment.interval.ms",
        ConfigType.INT,
        "1000",
        "The least time from one assignment of a share group to the next.",
        "group.share.assignment.interval.ms",
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
    GroupConfig(
        "streams.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "How long a member of a streams group may be silent before the group removes it.",
        "group.streams.session.timeout.ms",
        least=1,
    ),
    GroupConfig(
        "streams.heartbeat.interval.ms",
        ConfigType.INT,
        "5000",
        "How often each member of a streams group sends a heartbeat.",
        "group.streams.heartbeat.interval.ms",
        least=1,
    ),
    GroupConfig(
        "streams.num.standby.replicas",
        ConfigType.INT,
        "0",
        "How many standby copies each task has.",
        "group.streams.num.standby.replicas",
        least=0,
    ),
    GroupConfig(
        "streams.initial.rebalance.delay.ms",
        ConfigType.INT,
        "3000",
        "How long a new streams group waits for further members before its first assignment.",
        "group.streams.initial.rebalance.delay.ms",
        least=0,
    ),
    GroupConfig(
        "streams.assignment.interval.ms",
        ConfigType.INT,
        "1000",
        "The least time from one assignment of a streams group to the next.",
        "group.streams.assignment.interval.ms",
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
    GroupConfig(
        "streams.task.offset.interval.ms",
        ConfigType.INT,
        "60000",
        "How often a member reports how far its warm-up tasks have read their changelogs.",
        "group.streams.task.offset.interval.ms",
        least=1,
        is_internal=True,
    ),
    GroupConfig(
        "streams.num.warmup.replicas",
        ConfigType.INT,
        "2",
        "How many warm-up tasks a streams group may have at once.",
        "group.streams.num.warmup.replicas",
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
