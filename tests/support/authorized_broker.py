"""A broker with an authorizer. Its users log in by name with one password, and have the rights of their ACLs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import closing
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ResourcePattern,
    ResourceType,
)

from group_coordinator.core.acls import AclRule, PatternType, Permission, Right
from group_coordinator.local.broker import EmbeddedBroker

ADMIN = "admin"
PASSWORD = "hush"  # noqa: S105 - of a broker that lives as long as a test


def authorized_broker(users: Collection[str], **properties: str) -> EmbeddedBroker:
    """With these users and an administrator who may do everything."""
    logins = " ".join(f'user_{user}="{PASSWORD}"' for user in (ADMIN, *users))
    module = "org.apache.kafka.common.security.plain.PlainLoginModule required"
    login = f'{module} username="{ADMIN}" password="{PASSWORD}" {logins};'
    return EmbeddedBroker(
        properties={
            "listener.security.protocol.map": "CLIENTS:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
            "sasl.enabled.mechanisms": "PLAIN",
            "sasl.mechanism.inter.broker.protocol": "PLAIN",
            "listener.name.clients.plain.sasl.jaas.config": login,
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            # The one who comes from the controller's listener has no name.
            "super.users": f"User:{ADMIN};User:ANONYMOUS",
            "group.initial.rebalance.delay.ms": "0",
            **properties,
        }
    )


def login_of(user: str) -> dict[str, Any]:
    """Options of kafka-python."""
    return {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": user,
        "sasl_plain_password": PASSWORD,
    }


def admin_of(broker: EmbeddedBroker) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers, **login_of(ADMIN))


def create_acls(broker: EmbeddedBroker, rules: Iterable[AclRule]) -> None:
    """All in one request."""
    with closing(admin_of(broker)) as admin:
        assert admin.create_acls([_kafkas(one) for one in rules])["failed"] == []


def allowed(user: str, right: Right) -> AclRule:
    """The rule that grants a right to a user, from any host."""
    kind, name = right.kind, right.name
    principal, everywhere = f"User:{user}", "*"
    return AclRule(
        resource_type=kind,
        resource_name=name,
        pattern_type=PatternType.LITERAL,
        principal=principal,
        host=everywhere,
        operation=right.operation,
        permission=Permission.ALLOW,
    )


def _kafkas(one: AclRule) -> ACL:
    kind, pattern = ResourceType[one.resource_type], ACLResourcePatternType[one.pattern_type]
    return ACL(
        one.principal,
        one.host,
        ACLOperation[one.operation],
        ACLPermissionType[one.permission],
        ResourcePattern(kind, one.resource_name, pattern),
    )
