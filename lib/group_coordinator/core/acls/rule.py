"""ACLs, in Kafka's words: a principal at a host may or may not do an operation on the resources of a pattern.

Source: AclBinding, AclOperation and ResourceType of Kafka 4.4.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from group_coordinator.core.value import Value

WILDCARD = "*"
"""Any name, in a LITERAL pattern; any host, as a host."""
ANY_PRINCIPAL = "User:*"
ANONYMOUS = "User:ANONYMOUS"
"""The principal of clients without authentication."""
THE_JOB = "Job:group-coordinator"
"""The principal of the job's own events: topic metadata and transaction markers. Authenticated clients are of type User."""
CLUSTER_NAME = "kafka-cluster"
"""The name of the only resource of type CLUSTER."""


class ResourceType(StrEnum):
    TOPIC = "TOPIC"
    GROUP = "GROUP"
    CLUSTER = "CLUSTER"
    TRANSACTIONAL_ID = "TRANSACTIONAL_ID"
    DELEGATION_TOKEN = "DELEGATION_TOKEN"  # noqa: S105 - a type
    USER = "USER"


class PatternType(StrEnum):
    """Kafka's types of patterns for resource names."""

    LITERAL = "LITERAL"
    PREFIXED = "PREFIXED"


class Operation(StrEnum):
    """Kafka's operations. A cluster may have ACLs with any of them, though requests about groups need only some."""

    # In the order of Kafka's numbers, from which BITS follows.
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
    ALLOW = "ALLOW"
    DENY = "DENY"


# 0 and 1 are UNKNOWN and ANY, which no rule has.
_FIRST_NUMBER = 2
"""The number of ALL in Kafka. The next operations follow in the order above."""
BITS = {operation: 1 << number for number, operation in enumerate(Operation, _FIRST_NUMBER)}
"""The bit of each operation in the authorizedOperations of responses."""


class Right(NamedTuple):
    """An operation on a resource."""

    operation: Operation
    kind: ResourceType
    name: str


class AclRule(Value, frozen=True, kw_only=True):
    """An ACL. `principal` is TYPE:NAME; `host` is an address, a range such as 10.0.0.0/8, or `*`."""

    resource_type: ResourceType
    resource_name: str
    pattern_type: PatternType
    principal: str
    host: str
    operation: Operation
    permission: Permission


class Acls(Value, frozen=True):
    """The ACLs of a cluster. `super_users` are principals that may do every operation."""

    rules: tuple[AclRule, ...]
    super_users: tuple[str, ...] = ()
    allow_everyone_if_no_acl_found: bool = False
    """True: every principal may do every operation on resources without an ACL."""
