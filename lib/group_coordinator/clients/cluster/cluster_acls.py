"""Reader of the cluster's own ACLs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

from kafka import KafkaAdminClient
from kafka.errors import (
    ClusterAuthorizationFailedError,
    SecurityDisabledError,
    for_code,
)
from kafka.protocol.admin import DescribeAclsRequest
from msgspec import structs

from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.lasting_client import LastingClient
from group_coordinator.clients.cluster.raw_request import answer_of
from group_coordinator.clients.errors import ClientError
from group_coordinator.core.acls.rule import (
    CLUSTER_NAME,
    AclRule,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)

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
    """Return True if the brokers have an authorizer.

    Raises:
        ChannelError: the cluster does not answer, or rejects the login.
    """
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
    answer = answer_of(admin, request)
    if answer.error_code:
        raise for_code(answer.error_code)(answer.error_message)
    return answer


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
