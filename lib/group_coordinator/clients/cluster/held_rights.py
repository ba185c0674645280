"""Check of this user's rights at the brokers, by requests that change nothing.

Source: KafkaApis, AuthHelper and ControllerApis of Kafka 4.4. Each checks rights before anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from kafka import KafkaAdminClient
from kafka.admin import ConfigResourceType
from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
)
from kafka.protocol.admin import (
    CreateTopicsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeTransactionsRequest,
)

from group_coordinator.clients.cluster.raw_request import answer_of
from group_coordinator.core.acls.rule import Operation, ResourceType, Right

_DENIED = frozenset(
    error.errno
    for error in (
        ClusterAuthorizationFailedError,
        GroupAuthorizationFailedError,
        TopicAuthorizationFailedError,
        TransactionalIdAuthorizationFailedError,
    )
)
_ALL_BROKERS = ""
"""Broker name in DescribeConfigs for the cluster-wide default settings."""
_ANSWER_WITHIN_MS = 10_000

_Question: TypeAlias = Callable[[KafkaAdminClient, Right], bool | None]


def has_right(admin: KafkaAdminClient, right: Right) -> bool | None:
    """Ask the brokers if this user has the right; None: they do not say.

    The name `*` is literal: a user with the right on each single topic does not have the right on `*`.

    Raises:
        KafkaError: the brokers do not respond.
    """
    return _QUESTIONS[right.kind, right.operation](admin, right)


def _on_topic(admin: KafkaAdminClient, right: Right) -> bool | None:
    [topic] = admin.describe_topics([right.name])
    if topic["error_code"] in _DENIED:
        return False  # READ and WRITE imply DESCRIBE
    operations = topic["authorized_operations"]
    return None if operations is None else right.operation in operations


def _on_cluster(admin: KafkaAdminClient, right: Right) -> bool | None:
    operations = admin.describe_cluster()["authorized_operations"]
    return None if operations is None else right.operation in operations


def _creation(admin: KafkaAdminClient, right: Right) -> bool:
    topic = CreateTopicsRequest.CreatableTopic(
        name=right.name, num_partitions=1, replication_factor=1, assignments=[], configs=[]
    )
    # validate_only: the broker checks the right, and creates no topic.
    request = CreateTopicsRequest(topics=[topic], timeout_ms=_ANSWER_WITHIN_MS, validate_only=True)
    [created] = answer_of(admin, request).topics
    return created.error_code not in _DENIED


def _settings(admin: KafkaAdminClient, right: Right) -> bool:
    # An empty list of keys keeps the response small.
    of_topic = right.kind is ResourceType.TOPIC
    resource = DescribeConfigsRequest.DescribeConfigsResource(
        resource_type=ConfigResourceType.TOPIC if of_topic else ConfigResourceType.BROKER,
        resource_name=right.name if of_topic else _ALL_BROKERS,
        configuration_keys=[],
    )
    [described] = answer_of(admin, DescribeConfigsRequest(resources=[resource])).results
    return described.error_code not in _DENIED


def _on_group(admin: KafkaAdminClient, right: Right) -> bool:
    # Any broker will do: it checks the right before it responds NOT_COORDINATOR.
    [described] = answer_of(admin, DescribeGroupsRequest(groups=[right.name])).groups
    return described.error_code not in _DENIED


def _on_transactional_id(admin: KafkaAdminClient, right: Right) -> bool:
    request = DescribeTransactionsRequest(transactional_ids=[right.name])
    [described] = answer_of(admin, request).transaction_states
    return described.error_code not in _DENIED


_QUESTIONS: dict[tuple[ResourceType, Operation], _Question] = {
    (ResourceType.TOPIC, Operation.READ): _on_topic,
    (ResourceType.TOPIC, Operation.WRITE): _on_topic,
    (ResourceType.TOPIC, Operation.DESCRIBE): _on_topic,
    (ResourceType.TOPIC, Operation.CREATE): _creation,
    (ResourceType.TOPIC, Operation.DESCRIBE_CONFIGS): _settings,
    (ResourceType.CLUSTER, Operation.DESCRIBE): _on_cluster,
    (ResourceType.CLUSTER, Operation.DESCRIBE_CONFIGS): _settings,
    (ResourceType.GROUP, Operation.DESCRIBE): _on_group,
    (ResourceType.TRANSACTIONAL_ID, Operation.DESCRIBE): _on_transactional_id,
}
"""Requests that show each right that a program of this package needs."""
