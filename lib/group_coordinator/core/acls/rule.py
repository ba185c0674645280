"""Rules: a principal, at a host, may or may not do something with what a pattern names. The words are Kafka's.

Source: AclBinding, AclOperation and ResourceType of Kafka 4.4.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from group_coordinator.core.value import Value

WILDCARD = "*"
"""As the name of a LITERAL pattern: any name; as a host: any host."""
ANY_PRINCIPAL = "User:*"
ANONYMOUS = "User:ANONYMOUS"
"""Who did not log in."""
THE_JOB = "Job:group-coordinator"
"""Who tells groups of topics and of the ends of transactions. Whoever logs in is a User."""
CLUSTER_NAME = "kafka-cluster"
"""Of the only resource of type CLUSTER."""


class ResourceType(StrEnum):
    """What a right may be about."""

    TOPIC = "TOPIC"
    GROUP = "GROUP"
    CLUSTER = "CLUSTER"
    TRANSACTIONAL_ID = "TRANSACTIONAL_ID"
    DELEGATION_TOKEN = "DELEGATION_TOKEN"  # noqa: S105 - a type
    USER = "USER"


class PatternType(StrEnum):
    """How a rule names resources."""

    LITERAL = "LITERAL"
    PREFIXED = "PREFIXED"


class Operation(StrEnum):
    """What may be done; those that no request about groups needs are here because clusters have rules with them."""

    ALL = "ALL"
    READ = "READ"
    WRITE = "WRITE"
    CREATE = "CREATE"
    DELETE = "DELETE"
    ALTER = "ALTER"
    DESCRIBE = "DESCRIBE"
    CLUSTER_ACTION = "CLUSTER_ACTION"
    DESCRIBE_CONFIGS = "DESCRIBE_CONFIGS"
    ALTER_CONFIGS = "ALTER_CONFIGS"
    IDEMPOTENT_WRITE = "IDEMPOTENT_WRITE"
    CREATE_TOKENS = "CREATE_TOKENS"
    DESCRIBE_TOKENS = "DESCRIBE_TOKENS"
    TWO_PHASE_COMMIT = "TWO_PHASE_COMMIT"


class Permission(StrEnum):
    """What a rule says of those whom it is about."""

    ALLOW = "ALLOW"
    DENY = "DENY"


_FIRST_NUMBER = 2
"""Of ALL; Kafka counts on in the order above."""
BITS = {operation: 1 << number for number, operation in enumerate(Operation, _FIRST_NUMBER)}
"""Of each operation, in the sets that answers call authorizedOperations."""


class Right(NamedTuple):
    """An operation on a resource."""

    operation: Operation
    kind: ResourceType
    name: str


class AclRule(Value, frozen=True):
    """A rule; `principal` is TYPE:NAME, `host` an address, a range as 10.0.0.0/8, or `*`."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission


class Acls(Value, frozen=True):
    """What a cluster says of rights; `super_users` are principals who may do everything."""

    rules: tuple[AclRule, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl_found: bool = False
    """Whether everybody may do everything with what no rule names."""
