"""The rights that each program needs at brokers with an authorizer, and their check with commands that grant them.

As in Kafka's StandardAuthorizer, READ and WRITE imply DESCRIBE; the table leaves out implied rights.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from kafka import KafkaAdminClient

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.held_rights import has_right
from group_coordinator.codecs.offsets_topic import ANY_GROUP, OFFSETS_TOPIC
from group_coordinator.core.acls import (
    ANONYMOUS,
    CLUSTER_NAME,
    WILDCARD,
    Operation,
    ResourceType,
    Right,
)
from group_coordinator.settings import JobSettings

EVENTS, RESPONSES = "<events.topic>", "<responses.topic>"
"""Placeholders for the topics that the settings name."""
ITS_TOPICS, ITS_GROUPS = "<its topics>", "<its groups>"
"""Placeholders for the topics that the program reads, and the groups for which it commits."""


class NeededRight(NamedTuple):
    """A right that a program needs. If it is missing, `without` follows; None: the program does not run, or ends.

    `due` returns True if these settings need the right, and `only` names the condition.
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
_SHARE_GROUPS = NeededRight(
    Right(_DESCRIBE, ResourceType.GROUP, WILDCARD),
    "start offsets and lag of share groups",
    "share groups that it may not describe have no lag",
)
_ASKING = (
    NeededRight(_topic(_WRITE, EVENTS), "requests"),
    NeededRight(_topic(_READ, RESPONSES), "responses"),
)

RIGHTS: Mapping[str, Sequence[NeededRight]] = MappingProxyType(
    {
        "init": (
            NeededRight(
                _topic(Operation.CREATE, EVENTS),
                "creating the topic",
                "the topic must exist already",
            ),
            NeededRight(
                _topic(Operation.CREATE, RESPONSES),
                "creating the topic",
                "the topic must exist already",
            ),
            NeededRight(_topic(_DESCRIBE, EVENTS), "finding the topic"),
            NeededRight(_topic(_DESCRIBE, RESPONSES), "finding the topic"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
        ),
        "run": (
            NeededRight(_topic(_READ, EVENTS), "events"),
            NeededRight(_topic(_WRITE, EVENTS), "ticks, topic metadata, transaction markers"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            NeededRight(_topic(_WRITE, RESPONSES), "responses"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
            NeededRight(
                Right(_DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME),
                "the cluster's ACLs",
                only="acls.source = cluster",
                due=lambda job: job.acls_source == "cluster",
            ),
            NeededRight(
                _ALL_TOPICS,
                "the topics of consumer groups",
                "consumer groups get no partitions of topics that it may not describe",
                "topic.metadata.interval.ms > 0",
                lambda job: job.topic_metadata_interval_ms > 0,
            ),
            NeededRight(
                _topic(_READ, OFFSETS_TOPIC),
                "transaction markers",
                "offsets of transactions stay pending",
                "transactions.markers.interval.ms > 0",
                lambda job: job.transactions_markers_interval_ms > 0,
            ),
            NeededRight(
                Right(_DESCRIBE, ResourceType.GROUP, ANY_GROUP),
                f"having the brokers create `{OFFSETS_TOPIC}`",
                f"offsets of transactions stay pending until `{OFFSETS_TOPIC}` exists",
                "transactions.markers.interval.ms > 0",
                lambda job: job.transactions_markers_interval_ms > 0,
            ),
        ),
        "rebuild": (
            NeededRight(_topic(_DESCRIBE, EVENTS), "the offsets of the events"),
            NeededRight(_topic(_DESCRIBE, RESPONSES), "finding the topic"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, EVENTS), "`message.timestamp.type`"),
            NeededRight(_topic(_DESCRIBE_CONFIGS, RESPONSES), "`max.message.bytes`"),
        ),
        "mirror": (
            NeededRight(_topic(_READ, OFFSETS_TOPIC), "groups"),
            NeededRight(
                _topic(_DESCRIBE_CONFIGS, OFFSETS_TOPIC),
                "`delete.retention.ms`",
                "Kafka's default applies, a day",
            ),
            NeededRight(
                Right(_DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME),
                "`offsets.retention.minutes`",
                "forecasts use the setting `offsets.retention.minutes`",
            ),
            NeededRight(
                _ALL_TOPICS,
                "log ends, lag and deletions of topics",
                "log ends, lag and deletions are unknown for topics that it may not describe",
            ),
            _SHARE_GROUPS,
        ),
        "mirror-admin": (
            NeededRight(
                Right(_DESCRIBE, ResourceType.GROUP, WILDCARD),
                "groups, members and offsets",
                "groups that it may not describe are left out",
            ),
            NeededRight(
                _ALL_TOPICS,
                "offsets, log ends and lag",
                "offsets of topics that it may not describe are left out",
            ),
            NeededRight(
                Right(_DESCRIBE_CONFIGS, ResourceType.CLUSTER, CLUSTER_NAME),
                "`offsets.retention.minutes`",
                "forecasts use the setting `offsets.retention.minutes`",
            ),
        ),
        "positions": (
            NeededRight(_ALL_TOPICS, "log ends", "topics that it may not describe are left out"),
            _SHARE_GROUPS,
        ),
        "gateway": (
            *_ASKING,
            NeededRight(
                _topic(_READ, EVENTS),
                "all events, for the replica",
                "the job answers every request",
                "gateway.answers = replica",
                lambda job: job.gateway_answers == "replica",
            ),
            NeededRight(
                _ALL_TOPICS,
                "partitions, ids and leaders of topics",
                "topics that it may not describe are unknown to groups",
            ),
            NeededRight(
                Right(_DESCRIBE, ResourceType.TRANSACTIONAL_ID, WILDCARD),
                "the state of transactions",
                "offsets that come after the end of their transaction are accepted, and stay pending until the producer's next marker",
            ),
            NeededRight(
                Right(_DESCRIBE, ResourceType.GROUP, ANY_GROUP),
                f"having the brokers create `{OFFSETS_TOPIC}`",
                f"no offsets of transactions are accepted until `{OFFSETS_TOPIC}` exists",
            ),
            NeededRight(
                Right(_DESCRIBE, ResourceType.CLUSTER, CLUSTER_NAME),
                "finding out whether there is an authorizer",
                "brokers log a denial every 30 s",
            ),
        ),
        "groups": (
            *_ASKING,
            NeededRight(
                _ALL_TOPICS,
                "log ends, for lag and resets",
                "topics that it may not describe have no log end or lag, and their offsets are not reset",
            ),
        ),
        "consume": (*_ASKING, NeededRight(_topic(_READ, ITS_TOPICS), "records")),
        "restore, of a mirrored cluster": (
            NeededRight(Right(_READ, ResourceType.GROUP, ITS_GROUPS), "states, offsets, commits"),
            NeededRight(_topic(_READ, ITS_TOPICS), "logs, commits"),
        ),
        "OffsetReporter, to the brokers": (
            NeededRight(Right(_READ, ResourceType.GROUP, ITS_GROUPS), "commits"),
            NeededRight(_topic(_READ, ITS_TOPICS), "commits"),
        ),
        "OffsetReporter, to the coordinator": _ASKING,
    }
)
"""Rights by program: a command of `group-coordinator`, for some of its uses, or an OffsetReporter in another job."""


def right_of(need: NeededRight, job: JobSettings) -> Right:
    # The table is fixed for the page deploy/security/rights.md, the topics are a setting.
    names = {EVENTS: job.events_topic, RESPONSES: job.responses_topic}
    return need.right._replace(name=names.get(need.right.name, need.right.name))


def can_be_asked_for(needs: Sequence[NeededRight]) -> bool:
    """Return True if the rights have no placeholders that only the program's arguments fill."""
    return not {ITS_TOPICS, ITS_GROUPS} & {need.right.name for need in needs}


_RESOURCE_OPTIONS = {
    ResourceType.TOPIC: "--topic",
    ResourceType.GROUP: "--group",
    ResourceType.TRANSACTIONAL_ID: "--transactional-id",
}
"""Options of kafka-acls.sh for a resource and its name; the cluster has no name."""
_NAMED_ELSEWHERE = ("sasl_mechanism", "ssl_certfile")
"""Options of logins whose principal only the brokers know."""


class CheckedRight(NamedTuple):
    """A right of a program, and if its user has it; None: the brokers do not report it."""

    need: NeededRight
    right: Right
    is_held: bool | None


def look_at_rights(
    program: str, job: JobSettings, connection: Connection
) -> Iterator[CheckedRight]:
    """Ask the brokers for each right that the program needs with these settings. Raises ChannelError."""
    with connection.opened(KafkaAdminClient) as admin:
        for need in RIGHTS[program]:
            if need.due(job):
                right = right_of(need, job)
                yield CheckedRight(need, right, has_right(admin, right))


def missing_message(program: str, missing: CheckedRight, connection: Connection) -> str:
    """Describe a missing right in a sentence: user, right, consequence, and the command that grants the right."""
    need, principal = missing.need, _principal(connection)
    consequence = f"; without it {need.without}" if need.without else ""
    return (
        f"{principal} lacks {named(missing.right)}, which `{program}` needs for {need.purpose}{consequence}: "
        f"run {grant_command(missing.right, principal, connection.bootstrap_servers)}"
    )


def named(right: Right) -> str:
    return f"{right.operation} on {right.kind} {right.name}"


def grant_command(right: Right, principal: str, bootstrap_servers: str) -> str:
    """Return the command of kafka-acls.sh that grants the right."""
    option = _RESOURCE_OPTIONS.get(right.kind)
    resource = [option, right.name] if option else ["--cluster"]
    # kafka-acls.sh writes DescribeConfigs, and the protocol DESCRIBE_CONFIGS.
    operation = right.operation.title().replace("_", "")
    return shlex.join(
        [
            *("kafka-acls.sh", "--bootstrap-server", bootstrap_servers, "--add"),
            *("--allow-principal", principal, "--operation", operation, *resource),
        ]
    )


def _principal(connection: Connection) -> str:
    # The brokers map certificates and tokens to names by rules of their own.
    if connection.principal == ANONYMOUS and any(map(connection.options.get, _NAMED_ELSEWHERE)):
        return "User:NAME"
    return connection.principal
