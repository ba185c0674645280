"""When an offset expires: the rule, the sweeps, and the times that a request or a setting gives."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.classic_member import ClassicState
from group_coordinator.core.model.group import Group
from group_coordinator.core.offsets.expiration import (
    ExpirationRule,
    first_sweep_at_or_after,
    next_sweep,
    rule_for,
)
from group_coordinator.testing import GroupDriver
from tests.unit.core import requests
from tests.unit.core.groups_in_every_state import COMPLETING, EMPTY, PREPARING, STABLE
from tests.unit.core.requests import at_offset
from tests.unit.core.retention import a_minute_of_retention, check_gone_at, keep_alive

NONE: frozenset[str] = frozenset()
ORDERS = frozenset({"orders"})
BY_COMMIT = ExpirationRule("commit")
NEVER = ExpirationRule("never")


# The rule.


@pytest.mark.parametrize(
    ("state", "protocol_type", "subscribed", "empty_since_ms", "rule"),
    [
        # A simple group.
        (EMPTY, None, None, 7, BY_COMMIT),
        (EMPTY, None, None, None, BY_COMMIT),
        # Consumers whose subscriptions are known.
        (EMPTY, "consumer", NONE, 7, ExpirationRule("empty", NONE, 7)),
        (EMPTY, "consumer", NONE, None, ExpirationRule("commit", NONE, None)),
        (EMPTY, "consumer", ORDERS, 7, ExpirationRule("empty", ORDERS, 7)),
        (PREPARING, "consumer", ORDERS, 7, NEVER),
        (COMPLETING, "consumer", ORDERS, 7, NEVER),
        (STABLE, "consumer", ORDERS, 7, ExpirationRule("commit", ORDERS)),
        (STABLE, "consumer", NONE, 7, ExpirationRule("commit", NONE)),
        # Consumers whose subscriptions are not known.
        (EMPTY, "consumer", None, 7, NEVER),
        (PREPARING, "consumer", None, 7, NEVER),
        (COMPLETING, "consumer", None, 7, NEVER),
        (STABLE, "consumer", None, 7, NEVER),
        # Groups of another kind, for example of Kafka Connect.
        (EMPTY, "connect", None, 7, ExpirationRule("empty", NONE, 7)),
        (EMPTY, "connect", None, None, ExpirationRule("commit", NONE, None)),
        (PREPARING, "connect", None, 7, NEVER),
        (COMPLETING, "connect", None, 7, NEVER),
        (STABLE, "connect", None, 7, NEVER),
    ],
)
def test_the_rule_of_every_situation(
    state: ClassicState,
    protocol_type: str | None,
    subscribed: frozenset[str] | None,
    empty_since_ms: int | None,
    rule: ExpirationRule,
) -> None:
    assert rule_for(state, protocol_type, subscribed, empty_since_ms) == rule


@pytest.mark.parametrize(
    ("rule", "expire_timestamp_ms", "due_ms"),
    [
        (BY_COMMIT, None, 1_100),
        (BY_COMMIT, 500, 500),
        (ExpirationRule("empty", NONE, 3_000), None, 3_100),
        (ExpirationRule("empty", NONE, 3_000), 500, 500),
        (ExpirationRule("commit", ORDERS), None, None),
        (ExpirationRule("commit", ORDERS), 500, None),
        (NEVER, None, None),
        (NEVER, 500, None),
    ],
)
def test_when_an_offset_is_due(
    rule: ExpirationRule, expire_timestamp_ms: int | None, due_ms: int | None
) -> None:
    offset = requests.committed_offset(expire_timestamp_ms=expire_timestamp_ms)

    assert rule.due_ms("orders", offset, retention_ms=100) == due_ms


@pytest.mark.parametrize(
    ("time_ms", "sweep_ms"), [(0, 0), (1, 10), (9, 10), (10, 10), (11, 20), (-1, 0), (-10, -10)]
)
def test_sweeps_lie_on_a_grid(time_ms: int, sweep_ms: int) -> None:
    assert first_sweep_at_or_after(time_ms, interval_ms=10) == sweep_ms


def test_where_there_is_no_group_there_is_no_sweep() -> None:
    assert next_sweep(Group("g"), 0, GroupDriver().config) is None


# KIP-211: expiry times in the request, and what there is to configure.


def test_the_commit_time_of_version_1_is_what_counts() -> None:
    driver = a_minute_of_retention()
    driver.at(30_000)
    driver.send(requests.commit(at_offset(1, commit_timestamp_ms=10_000)), 1)

    check_gone_at(driver, 70_000)


def test_an_offset_of_the_far_future_is_no_deadline() -> None:
    driver = a_minute_of_retention()
    driver.send(requests.commit(at_offset(1, commit_timestamp_ms=2**63 - 1)), 1)

    assert driver.next_deadline_ms is None


def test_a_new_subscription_protects_at_once() -> None:
    driver = a_minute_of_retention()
    (member_id,) = driver.form(topics=["orders"])
    driver.commit({"refunds": {0: 1}}, member_id, 1)
    keep_alive(driver, member_id, 62_999)

    driver.join(member_id, topics=["refunds"])
    driver.sync(member_id, 2)
    keep_alive(driver, member_id, 100_000, generation=2)

    assert list(driver.group.offsets) == ["refunds"]
