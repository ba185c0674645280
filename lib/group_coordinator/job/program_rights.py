"""The table of the rights that each program needs at brokers with an authorizer.

`check` looks at these rights, deploy/README.md shows them, and tests/end_to_end/test_rights.py runs each program with its rights alone.
READ and WRITE imply DESCRIBE, as Kafka's StandardAuthorizer has it: a right that another one implies is not in the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from group_coordinator.codecs.offsets_topic.partitions import ANY_GROUP, OFFSETS_TOPIC
from group_coordinator.core.acls.rule import (
    CLUSTER_NAME,
    WILDCARD,
    Operation,
    ResourceType,
    Right,
)
from group_coordinator.settings import JobSettings

EVENTS, RESPONSES = "<events.topic>", "<responses.topic>"
"""As the name of a topic: the one that the setting names."""
ITS_TOPICS, ITS_GROUPS = "<its topics>", "<its groups>"
"""As a name: whatever the program is told to read, or to commit for."""


class Need(NamedTuple):
    """A right that a program needs, and for what.

    `without` says what the program does where it lacks the right; None: it does not run, or ends. `due` says whether
    these settings make use of the right, and `only` names the settings that decide it.
    """

    right: Right
    purpose: str
    without: str | None = None
    only: str = ""
    due: Callable[[JobSettings], bool] = lambda _job: True


def _topic(operation: Operation, name: str) -> Right:
    return Right(operation, ResourceType.TOPIC, name)


_READ, _WRITE, _DESCRIBE = Operation.READ, Operation.WRITE, Operation.DESCRIBE
_DESCRIBE_CONFIGS = Operation.DESCRIBE_CONFIGS
_ALL_TOPICS = _topic(_DESCRIBE, WILDCARD)
_ASKING = (
    Need(_topic(_WRITE, EVENTS), "requests"),
    Need(_topic(_READ, RESPONSES), "responses"),
)

RIGHTS: Mapping[str, Sequence[Need]] = MappingProxyType(
    {
        "init": (
            Need(
                _topic(Operation.CREATE, EVENTS),
                "the topic is made",
                "a topic that is there is taken",
            ),
            Need(
                _topic(Operation.CREATE, RESPONSES),
                "the topic is made",
                "a topic that is there is taken",
            ),
            Need(_topic(_DESCRIBE, EVENTS), "whether the topic is there"),
            Need(_topic(_DESCRIBE, RESPONSES), "whether the topic is there"),
            Need(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            Need(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
        ),
        "run": (
            Need(_topic(_READ, EVENTS), "events"),
            Need(_topic(_WRITE, EVENTS), "ticks, topics, ends of transactions"),
            Need(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            Need(_topic(_WRITE, RESPONSES), "responses"),
            Need(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
            Need(
                Right(_DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME),
                "the cluster's ACLs",
                only="acls.source = cluster",
                due=lambda job: job.acls_source == "cluster",
            ),
            Need(
                _ALL_TOPICS,
                "what consumer groups subscribe to",
                "consumer groups get no partitions of a topic that it may not describe",
                "topic.metadata.interval.ms > 0",
                lambda job: job.topic_metadata_interval_ms > 0,
            ),
            Need(
                _topic(_READ, OFFSETS_TOPIC),
                "the ends of transactions",
                "offsets of transactions stay pending",
                "transactions.markers.interval.ms > 0",
                lambda job: job.transactions_markers_interval_ms > 0,
            ),
            Need(
                Right(_DESCRIBE, ResourceType.GROUP, ANY_GROUP),
                f"the brokers make `{OFFSETS_TOPIC}`",
                f"transactions have no end until `{OFFSETS_TOPIC}` is made otherwise",
                "transactions.markers.interval.ms > 0",
                lambda job: job.transactions_markers_interval_ms > 0,
            ),
        ),
        "rebuild": (
            Need(_topic(_DESCRIBE, EVENTS), "which events are there"),
            Need(_topic(_DESCRIBE, RESPONSES), "whether the topic is there"),
            Need(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            Need(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
        ),
        "mirror": (
            Need(_topic(_READ, OFFSETS_TOPIC), "groups"),
            Need(
                _topic(_DESCRIBE_CONFIGS, OFFSETS_TOPIC),
                "`delete.retention.ms`",
                "Kafka's default counts, a day",
            ),
            Need(
                Right(_DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME),
                "`offsets.retention.minutes`",
                "forecasts go by the setting",
            ),
            Need(
                _ALL_TOPICS,
                "ends, lag and deletions of topics",
                "no ends and no deletion are known of a topic that it may not describe",
            ),
        ),
        "positions": (
            Need(_ALL_TOPICS, "ends of topics", "a topic that it may not describe is left out"),
        ),
        "gateway": (
            *_ASKING,
            Need(
                _ALL_TOPICS,
                "partitions, ids and leaders of topics",
                "a topic that it may not describe is unknown to groups",
            ),
            Need(
                Right(_DESCRIBE, ResourceType.TRANSACTIONAL_ID, WILDCARD),
                "whether a transaction is open",
                "offsets of a transaction that has ended are taken, and stay pending until the producer's next marker",
            ),
            Need(
                Right(_DESCRIBE, ResourceType.GROUP, ANY_GROUP),
                f"the brokers make `{OFFSETS_TOPIC}`",
                f"no offsets of transactions are taken until `{OFFSETS_TOPIC}` is there",
            ),
            Need(
                Right(_DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME),
                "whether there is an authorizer",
                "brokers log a denial every 30 s",
            ),
        ),
        "groups": (
            *_ASKING,
            Need(
                _ALL_TOPICS,
                "ends of topics, for lag and resets",
                "no end of a topic that it may not describe is shown, and nothing is reset there",
            ),
        ),
        "consume": (*_ASKING, Need(_topic(_READ, ITS_TOPICS), "records")),
        "OffsetReporter, to the brokers": (
            Need(Right(_READ, ResourceType.GROUP, ITS_GROUPS), "commits"),
            Need(_topic(_READ, ITS_TOPICS), "commits"),
        ),
        "OffsetReporter, to the coordinator": _ASKING,
    }
)
"""By program: a command of `group-coordinator`, or what a job of somebody's has of this package."""


def right_of(need: Need, job: JobSettings) -> Right:
    """The right with the topics' names of these settings."""
    names = {EVENTS: job.events_topic, RESPONSES: job.responses_topic}
    return need.right._replace(name=names.get(need.right.name, need.right.name))


def can_be_asked_for(needs: Sequence[Need]) -> bool:
    """Whether settings alone say what the rights are about."""
    return not {ITS_TOPICS, ITS_GROUPS} & {need.right.name for need in needs}
