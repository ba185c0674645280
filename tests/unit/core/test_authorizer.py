"""Who may do what; tests/conformance/test_authorizer.py has ten thousand sets of rules that Kafka's own authorizer judges."""

from __future__ import annotations

import pytest

from group_coordinator.core.acls import (
    Acls,
    Authorizer,
    Denial,
    Operation,
    RequestSender,
    ResourceType,
    Rights,
)
from tests.support.acls import authorizer, rule, rules

GROUP, TOPIC = ResourceType.GROUP, ResourceType.TOPIC
READ, WRITE = Operation.READ, Operation.WRITE
DELETE, DESCRIBE = Operation.DELETE, Operation.DESCRIBE
BILLING = RequestSender("User:billing", "10.0.0.7")


def may(
    line: str, operation: Operation, name: str = "billing", caller: RequestSender = BILLING
) -> bool:
    return Rights(authorizer(line), caller).may(operation, GROUP, name)


def test_what_no_rule_names_is_denied_unless_kafka_is_told_otherwise() -> None:
    audit = rules("ALLOW User:audit READ GROUP audit")
    closed = Rights(Authorizer(Acls(audit)), BILLING)
    opened = Rights(Authorizer(Acls(audit, allow_everyone_if_no_acl_found=True)), BILLING)

    assert not closed.may(READ, GROUP, "billing")
    assert opened.may(READ, GROUP, "billing")
    assert not opened.may(READ, GROUP, "audit")


@pytest.mark.parametrize(
    ("line", "is_allowed"),
    [
        ("ALLOW User:billing READ GROUP billing", True),
        ("ALLOW User:billing READ GROUP bill", False),
        ("ALLOW User:billing READ PREFIXED GROUP bill", True),
        ("ALLOW User:billing READ PREFIXED GROUP billing", True),
        ("ALLOW User:billing READ PREFIXED GROUP billings", False),
        ("ALLOW User:billing READ GROUP *", True),
        ("ALLOW User:billing READ PREFIXED GROUP *", False),
        ("ALLOW User:* READ GROUP billing", True),
        ("ALLOW User:audit READ GROUP billing", False),
        ("ALLOW Group:billing READ GROUP billing", False),
        ("ALLOW User:billing READ TOPIC billing", False),
        ("ALLOW User:billing ALL GROUP billing", True),
        ("ALLOW User:billing WRITE GROUP billing", False),
        ("ALLOW User:billing READ GROUP billing FROM 10.0.0.7", True),
        ("ALLOW User:billing READ GROUP billing FROM 10.0.0.8", False),
        ("ALLOW User:billing READ GROUP billing FROM 10.0.0.0/8", True),
        ("ALLOW User:billing READ GROUP billing FROM 10.0.0.8/31", False),
    ],
)
def test_a_rule_is_about_what_it_names(line: str, is_allowed: bool) -> None:  # noqa: FBT001 - a table
    assert may(line, READ) is is_allowed


@pytest.mark.parametrize("operation", ["READ", "WRITE", "DELETE", "ALTER", "DESCRIBE", "ALL"])
def test_who_may_do_more_may_describe(operation: str) -> None:
    assert may(f"ALLOW User:billing {operation} GROUP billing", DESCRIBE)


@pytest.mark.parametrize(
    "operation", ["CREATE", "ALTER_CONFIGS", "DESCRIBE_CONFIGS", "CLUSTER_ACTION"]
)
def test_other_operations_do_not_imply_to_describe(operation: str) -> None:
    assert not may(f"ALLOW User:billing {operation} GROUP billing", DESCRIBE)


def test_who_may_alter_settings_may_see_them() -> None:
    see = Operation.DESCRIBE_CONFIGS

    assert may("ALLOW User:billing ALTER_CONFIGS GROUP billing", see)
    assert not may("ALLOW User:billing ALTER GROUP billing", see)


@pytest.mark.parametrize(
    "line",
    [
        "DENY User:billing READ GROUP billing",
        "DENY User:* ALL GROUP billing",
        "DENY User:billing READ GROUP *",
        "DENY User:billing READ PREFIXED GROUP b",
        "DENY User:billing READ GROUP billing FROM 10.0.0.0/8",
    ],
)
def test_a_denial_counts_before_every_permission(line: str) -> None:
    allowed = rules(
        "ALLOW User:billing ALL GROUP billing",
        "ALLOW User:billing READ PREFIXED GROUP billing",
        "ALLOW User:* READ GROUP *",
    )
    for order in ((*allowed, rule(line)), (rule(line), *allowed)):
        assert not Rights(Authorizer(Acls(order)), BILLING).may(READ, GROUP, "billing")


def test_a_denial_implies_nothing() -> None:
    both = authorizer("ALLOW User:* ALL GROUP *", "DENY User:billing READ GROUP billing")
    rights = Rights(both, BILLING)

    said = rights.may(READ, GROUP, "billing"), rights.may(DESCRIBE, GROUP, "billing")
    assert said == (False, True)


def test_super_users_may_do_everything() -> None:
    denied = authorizer("DENY User:* ALL GROUP *", super_users=("User:admin", "User:billing"))

    assert Rights(denied, BILLING).may(DELETE, GROUP, "billing")
    assert not Rights(denied, RequestSender("User:audit", "10.0.0.7")).may(DELETE, GROUP, "billing")


def test_a_rule_about_any_name_is_not_about_those_that_begin_with_an_asterisk() -> None:
    line = "ALLOW User:billing READ GROUP *"

    assert [may(line, READ, name) for name in ("*", "*a", "a*")] == [True, False, True]


def test_what_was_denied_is_told_once_and_only_of_what_the_request_needs() -> None:
    rights = Rights(authorizer("ALLOW User:billing READ GROUP billing"), BILLING)
    rights.may(WRITE, GROUP, "billing")
    rights.has(READ, GROUP, "billing")
    for _ in range(2):
        rights.has(READ, TOPIC, "orders")
    rights.has(READ, GROUP, "audit")

    assert rights.denials == (Denial(READ, TOPIC, "orders"), Denial(READ, GROUP, "audit"))


def test_operations_on_a_group_are_kafkas_bits() -> None:
    allowed = authorizer(
        "ALLOW User:billing READ GROUP billing", "ALLOW User:billing DESCRIBE_CONFIGS GROUP *"
    )
    read, describe, describe_configs = 1 << 3, 1 << 8, 1 << 10

    rights = Rights(allowed, BILLING)
    assert rights.operations_on("billing") == read | describe | describe_configs
    assert rights.operations_on("audit") == describe_configs
