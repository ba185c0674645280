"""Topics of the coordinator: created with the needed configuration, and checked before the start."""

from __future__ import annotations

from kafka import KafkaAdminClient
from kafka.admin import ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import (
    ClusterAuthorizationFailedError,
    InvalidConfigurationError,
    InvalidPartitionsError,
    InvalidReplicationFactorError,
    InvalidTopicError,
    NoError,
    PolicyViolationError,
    TopicAlreadyExistsError,
    TopicAuthorizationFailedError,
    for_code,
)

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.topics import offsets_present
from group_coordinator.settings import RECORD_OVERHEAD, JobSettings

_TIMESTAMP_TYPE = "message.timestamp.type"
_LOG_APPEND_TIME = "LogAppendTime"
_CLEANUP = "cleanup.policy"
_MAX_MESSAGE_BYTES = "max.message.bytes"
_SIZES = "events.topic.partitions, responses.topic.partitions and topics.replication.factor"
_RIGHTS = "give the user the ACL CREATE, or DESCRIBE if the topic exists"
_REMEDIES = {
    ClusterAuthorizationFailedError: _RIGHTS,
    InvalidConfigurationError: "set the topics' retention and response.max.bytes to values that the brokers accept",
    InvalidPartitionsError: f"set {_SIZES} to values that the brokers accept",
    InvalidReplicationFactorError: "set topics.replication.factor to at most the number of brokers",
    InvalidTopicError: "set another name by events.topic or responses.topic",
    PolicyViolationError: (
        f"set {_SIZES} to values that the brokers' policy allows, or create the topic with Kafka's own tool"
    ),
    TopicAuthorizationFailedError: _RIGHTS,
}
_ANY_OTHER = "see the brokers' logs"


class TopicsError(RuntimeError):
    """The topics are missing, or lack a configuration that the coordinator needs."""


def create_topics(connection: Connection, job: JobSettings) -> list[str]:
    """Create the events and the responses topic; return the names of the topics that were missing.

    Raises:
        BrokerUnreachableError: the cluster does not answer.
        TopicsError: a topic may not be created, or the events topic exists and its timestamps are not the brokers'.
    """
    wanted = (
        _topic(job, job.events_topic, job.events_topic_partitions, job.events_topic_retention_ms),
        _responses_topic(job),
    )
    with connection.opened(KafkaAdminClient) as admin:
        # A user without the right to create topics may still use topics of an administrator.
        present = set(admin.list_topics())
        missing = [topic for topic in wanted if topic.name not in present]
        created = [
            topic.name for topic in missing if _create(admin, topic, connection.bootstrap_servers)
        ]
        # A topic that existed before may have another configuration.
        _check_configuration(admin, job)
    return created


def check_topics(connection: Connection, job: JobSettings) -> None:
    """Raise TopicsError if a topic is missing, or if events do not get the brokers' timestamps."""
    with connection.opened(KafkaAdminClient) as admin:
        present = set(admin.list_topics())
        missing = [name for name in (job.events_topic, job.responses_topic) if name not in present]
        if missing:
            raise TopicsError(
                f"topic {' and '.join(missing)} missing at {connection.bootstrap_servers}: run `group-coordinator "
                "init` first, or give the job's user the ACL DESCRIBE"
            )
        _check_configuration(admin, job)


def check_nothing_answered(connection: Connection, job: JobSettings) -> None:
    """Raise TopicsError if the responses topic has responses: for a coordinator that has never run."""
    answered = offsets_present(connection, job.responses_topic)
    # An end offset above 0 shows former responses, even if retention has removed them.
    if any(offsets.stop for offsets in answered.values()):
        raise TopicsError(
            f"topic {job.responses_topic} has responses of another coordinator, and this run would respond to "
            f"every event of {job.events_topic} again: set checkpoint.location and tables.root of that "
            "coordinator, or other topics. To start from nothing, delete both topics and run `group-coordinator "
            "init`"
        )


def _topic(job: JobSettings, name: str, partitions: int, retention_ms: int) -> NewTopic:
    # The brokers' default may be another policy.
    configs = {_CLEANUP: "delete", _TIMESTAMP_TYPE: _LOG_APPEND_TIME}
    configs["retention.ms"] = str(retention_ms)
    return NewTopic(name, partitions, job.topics_replication_factor, topic_configs=configs)


def _responses_topic(job: JobSettings) -> NewTopic:
    name, partitions = job.responses_topic, job.responses_topic_partitions
    topic = _topic(job, name, partitions, job.responses_topic_retention_ms)
    # A response may be as long as its setting, plus the record around it.
    topic.topic_configs[_MAX_MESSAGE_BYTES] = str(job.response_max_bytes + RECORD_OVERHEAD)
    return topic


def _create(admin: KafkaAdminClient, topic: NewTopic, servers: str) -> bool:
    [response] = admin.create_topics([topic], raise_errors=False)["topics"]
    error = for_code(response["error_code"])
    # Another process may have created it meanwhile.
    if error is TopicAlreadyExistsError:
        return False
    if error is not NoError:
        said = response["error_message"] or error.description
        raise TopicsError(
            f"topic {topic.name} does not exist for this user, and {servers} does not create it: {error.message} "
            f"({error.errno}), {said.rstrip('.')}: {_REMEDIES.get(error, _ANY_OTHER)}"
        )
    # CREATE does not imply DESCRIBE.
    [seen] = admin.describe_topics([topic.name])
    if seen["error_code"] == TopicAuthorizationFailedError.errno:
        raise TopicsError(
            f"topic {topic.name} was created, but this user may not see it: give the user DESCRIBE on the topic"
        )
    # Metadata of new topics reaches the brokers with a delay.
    admin.wait_for_topics([topic.name])
    return True


def _check_configuration(admin: KafkaAdminClient, job: JobSettings) -> None:
    # A group's clock is the brokers' clock: with a client's clock, sessions of living members could expire.
    stamp = _value(admin, job.events_topic, _TIMESTAMP_TYPE)
    if stamp != _LOG_APPEND_TIME:
        raise TopicsError(
            f"topic {job.events_topic}: {_TIMESTAMP_TYPE} = {stamp}, but the coordinator needs "
            f"{_LOG_APPEND_TIME}: alter the topic before the first event"
        )
    for topic in (job.events_topic, job.responses_topic):
        policy = _value(admin, topic, _CLEANUP)
        if "compact" in policy:
            raise TopicsError(
                f"topic {topic}: {_CLEANUP} = {policy}, but the coordinator needs delete: compaction removes "
                "all but the newest record of a group, read or not: alter the topic"
            )
    # The job would retry a response that is too large for Kafka for ever.
    room = int(_value(admin, job.responses_topic, _MAX_MESSAGE_BYTES))
    needed = job.response_max_bytes + RECORD_OVERHEAD
    if room < needed:
        raise TopicsError(
            f"topic {job.responses_topic}: {_MAX_MESSAGE_BYTES} = {room}, but responses need {needed}: "
            "alter the topic, or set response.max.bytes lower"
        )


def _value(admin: KafkaAdminClient, topic: str, name: str) -> str:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    described = admin.describe_configs([resource], config_filter="all")
    (of_topics,) = described.values()
    if name not in of_topics[topic]:
        raise TopicsError(
            f"topic {topic}: this user may not read its configuration: give the user the ACL DESCRIBE_CONFIGS"
        )
    return str(of_topics[topic][name]["value"])
