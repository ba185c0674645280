"""Check of this user's rights at the brokers, by requests that change nothing; and the reader of the cluster's own ACLs.

Some requests are sent by kafka-python's protocol classes, as its clients lack them.

Source: KafkaApis, AuthHelper and ControllerApis of Kafka 4.4. Each checks rights before anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, TypeAlias, TypeVar

from kafka import KafkaAdminClient
from kafka.admin import ConfigResourceType
from kafka.errors import (
    ClusterAuthorizationFailedError,
    GroupAuthorizationFailedError,
    SecurityDisabledError,
    TopicAuthorizationFailedError,
    TransactionalIdAuthorizationFailedError,
    for_code,
)
from kafka.protocol.admin import (
    CreateTopicsRequest,
    DescribeAclsRequest,
    DescribeConfigsRequest,
    DescribeGroupsRequest,
    DescribeTransactionsRequest,
)
from msgspec import structs

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.cluster.topics import described_cluster
from group_coordinator.clients.errors import ClientError
from group_coordinator.core.acls import (
    CLUSTER_NAME,
    AclRule,
    Operation,
    PatternType,
    Permission,
    ResourceType,
    Right,
)


def answer_of(admin: KafkaAdminClient, request: Any) -> Any:
    """Send the request; return the response, even with error codes. Raises KafkaError: no broker responds, or supports the version."""
    manager = admin._manager  # noqa: SLF001 - there is no public way to send a request
    return manager.run(manager.send, request)


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

    The name `*` is literal: a user with the right on each single topic does not have the right on `*`. Raises KafkaError: the brokers
    do not respond.
    """
    return _QUESTIONS[right.kind, right.operation](admin, right)


def _on_topic(admin: KafkaAdminClient, right: Right) -> bool | None:
    [topic] = admin.describe_topics([right.name])
    if topic["error_code"] in _DENIED:
        return False  # READ and WRITE imply DESCRIBE
    operations = topic["authorized_operations"]
    return None if operations is None else right.operation in operations


def _on_cluster(admin: KafkaAdminClient, right: Right) -> bool | None:
    operations = described_cluster(admin)["authorized_operations"]
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


_ANY = 1
"""Any value in a filter; the values in Kafka's order are numbered from 2 on."""
_LEAST_VERSION = 1
"""First version of DescribeAcls with prefixed names, of Kafka 2.0."""
_RESOURCE_TYPES = dict(enumerate(ResourceType, 2))
_OPERATIONS = dict(enumerate(Operation, 2))
_PERMISSIONS = {2: Permission.DENY, 3: Permission.ALLOW}
_PATTERN_TYPES = {3: PatternType.LITERAL, 4: PatternType.PREFIXED}

_Word = TypeVar("_Word", bound=StrEnum)


class AclsUnreadableError(ClientError):
    """The ACLs cannot be read: the message has the reason and the remedy."""


class ClusterAcls(LastingClient[KafkaAdminClient]):
    """Asks the brokers repeatedly over a lasting connection, and connects again after a failure."""

    def __init__(self, connection: Connection) -> None:
        super().__init__(connection, KafkaAdminClient)

    def read(self) -> tuple[AclRule, ...]:
        """All ACLs, in an order that depends only on themselves.

        Raises:
            AclsUnreadableError: the cluster has no authorizer, denies us the ACLs, or has an ACL of a kind that Kafka 4.4 lacks.
            ChannelError: the cluster does not answer, or rejects the login.
        """
        with self.reported_failures():
            found = self._found()
        rules = (_rule(of, acl) for of in found.resources for acl in of.acls)
        # The order of brokers' responses is not defined.
        return tuple(sorted(rules, key=structs.astuple))

    def _found(self) -> Any:
        try:
            return _described(self.opened())
        except SecurityDisabledError as error:
            raise AclsUnreadableError(
                "acls.source = cluster: the cluster has no authorizer (authorizer.class.name), and so no ACLs: set "
                "acls.source = file, or none"
            ) from error
        except ClusterAuthorizationFailedError as error:
            raise AclsUnreadableError(
                "acls.source = cluster: the job's user may not read the cluster's ACLs: give it the ACL DESCRIBE on the "
                f"resource CLUSTER {CLUSTER_NAME}"
            ) from error


def has_authorizer(connection: Connection) -> bool:
    """Return True if the brokers have an authorizer. Raises ChannelError: the cluster does not answer, or rejects the login."""
    with connection.opened(KafkaAdminClient) as admin:
        try:
            _described(admin)
        except SecurityDisabledError:
            return False
        except ClusterAuthorizationFailedError:
            # The denial itself comes from an authorizer.
            return True
    return True


def _described(admin: KafkaAdminClient) -> Any:
    # The raw response, as the client's own classes do not know every operation of Kafka 4.4.
    request = DescribeAclsRequest(
        min_version=_LEAST_VERSION,
        resource_type_filter=_ANY,
        resource_name_filter=None,
        pattern_type_filter=_ANY,
        principal_filter=None,
        host_filter=None,
        operation=_ANY,
        permission_type=_ANY,
    )
    response = answer_of(admin, request)
    if response.error_code:
        raise for_code(response.error_code)(response.error_message)
    return response


def _rule(of: Any, acl: Any) -> AclRule:
    return AclRule(
        resource_type=_word(_RESOURCE_TYPES, of.resource_type, "resource type"),
        resource_name=of.resource_name,
        pattern_type=_word(_PATTERN_TYPES, of.pattern_type, "pattern type"),
        principal=acl.principal,
        host=acl.host,
        operation=_word(_OPERATIONS, acl.operation, "operation"),
        permission=_word(_PERMISSIONS, acl.permission_type, "permission type"),
    )


def _word(words: dict[int, _Word], number: int, field: str) -> _Word:
    try:
        return words[number]
    except KeyError:
        raise AclsUnreadableError(
            f"acls.source = cluster: an ACL has the {field} {number}, which is unknown to Kafka 4.4"
        ) from None
