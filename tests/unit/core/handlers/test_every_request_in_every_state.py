from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import TypeAlias

import pytest

from group_coordinator.core.model.requests import (
    DeleteGroup,
    DescribeGroup,
    EndTxn,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    OffsetDelete,
    OffsetFetch,
    Request,
    SyncGroup,
    Tick,
    Topic,
    TopicMetadata,
    TopicPartitions,
)
from tests.unit.core import requests as messages
from tests.unit.core.groups_in_every_state import GROUPS_IN_EVERY_STATE, state_of

A_DAY_MS = 86_400_000
ORDERS = Topic("orders", "4ksO1bcLSgCStYJnTlCVLg", 2)
INSTANCE_IDS = [None, "i", "unknown-instance"]
PARTITIONS = (TopicPartitions("orders", None, (0, 1)), TopicPartitions("nowhere", None, (-1,)))
Requests: TypeAlias = Iterator[tuple[Request, int]]


def joins(member_ids: list[str], _: list[int]) -> Requests:
    offers = [(messages.protocol(),), (messages.unreadable("other"),)]
    for member_id, instance_id, protocols in product(member_ids, INSTANCE_IDS, offers):
        yield messages.join(member_id, *protocols, instance_id=instance_id), 3
        yield messages.join(member_id, *protocols, instance_id=instance_id), 9
    yield messages.join(protocol_type="connect"), 9
    yield messages.join(protocol_type="").replace(protocols=()), 9
    yield messages.join(session_timeout_ms=1).replace(protocols=()), 9


def syncs(member_ids: list[str], generations: list[int]) -> Requests:
    assignments = [("nobody", b"?"), *((member_id, b"all") for member_id in member_ids)]
    for member_id, generation, instance_id in product(member_ids, generations, INSTANCE_IDS):
        yield messages.sync(member_id, generation, assignments, instance_id=instance_id), 5
        without_protocol = messages.sync(
            member_id, generation, instance_id=instance_id, protocol_type=None, name=None
        )
        yield without_protocol, 3
        yield messages.sync(member_id, generation, protocol_type="connect", name="?"), 5


def heartbeats(member_ids: list[str], generations: list[int]) -> Requests:
    for member_id, generation, instance_id in product(member_ids, generations, INSTANCE_IDS):
        yield Heartbeat("g", generation, member_id, instance_id), 4


def leaves(member_ids: list[str], _: list[int]) -> Requests:
    for member_id, instance_id in product(member_ids, INSTANCE_IDS):
        yield messages.leave((member_id, instance_id)), 5
        yield messages.leave((member_id, None)), 0
    yield LeaveGroup("g", tuple(LeavingMember(member_id, None) for member_id in member_ids)), 5
    yield messages.leave(), 5


def commits(member_ids: list[str], generations: list[int]) -> Requests:
    entries = (messages.at_offset(1), messages.at_offset(-7, -1, metadata="x" * 5_000))
    for member_id, generation, instance_id in product(
        member_ids, [*generations, None], INSTANCE_IDS
    ):
        request = messages.commit(
            *entries, member_id=member_id, generation=generation, instance_id=instance_id
        )
        yield request, 8
        yield request, 9
    yield messages.commit(topic=None, topic_id=ORDERS.topic_id), 10
    yield messages.commit().replace(retention_time_ms=0, topics=()), 2


def transactional_commits(member_ids: list[str], generations: list[int]) -> Requests:
    for member_id, generation, instance_id in product(
        member_ids, [*generations, None], INSTANCE_IDS
    ):
        request = messages.txn_commit(
            generation=generation, member_id=member_id, group_instance_id=instance_id
        )
        yield request, 3
    yield messages.txn_commit(group_id=""), 3
    yield EndTxn(group_id="g", producer_id=17, is_commit=True), 0
    yield EndTxn(group_id="g", producer_id=17, is_commit=False), 0


def fetches(_: list[str], __: list[int]) -> Requests:
    for topics, version in product((None, (), PARTITIONS), (1, 8, 10)):
        yield OffsetFetch("g", None, None, topics, require_stable=True), version


def deletions(_: list[str], __: list[int]) -> Requests:
    yield OffsetDelete("g", PARTITIONS), 0
    yield OffsetDelete("g", ()), 0
    yield DeleteGroup("g"), 2


def descriptions(_: list[str], __: list[int]) -> Requests:
    yield DescribeGroup("g"), 5
    yield DescribeGroup("g"), 6


@pytest.mark.parametrize(
    "requests",
    [
        *(joins, syncs, heartbeats, leaves, commits, transactional_commits),
        *(fetches, deletions, descriptions),
    ],
)
@pytest.mark.parametrize("name", GROUPS_IN_EVERY_STATE)
def test_every_request_gets_one_answer(
    name: str, requests: Callable[[list[str], list[int]], Requests]
) -> None:
    make_group, state = GROUPS_IN_EVERY_STATE[name]
    present = make_group()
    assert state_of(present.driver) is state
    for request, version in requests(["", *present.member_ids, "nobody"], [-1, 0, 1, 2]):
        driver, _ = make_group()
        outcome = driver.send(request, version)
        assert not outcome.is_parked or isinstance(request, JoinGroup | SyncGroup)
        later = driver.sleep(A_DAY_MS)
        answers = [*outcome.responses, *later.responses].count(outcome.correlation_id)
        assert answers == 1, (request, version)


@pytest.mark.parametrize("name", GROUPS_IN_EVERY_STATE)
@pytest.mark.parametrize(
    "request_",
    [Tick("g"), TopicMetadata("g", (ORDERS,), ()), TopicMetadata("g", (), (("orders", "?"),))],
)
def test_events_of_the_system_are_taken_without_an_answer(name: str, request_: Request) -> None:
    make_group, state = GROUPS_IN_EVERY_STATE[name]
    driver, _ = make_group()

    assert driver.send(request_, 0).responses == {}
    assert state_of(driver) is state


@pytest.mark.parametrize("name", GROUPS_IN_EVERY_STATE)
def test_whatever_happens_the_group_is_gone_in_the_end(name: str) -> None:
    driver, _ = GROUPS_IN_EVERY_STATE[name][0]()

    driver.sleep(8 * A_DAY_MS)

    assert driver.group.membership is None
    assert driver.group.offsets == {}
    assert driver.next_deadline_ms is None
