"""Kafka's settings of share groups and streams groups: taken and shown, and of no effect here, as there are no such groups.

Source: GroupConfig, GroupCoordinatorConfig and ShareGroupConfig in Kafka 4.4. What brokers may be told about these groups this
coordinator has no settings for: it answers as a broker that was told nothing, with Kafka's own defaults and limits.
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
    "The strategy to initialize the share-partition start offset. <ul><li>earliest: "
    "automatically reset the offset to the earliest offset</li><li>latest: automatically reset "
    "the offset to the latest offset</li><li>by_duration:&lt;duration&gt;: automatically reset "
    "the offset to a configured duration from the current timestamp. &lt;duration&gt; must be "
    "specified in ISO8601 format (PnDTnHnMn.nS). Negative duration is not "
    "allowed.</li><li>anything else: throw exception to the share consumer.</li></ul>",
    "share.auto.offset.reset",
)
ISOLATION_LEVEL = GroupConfig(
    "share.isolation.level",
    ConfigType.STRING,
    "read_uncommitted",
    'Controls how to read records written transactionally. If set to "read_committed", the share '
    "group will only deliver transactional records which have been committed. If set to "
    '"read_uncommitted", the share group will return all messages, even transactional messages '
    "which have been aborted. Non-transactional records will be returned unconditionally in "
    "either mode.",
    "share.isolation.level",
)
ASSIGNMENT_TAGS = GroupConfig(
    "streams.rack.aware.assignment.tags",
    ConfigType.LIST,
    "",
    "List of client tag keys used to distribute standby replicas across Kafka Streams instances. "
    "When configured, and the used broker-side assignor supports it, it will make a best-effort "
    "to distribute standby tasks over each client tag dimension.",
    "group.streams.rack.aware.assignment.tags",
)
TASK_ASSIGNOR = GroupConfig(
    "streams.assignor.name",
    ConfigType.STRING,
    "sticky",
    "The task assignor to use for this streams group, selected by short name from the assignors "
    "registered via the broker configuration group.streams.assignors. When unset, the group "
    "defaults to the first assignor configured in the broker's group.streams.assignors setting. "
    "Changing the assignor does not trigger a rebalance for the group; the new assignor takes "
    "effect on the next rebalance.",
    "group.streams.assignors",
)
DEAD_LETTER_TOPIC = GroupConfig(
    "errors.deadletterqueue.topic.name",
    ConfigType.STRING,
    "",
    "The name of the topic to be used as the dead-letter queue (DLQ) topic for this share group. "
    "If blank (the default), the group does not have a DLQ topic.",
    "errors.deadletterqueue.topic.name",
)
_SHARE = (
    GroupConfig(
        "share.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "The timeout to detect client failures when using the share group protocol.",
        "group.share.session.timeout.ms",
        least=1,
    ),
    GroupConfig(
        "share.heartbeat.interval.ms",
        ConfigType.INT,
        "5000",
        "The heartbeat interval given to the members of a share group.",
        "group.share.heartbeat.interval.ms",
        least=1,
    ),
    GroupConfig(
        "share.record.lock.duration.ms",
        ConfigType.INT,
        "30000",
        "The record acquisition lock duration in milliseconds for share groups.",
        "group.share.record.lock.duration.ms",
        least=1_000,
    ),
    GroupConfig(
        "share.delivery.count.limit",
        ConfigType.INT,
        "5",
        "The maximum number of delivery attempts for a record delivered to a share group.",
        "group.share.delivery.count.limit",
        least=2,
    ),
    GroupConfig(
        "share.partition.max.record.locks",
        ConfigType.INT,
        "2000",
        "Share-group record lock limit per share-partition.",
        "group.share.partition.max.record.locks",
        least=100,
    ),
    OFFSET_RESET,
    ISOLATION_LEVEL,
    GroupConfig(
        "share.renew.acknowledge.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether the renew acknowledge type is enabled for the share group.",
        "share.renew.acknowledge.enable",
    ),
    GroupConfig(
        "share.assignment.interval.ms",
        ConfigType.INT,
        "1000",
        "The interval between assignment updates for a share group.",
        "group.share.assignment.interval.ms",
        least=0,
    ),
    GroupConfig(
        "share.assignor.offload.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether to offload share group assignment to a group coordinator background thread.",
        "group.share.assignor.offload.enable",
        is_internal=True,
    ),
)
_STREAMS = (
    GroupConfig(
        "streams.session.timeout.ms",
        ConfigType.INT,
        "45000",
        "The timeout to detect client failures when using the streams group protocol.",
        "group.streams.session.timeout.ms",
        least=1,
    ),
    GroupConfig(
        "streams.heartbeat.interval.ms",
        ConfigType.INT,
        "5000",
        "The heartbeat interval given to the members.",
        "group.streams.heartbeat.interval.ms",
        least=1,
    ),
    GroupConfig(
        "streams.num.standby.replicas",
        ConfigType.INT,
        "0",
        "The number of standby replicas for each task.",
        "group.streams.num.standby.replicas",
        least=0,
    ),
    GroupConfig(
        "streams.initial.rebalance.delay.ms",
        ConfigType.INT,
        "3000",
        "The amount of time the group coordinator will wait for more streams clients to join a new "
        "group before performing the first rebalance. A longer delay means potentially fewer "
        "rebalances.",
        "group.streams.initial.rebalance.delay.ms",
        least=0,
    ),
    GroupConfig(
        "streams.assignment.interval.ms",
        ConfigType.INT,
        "1000",
        "The interval between assignment updates for a streams group.",
        "group.streams.assignment.interval.ms",
        least=0,
    ),
    GroupConfig(
        "streams.assignor.offload.enable",
        ConfigType.BOOLEAN,
        "true",
        "Whether to offload streams group assignment to a group coordinator background thread.",
        "group.streams.assignor.offload.enable",
        is_internal=True,
    ),
    GroupConfig(
        "streams.task.offset.interval.ms",
        ConfigType.INT,
        "60000",
        "The interval in which the warmup task changelog offsets on a client are updated on the "
        "broker. The offsets are sent with the next heartbeat after this time has passed.",
        "group.streams.task.offset.interval.ms",
        least=1,
        is_internal=True,
    ),
    GroupConfig(
        "streams.num.warmup.replicas",
        ConfigType.INT,
        "2",
        "The maximum number of warmup task replicas.",
        "group.streams.num.warmup.replicas",
        least=0,
        is_internal=True,
    ),
    ASSIGNMENT_TAGS,
    GroupConfig(
        "streams.acceptable.recovery.lag",
        ConfigType.LONG,
        "10000",
        "The maximum acceptable lag (number of offsets to catch up) for a client to be considered "
        "caught-up enough to receive an active task assignment.",
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
        "When writing onto the dead-letter queue topic, whether to copy the original record onto the "
        "DLQ topic, or just write a record containing the context information headers.",
        "errors.deadletterqueue.copy.record.enable",
    ),
)

FOREIGN = (*_SHARE, *_STREAMS, *_DEAD_LETTERS)
"""In the order in which Kafka reads them."""
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
"""The lowest and the highest number, in the order in which Kafka checks them; None: there is no such limit.

A session within these is longer than any interval of heartbeats, which Kafka checks too.
"""
