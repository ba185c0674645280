"""Rules in short: `ALLOW User:billing READ GROUP billing`, `DENY User:* ALL PREFIXED TOPIC pay FROM 10.0.0.0/8`."""

from __future__ import annotations

from group_coordinator.core.acls import (
    AclRule,
    Acls,
    Authorizer,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)


def rule(line: str) -> AclRule:
    words, _, host = line.partition(" FROM ")
    permission, principal, operation, *pattern, kind, name = words.split(" ")
    return AclRule(
        resource_type=ResourceType(kind),
        resource_name=name,
        pattern_type=PatternType(pattern[0]) if pattern else PatternType.LITERAL,
        principal=principal,
        host=host or "*",
        operation=Operation(operation),
        permission=Permission(permission),
    )


def rules(*lines: str) -> tuple[AclRule, ...]:
    return tuple(rule(line) for line in lines)


def authorizer(*lines: str, super_users: tuple[str, ...] = ()) -> Authorizer:
    return Authorizer(Acls(rules(*lines), super_users))
