from __future__ import annotations

import asyncio

import pytest
from msgspec import json

from group_coordinator.clients.channel import Body
from group_coordinator.gateway.groups.group_tables import GroupSettings
from group_coordinator.gateway.job.job_channel import GroupRequest
from tests.unit.gateway.groups_driver import ORDERS, Groups, Topics, join_body
from tests.unit.gateway.stage import in_loop

NOBODY = {"generationId": 1, "memberId": "nobody"}
ORDERS_0 = {"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 42}]}

COMMIT = {
    "groupId": "simple",
    "memberId": "",
    "generationIdOrMemberEpoch": -1,
    "topics": [ORDERS_0],
}


async def settled() -> None:
    """What was begun in the event loop has been done."""
    for _ in range(5):
        await asyncio.sleep(0)


def session(group_id: str, timeout_ms: str | None) -> Body:
    """A resource of IncrementalAlterConfigs; None takes the setting back."""
    operation = 0 if timeout_ms is not None else 1
    config = {
        "name": "consumer.session.timeout.ms",
        "configOperation": operation,
        "value": timeout_ms,
    }
    return {"resourceType": 32, "resourceName": group_id, "configs": [config]}


@in_loop
async def test_a_member_joins_syncs_and_beats() -> None:
    groups = Groups()

    asked = await groups.ask("JoinGroup", 9, **join_body("billing"))
    joined = await groups.ask("JoinGroup", 9, **join_body("billing", asked["memberId"]))
    synced = await groups.ask(
        "SyncGroup",
        5,
        groupId="billing",
        generationId=1,
        memberId=asked["memberId"],
        protocolType="consumer",
        protocolName="range",
        assignments=[{"memberId": asked["memberId"], "assignment": "AAAA"}],
    )

    assert asked["errorCode"] == 79
    assert asked["memberId"].startswith("billing-")
    assert joined["errorCode"] == 0
    assert joined["generationId"] == 1
    assert joined["leader"] == asked["memberId"]
    assert synced == {
        "errorCode": 0,
        "protocolType": "consumer",
        "protocolName": "range",
        "assignment": "AAAA",
    }
    beat = {"groupId": "billing", "generationId": 1, "memberId": asked["memberId"]}
    assert await groups.ask("Heartbeat", 4, **beat) == {"errorCode": 0}


@in_loop
async def test_who_asks_is_in_the_event() -> None:
    groups = Groups()

    await groups.ask("Heartbeat", 4, groupId="billing", **NOBODY)

    [asked] = groups.job.asked
    assert asked.caller.client_id == "billing"
    assert asked.caller.client_host == "/10.0.0.7"
    assert asked.caller.principal == "User:billing"
    assert asked.group_id == "billing"
    assert asked.body == {
        "groupId": "billing",
        "generationId": 1,
        "memberId": "nobody",
        "groupInstanceId": None,
    }


@in_loop
async def test_events_are_on_their_way_before_the_answer_is_awaited() -> None:
    groups = Groups()

    answers = [groups.send("Heartbeat", 4, groupId=name, **NOBODY) for name in "abc"]

    assert [asked.group_id for asked in groups.job.asked] == ["a", "b", "c"]
    assert [(await answer)["errorCode"] for answer in answers] == [25, 25, 25]


@in_loop
async def test_a_list_of_groups_is_an_event_each_and_one_answer() -> None:
    groups = Groups()
    await groups.stable("billing")

    answer = await groups.ask("DescribeGroups", 6, groups=["nothing", "billing"])

    assert [(group["groupId"], group["errorCode"]) for group in answer["groups"]] == [
        ("nothing", 69),
        ("billing", 0),
    ]
    assert [asked.body["groups"] for asked in groups.job.asked[-2:]] == [["nothing"], ["billing"]]


@pytest.mark.parametrize(
    ("api", "version", "asked", "given"),
    [
        ("DescribeGroups", 6, "groups", "groups"),
        ("DeleteGroups", 3, "groupsNames", "results"),
        ("OffsetFetch", 8, "groups", "groups"),
        ("OffsetFetch", 10, "groups", "groups"),
        ("ConsumerGroupDescribe", 1, "groupIds", "groups"),
        ("DescribeConfigs", 4, "resources", "results"),
        ("IncrementalAlterConfigs", 1, "resources", "responses"),
    ],
)
@in_loop
async def test_an_empty_list_needs_no_job(api: str, version: int, asked: str, given: str) -> None:
    groups = Groups()

    assert await groups.ask(api, version, **{asked: []}) == {given: []}
    assert groups.job.asked == []


@in_loop
async def test_a_group_that_is_named_twice_is_deleted_once() -> None:
    groups = Groups()
    await groups.ask("OffsetCommit", 9, **COMMIT)

    answer = await groups.ask("DeleteGroups", 3, groupsNames=["simple", "simple"])

    assert answer["results"] == [{"groupId": "simple", "errorCode": 0, "errorMessage": None}]


@in_loop
async def test_one_group_that_fails_does_not_hide_the_others() -> None:
    groups = Groups(event_max_bytes=2_000)
    long_name = "g" * 3_000

    answer = await groups.ask("DescribeGroups", 5, groups=[long_name, "nothing"])

    assert [(len(group["groupId"]), group["errorCode"]) for group in answer["groups"]] == [
        (3_000, 42),
        (7, 0),
    ]


@in_loop
async def test_an_event_that_is_too_large_is_refused() -> None:
    groups = Groups(event_max_bytes=2_000)

    answer = await groups.ask(
        "Heartbeat", 4, groupId="billing", generationId=1, memberId="m" * 3_000
    )

    assert answer == {"errorCode": 42}


@in_loop
async def test_a_silent_job_makes_clients_look_for_the_coordinator_again() -> None:
    groups = Groups(answer_timeout_ms=20)
    groups.job.is_silent = True

    assert await groups.ask("Heartbeat", 4, groupId="billing", **NOBODY) == {"errorCode": 15}


@in_loop
async def test_a_client_that_goes_is_forgotten() -> None:
    groups = Groups()
    groups.job.is_silent = True

    answer = groups.send("SyncGroup", 5, groupId="billing", **NOBODY)
    await settled()
    assert groups.job.open_count == 1
    answer.cancel()
    await settled()

    assert groups.job.open_count == 0


@in_loop
async def test_but_what_it_may_repeat_is_asked_once() -> None:
    groups = Groups(delay_s=(0.01, 0.01))

    first = groups.send("Heartbeat", 4, groupId="billing", **NOBODY)
    await settled()
    first.cancel()
    await settled()
    answer = await groups.ask("Heartbeat", 4, groupId="billing", **NOBODY)

    assert answer == {"errorCode": 25}
    assert len(groups.job.asked) == 1


@in_loop
async def test_an_event_that_the_job_cannot_take_is_refused_where_the_api_has_errors() -> None:
    groups = Groups()
    groups.job.is_silent = True
    commit = {"groupId": "billing", "memberId": "", "topics": [ORDERS_0]}

    answer = groups.send("OffsetCommit", 9, **commit)
    groups.job.arrived(
        b'{"api": "OffsetCommit", "version": 9, "groupId": "billing", "at": 1,'
        b' "correlationId": "in-process-1", "body": {"errorCode": 42, "errorMessage": "why"}}'
    )

    [topic] = (await answer)["topics"]
    assert topic == {"name": "orders", "partitions": [{"partitionIndex": 0, "errorCode": 42}]}


@in_loop
async def test_an_answer_unlike_kafkas_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    groups = Groups()
    groups.job.is_silent = True

    answer = groups.send("Heartbeat", 4, groupId="billing", **NOBODY)
    groups.job.arrived(
        b'{"api": "Heartbeat", "version": 4, "groupId": "billing", "at": 1, "correlationId": "in-process-1",'
        b' "body": {"errorCode": "none"}}'
    )

    assert (await answer)["errorCode"] == -1
    assert "a response of the job is not valid for its API: HeartbeatResponse v4" in caplog.text


@in_loop
async def test_settings_of_groups_are_found_once_they_were_given() -> None:
    groups = Groups()

    await groups.ask("IncrementalAlterConfigs", 1, resources=[session("billing", "50000")])
    await groups.ask("IncrementalAlterConfigs", 1, resources=[session("audit", "1")])
    assert await groups.apis.groups_with_settings() == ["billing"]

    await groups.ask("IncrementalAlterConfigs", 1, resources=[session("billing", None)])
    assert await groups.apis.groups_with_settings() == []


@in_loop
async def test_of_several_alterations_of_one_group_none_is_done() -> None:
    groups = Groups()
    resources = [
        session("billing", "50000"),
        session("audit", "51000"),
        session("billing", "52000"),
    ]

    answer = await groups.ask("IncrementalAlterConfigs", 1, resources=resources)

    assert [(each["resourceName"], each["errorCode"]) for each in answer["responses"]] == [
        ("billing", 42),
        ("audit", 0),
        ("billing", 42),
    ]
    assert await groups.apis.groups_with_settings() == ["audit"]


@in_loop
async def test_of_a_group_that_is_known_as_classic_the_job_is_not_asked_as_of_another() -> None:
    groups = Groups()
    await groups.stable("billing")
    theirs = await groups.ask("ConsumerGroupDescribe", 1, groupIds=["billing"])
    await groups.ask("ListGroups", 5)
    asked = len(groups.job.asked)

    assert await groups.ask("ConsumerGroupDescribe", 1, groupIds=["billing"]) == theirs
    assert len(groups.job.asked) == asked
    assert theirs["groups"][0]["errorCode"] == 69
    assert theirs["groups"][0]["errorMessage"] == "Group billing is not a consumer group."


@in_loop
async def test_a_classic_group_that_was_upgraded_is_asked_about_again() -> None:
    groups = Groups()
    await groups.ask("OffsetCommit", 9, **COMMIT)
    await groups.ask("ListGroups", 5)

    beat = {"memberId": "a-member", "memberEpoch": 0, "rebalanceTimeoutMs": 30_000}
    topics = {"subscribedTopicNames": ["orders"], "topicPartitions": []}
    await groups.ask("ConsumerGroupHeartbeat", 1, groupId="simple", **beat, **topics)

    [described] = (await groups.ask("ConsumerGroupDescribe", 1, groupIds=["simple"]))["groups"]
    assert (described["errorCode"], described["groupState"]) == (0, "Stable")


@in_loop
async def test_a_heartbeat_tells_the_job_which_of_its_topics_there_are() -> None:
    topics = Topics()
    topics.hidden = {"refunds": ("AAAAAAAAAAAAAAAAAAAABA", 2)}
    groups = Groups(topics)
    beat = {"groupId": "new", "memberId": "m", "rebalanceTimeoutMs": 30_000, "topicPartitions": []}
    names = ["orders", "refunds", "nowhere", "orders"]

    await groups.ask("ConsumerGroupHeartbeat", 1, **beat, memberEpoch=0, subscribedTopicNames=names)
    await groups.ask("ConsumerGroupHeartbeat", 1, groupId="new", memberId="m", memberEpoch=2)

    joined, stayed = (json.decode(asked.event("c", None))["body"] for asked in groups.job.asked)
    assert joined["knownTopics"] == [
        {"name": "orders", "topicId": ORDERS, "numPartitions": 3},
        {"name": "refunds", "topicId": "AAAAAAAAAAAAAAAAAAAABA", "numPartitions": 2},
    ]
    assert "knownTopics" not in stayed
    assert topics.looks == 1


@in_loop
async def test_a_client_that_goes_while_it_lists_settings_takes_none_of_them_with_it() -> None:
    groups = Groups()
    await groups.ask("IncrementalAlterConfigs", 1, resources=[session("billing", "50000")])
    gone = asyncio.ensure_future(groups.apis.groups_with_settings())
    await asyncio.sleep(0)
    gone.cancel()

    assert await groups.apis.groups_with_settings() == ["billing"]


@in_loop
async def test_who_lists_settings_at_the_same_time_hears_of_all_of_them() -> None:
    groups = Groups()
    await groups.ask("IncrementalAlterConfigs", 1, resources=[session("billing", "50000")])

    assert await asyncio.gather(*(groups.apis.groups_with_settings() for _ in range(2))) == [
        ["billing"],
        ["billing"],
    ]
    assert [each.api for each in groups.job.asked] == ["IncrementalAlterConfigs", "DescribeConfigs"]


class SilentJob:
    """Keeps what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def ask(self, question: GroupRequest) -> asyncio.Future[Body]:
        self.asked.append(question.group_id)
        answer: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        answer.set_result({"results": []})
        return answer


@in_loop
async def test_a_list_asks_about_five_hundred_groups_those_that_were_altered_last() -> None:
    job = SilentJob()
    settings = GroupSettings(job, None, 1_000)
    for number in range(1_200):
        settings.note_altered(str(number))

    for _ in range(3):
        await settings.groups()
    assert [len(job.asked), *map(int, job.asked)] == [
        1_200,
        *range(700, 1_200),
        *range(200, 700),
        *range(200),
    ]


@in_loop
async def test_long_names_of_altered_groups_are_not_all_kept() -> None:
    job = SilentJob()
    settings = GroupSettings(job, None, 1_000)
    for number in range(500):
        settings.note_altered(str(number).ljust(32_000))

    await settings.groups()
    assert len(job.asked) == 130


@in_loop
async def test_a_text_that_no_response_can_have_is_an_unknown_error() -> None:
    """A broker that cannot write its response answers with -1 too."""
    groups, longest = Groups(), "x" * 32_767
    heartbeat = {"memberEpoch": 0, "rebalanceTimeoutMs": 5_000, "topicPartitions": []}
    subscribed = {"memberId": "m", "subscribedTopicNames": ["orders"], **heartbeat}
    await groups.ask("JoinGroup", 3, **join_body(longest))
    await groups.ask("ListGroups", 4)

    refused = await groups.ask(
        "ConsumerGroupHeartbeat", 1, groupId="g", serverAssignor=longest, **subscribed
    )
    described = await groups.ask("ConsumerGroupDescribe", 1, groupIds=[longest, "g"])
    unknown = await groups.ask("DescribeGroups", 6, groups=["y" * 32_767, longest])

    assert refused["errorCode"] == -1
    assert [group["errorCode"] for group in described["groups"]] == [-1, 69]
    assert [group["errorCode"] for group in unknown["groups"]] == [-1, 0]
