from __future__ import annotations

import asyncio

import pytest

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.login import Caller
from group_coordinator.gateway.rights.checked_groups import CheckedGroups
from group_coordinator.gateway.rights.rights import ClientRights
from tests.unit.gateway.groups_driver import ORDERS, PAYMENTS, Groups, Topics
from tests.unit.gateway.stage import in_loop

REFUNDS = "AAAAAAAAAAAAAAAAAAAABA"
NOWHERE = "AAAAAAAAAAAAAAAAAAAABQ"
SIMPLE = {"groupId": "simple", "memberId": "", "generationIdOrMemberEpoch": -1}


def commit(*partitions: int, offset: int = 42, **topic: str) -> Body:
    return {
        **topic,
        "partitions": [{"partitionIndex": each, "committedOffset": offset} for each in partitions],
    }


def results(*codes: tuple[int, int], **topic: str) -> Body:
    return {
        **topic,
        "partitions": [{"partitionIndex": each, "errorCode": code} for each, code in codes],
    }


def late_topic() -> Topics:
    """refunds was made a moment ago: the gateway has not seen it yet."""
    topics = Topics()
    topics.hidden = {"refunds": (REFUNDS, 1)}
    return topics


@in_loop
async def test_partitions_that_do_not_exist_are_refused_before_the_others_are_asked() -> None:
    groups = Groups()
    topics = [commit(0, 3, -1, name="orders"), commit(0, name="payments"), commit(0, name="none")]

    answer = await groups.ask("OffsetCommit", 9, **SIMPLE, topics=topics)

    assert answer["topics"] == [
        results((3, 3), (-1, 3), (0, 0), name="orders"),
        results((0, 3), name="none"),
        results((0, 0), name="payments"),
    ]
    [asked] = groups.job.asked
    assert [topic["name"] for topic in asked.body["topics"]] == ["orders", "payments"]


@pytest.mark.parametrize("api", ["OffsetCommit", "TxnOffsetCommit"])
@in_loop
async def test_without_a_topic_that_exists_the_job_is_not_asked(api: str) -> None:
    groups = Groups(answer_timeout_ms=20)

    version = 9 if api == "OffsetCommit" else 2
    answer = await groups.ask(api, version, groupId="simple", topics=[commit(0, name="none")])

    assert answer == {"topics": [results((0, 3), name="none")]}
    assert groups.job.asked == []


@in_loop
async def test_a_commit_of_nothing_is_answered_at_once() -> None:
    groups = Groups()

    assert await groups.ask("OffsetCommit", 9, groupId="g", memberId="m", topics=[]) == {
        "topics": []
    }
    assert groups.job.asked == []


@in_loop
async def test_a_topic_that_is_named_twice_has_one_result_only_beside_refused_ones() -> None:
    groups = Groups()
    twice = [commit(0, name="orders"), commit(0, name="orders")]

    answer = await groups.ask("OffsetCommit", 9, **SIMPLE, topics=twice)
    mixed = await groups.ask("OffsetCommit", 9, **SIMPLE, topics=[*twice, commit(0, name="none")])

    assert answer["topics"] == [results((0, 0), name="orders"), results((0, 0), name="orders")]
    assert mixed["topics"] == [results((0, 3), name="none"), results((0, 0), (0, 0), name="orders")]


@in_loop
async def test_a_topic_without_partitions_has_a_result_only_if_it_does_not_exist() -> None:
    groups = Groups()
    topics = [commit(name="orders"), commit(name="none")]

    for api, version in (("OffsetCommit", 9), ("TxnOffsetCommit", 3)):
        answer = await groups.ask(api, version, groupId="simple", topics=topics)
        assert answer["topics"] == [results(name="none")]


@in_loop
async def test_topics_by_id_are_asked_by_name_and_answered_by_id() -> None:
    groups = Groups()
    topics = [commit(0, topicId=PAYMENTS), commit(0, topicId=NOWHERE), commit(1, topicId=ORDERS)]

    answer = await groups.ask("OffsetCommit", 10, **SIMPLE, topics=topics)

    assert answer["topics"] == [
        results((0, 100), topicId=NOWHERE),
        results((0, 0), topicId=PAYMENTS),
        results((1, 0), topicId=ORDERS),
    ]
    [asked] = groups.job.asked
    assert asked.version == 9
    assert [topic["name"] for topic in asked.body["topics"]] == ["payments", "orders"]


@in_loop
async def test_offsets_are_fetched_by_id() -> None:
    groups = Groups()
    await groups.ask("OffsetCommit", 9, **SIMPLE, topics=[commit(0, name="orders")])

    wanted = [
        {"topicId": NOWHERE, "partitionIndexes": [0]},
        {"topicId": ORDERS, "partitionIndexes": [0, 1]},
    ]
    answer = await groups.ask(
        "OffsetFetch",
        10,
        groups=[{"groupId": "simple", "topics": wanted}, {"groupId": "simple", "topics": None}],
    )

    by_id, everything = answer["groups"]
    assert [(topic["topicId"], offsets(topic)) for topic in by_id["topics"]] == [
        (ORDERS, [(0, 42, 0), (1, -1, 0)]),
        (NOWHERE, [(0, -1, 100)]),
    ]
    assert [(topic["topicId"], offsets(topic)) for topic in everything["topics"]] == [
        (ORDERS, [(0, 42, 0)])
    ]


@in_loop
async def test_a_topic_that_was_made_a_moment_ago_is_looked_up() -> None:
    by_name, by_id = Groups(late_topic()), Groups(late_topic())

    named = await by_name.ask("OffsetCommit", 8, **SIMPLE, topics=[commit(0, name="refunds")])
    known = await by_id.ask("OffsetCommit", 10, **SIMPLE, topics=[commit(0, topicId=REFUNDS)])

    assert named["topics"] == [results((0, 0), name="refunds")]
    assert known["topics"] == [results((0, 0), topicId=REFUNDS)]
    assert (by_name.topics.looks, by_id.topics.looks) == (1, 1)


class Judged:
    """A client whose rights a broker judges; meanwhile the gateway sees a topic."""

    def __init__(self, topics: Topics) -> None:
        self.rights = ClientRights(self._granted, lambda: True)
        self._topics = topics

    async def _granted(self, api: str, version: int, body: Body) -> Body:  # noqa: ARG002
        self._topics.there["refunds"] = (REFUNDS, 1)
        return {"errorCode": 25}

    def hold_requests(self) -> None:
        pass

    def take_requests(self) -> None:
        pass


@in_loop
async def test_what_has_no_name_when_rights_are_judged_does_not_exist_afterwards() -> None:
    groups = Groups()
    topics = [commit(0, topicId=REFUNDS)]
    checked = CheckedGroups(groups.apis.answer, groups.topics)
    caller = Caller("billing", "/10.0.0.7", "User:billing", None)

    answer = await checked.answer(
        "OffsetCommit", 10, {**SIMPLE, "topics": topics}, caller, Judged(groups.topics)
    )

    assert groups.topics.name_of(REFUNDS) == "refunds"
    assert answer["topics"] == [results((0, 100), topicId=REFUNDS)]
    assert groups.job.asked == []


@in_loop
async def test_commits_keep_their_order_while_one_of_them_is_looked_up() -> None:
    groups = Groups(late_topic())

    first = groups.send(
        "OffsetCommit",
        8,
        **SIMPLE,
        topics=[commit(0, offset=1, name="orders"), commit(0, name="refunds")],
    )
    second = groups.send("OffsetCommit", 8, **SIMPLE, topics=[commit(0, offset=2, name="orders")])
    other = groups.send(
        "OffsetCommit", 8, **{**SIMPLE, "groupId": "other"}, topics=[commit(0, name="orders")]
    )

    assert [asked.group_id for asked in groups.job.asked] == ["other"]
    await asyncio.gather(first, second, other)
    assert [asked.group_id for asked in groups.job.asked] == ["other", "simple", "simple"]
    fetched = await groups.ask(
        "OffsetFetch", 7, groupId="simple", topics=[{"name": "orders", "partitionIndexes": [0]}]
    )
    assert offsets(fetched["topics"][0]) == [(0, 2, 0)]


@in_loop
async def test_a_client_that_goes_while_its_topic_is_looked_up_holds_nobody_back() -> None:
    groups = Groups(late_topic())

    gone = groups.send("OffsetCommit", 8, **SIMPLE, topics=[commit(0, name="refunds")])
    next_one = groups.send("OffsetCommit", 8, **SIMPLE, topics=[commit(0, name="orders")])
    await asyncio.sleep(0)
    gone.cancel()

    assert (await next_one)["topics"] == [results((0, 0), name="orders")]
    assert len(groups.job.asked) == 1


@in_loop
async def test_an_error_of_the_group_takes_the_place_of_those_of_topics() -> None:
    groups = Groups()
    topics = [{"name": "none", "partitions": [{"partitionIndex": 0}]}]

    answer = await groups.ask("OffsetDelete", 0, groupId="nothing", topics=topics)

    assert answer == {"errorCode": 69, "topics": []}


@in_loop
async def test_offsets_of_topics_that_do_not_exist_are_not_deleted() -> None:
    groups = Groups()
    await groups.ask("OffsetCommit", 9, **SIMPLE, topics=[commit(0, name="orders")])
    topics = [
        {"name": "none", "partitions": [{"partitionIndex": 0}]},
        {"name": "orders", "partitions": [{"partitionIndex": 0}, {"partitionIndex": 9}]},
    ]

    answer = await groups.ask("OffsetDelete", 0, groupId="simple", topics=topics)

    assert answer == {
        "errorCode": 0,
        "topics": [results((0, 3), name="none"), results((9, 3), (0, 0), name="orders")],
    }


@in_loop
async def test_offsets_in_a_transaction_wait_for_brokers_that_say_where_its_markers_begin() -> None:
    groups = Groups()

    answer = await groups.ask(
        "TxnOffsetCommit",
        3,
        transactionalId="t",
        groupId="simple",
        topics=[commit(0, name="orders")],
    )

    assert answer == {"topics": [results((0, 15), name="orders")]}
    assert groups.job.asked == []


@in_loop
async def test_a_fetch_waits_for_markers_unless_it_asks_for_stable_offsets() -> None:
    groups = Groups()
    await groups.ask("OffsetCommit", 9, **SIMPLE, topics=[commit(0, name="orders")])
    groups.with_open_transactions.add("simple")
    fetched = groups.send("OffsetFetch", 7, groupId="simple", topics=None, requireStable=False)
    await groups.ask("OffsetFetch", 7, groupId="simple", topics=None, requireStable=True)
    assert [request.api for request in groups.job.asked] == ["OffsetCommit", "OffsetFetch"]

    groups.with_open_transactions.clear()
    [topic] = (await fetched)["topics"]

    assert (topic["name"], offsets(topic)) == ("orders", [(0, 42, 0)])


def offsets(topic: Body) -> list[tuple[int, int, int]]:
    return [
        (each["partitionIndex"], each["committedOffset"], each["errorCode"])
        for each in topic["partitions"]
    ]
