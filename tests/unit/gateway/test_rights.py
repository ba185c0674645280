"""Rights of clients: what their broker is asked aside, when, and what the job is asked then."""

from __future__ import annotations

import time
from typing import Any

import pytest

from group_coordinator.core.acls import Operation, ResourceType, Right
from group_coordinator.gateway.rights import rights as rights_module
from group_coordinator.gateway.rights.rights import ClientRights
from tests.unit.gateway.stage import (
    FETCH,
    HEARTBEAT,
    Client,
    Stage,
    in_loop,
    on_stage,
    settled,
    staged,
)

READ_DESCRIBE = (1 << 3) | (1 << 8)
DENIED_GROUP, DENIED_TOPIC, TWICE, NO_COORDINATOR = 30, 29, 42, 15
PARTITION = {"partitionIndex": 0, "committedOffset": 7}


def commit(*topics: str) -> dict[str, Any]:
    return {
        "groupId": "billing",
        "topics": [{"name": name, "partitions": [PARTITION]} for name in topics],
    }


async def may_read(stage: Stage, code: int = 25) -> None:
    """The broker is asked by a heartbeat of nobody."""
    asked = await stage.broker.asked()
    assert (asked.api, asked.body["groupId"], asked.body["memberId"]) == (
        "Heartbeat",
        "billing",
        "",
    )
    asked.answer({"errorCode": code})


async def codes(client: Client) -> dict[str, int]:
    """Of an OffsetCommit, by topic."""
    _, answer = await client.answer("OffsetCommit", 9)
    return {t["name"]: t["partitions"][0]["errorCode"] for t in answer["topics"]}


@in_loop
async def test_the_broker_is_asked_once_in_thirty_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = time.monotonic()
    monkeypatch.setattr(rights_module, "monotonic", lambda: now_s)

    async with staged(has_authorizer=True) as stage:
        client = await stage.client()
        client.ask("Heartbeat", 4, HEARTBEAT)
        await may_read(stage)
        await stage.job.asked()
        now_s += 29.9
        client.ask("Heartbeat", 4, HEARTBEAT)
        await stage.job.asked(1)
        assert stage.broker.is_idle()
        now_s += 0.2
        client.ask("Heartbeat", 4, HEARTBEAT)
        await may_read(stage)
        await stage.job.asked(2)
        for question in stage.job.questions:
            question.answer.set_result({"errorCode": 0})

        assert [(await client.answer("Heartbeat", 4))[1]["errorCode"] for _ in "123"] == [0] * 3


@on_stage(has_authorizer=True)
async def test_what_is_denied_is_asked_each_time_and_not_of_the_job(stage: Stage) -> None:
    client = await stage.client()
    for _ in range(2):
        client.ask("Heartbeat", 4, HEARTBEAT)
        await may_read(stage, DENIED_GROUP)
        assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == DENIED_GROUP
    client.ask("Heartbeat", 4, HEARTBEAT)
    await may_read(stage)

    await stage.job.asked()
    assert len(stage.job.questions) == 1


@pytest.mark.parametrize(("version", "code"), [(5, 23), (4, DENIED_GROUP)])
@on_stage(has_authorizer=True)
async def test_a_sync_without_its_protocol_hears_of_that_first(
    stage: Stage, version: int, code: int
) -> None:
    client = await stage.client()
    sync = {"groupId": "billing", "memberId": "m", "protocolName": None}
    client.ask("SyncGroup", version, sync)
    await may_read(stage, DENIED_GROUP)
    _, answer = await client.answer("SyncGroup", version)

    assert answer["errorCode"] == code
    assert stage.job.questions == []


@on_stage(has_authorizer=True)
async def test_settings_of_a_group_that_is_named_twice_are_refused_for_that(stage: Stage) -> None:
    client = await stage.client()
    resources = [
        {"resourceType": 32, "resourceName": name, "configs": []}
        for name in ("billing", "audit", "billing")
    ]
    client.ask("IncrementalAlterConfigs", 1, {"resources": resources})
    asked = await stage.broker.asked()
    denied = [{**one, "errorCode": DENIED_GROUP} for one in asked.body["resources"]]
    asked.answer({"responses": denied})
    _, answer = await client.answer("IncrementalAlterConfigs", 1)

    codes = [(one["resourceName"], one["errorCode"]) for one in answer["responses"]]
    assert codes == [("billing", TWICE), ("audit", DENIED_GROUP), ("billing", TWICE)]
    assert stage.job.questions == []


@on_stage(has_authorizer=True)
async def test_settings_of_a_wrong_form_are_refused_for_that_before_a_missing_right(
    stage: Stage,
) -> None:
    client = await stage.client()
    null, one = {"name": "a", "value": None}, {"name": "b", "value": "1"}
    resources = [
        {"resourceType": 32, "resourceName": name, "configs": configs}
        for name, configs in (
            ("null", [null, one]),
            ("twice", [one, one]),
            ("denied", [one]),
        )
    ]
    client.ask("IncrementalAlterConfigs", 1, {"resources": resources})
    asked = await stage.broker.asked()
    denied = [{**one, "errorCode": DENIED_GROUP} for one in asked.body["resources"]]
    asked.answer({"responses": denied})
    _, answer = await client.answer("IncrementalAlterConfigs", 1)

    assert [(each["errorCode"], each["errorMessage"]) for each in answer["responses"]] == [
        (42, "Null value not supported for : a"),
        (42, "Error due to duplicate config keys"),
        (DENIED_GROUP, "Group authorization failed."),
    ]
    assert stage.job.questions == []


@on_stage(has_authorizer=True)
async def test_a_denied_group_is_denied_whatever_the_operation(stage: Stage) -> None:
    stage.broker.answers["IncrementalAlterConfigs"] = lambda asked: {
        "responses": [{**one, "errorCode": DENIED_GROUP} for one in asked.body["resources"]]
    }
    client = await stage.client()
    setting = {"name": "a", "configOperation": 9, "value": "1"}
    resources = [{"resourceType": 32, "resourceName": "billing", "configs": [setting]}]
    answer = await client.asks("IncrementalAlterConfigs", 1, {"resources": resources})

    assert [one["errorCode"] for one in answer["responses"]] == [DENIED_GROUP]


@pytest.mark.parametrize("version", [5, 9])
@on_stage(has_authorizer=True)
async def test_a_topic_that_a_fetch_names_twice_has_two_entries(stage: Stage, version: int) -> None:
    stage.broker.answers["FindCoordinator"] = lambda asked: {
        "coordinators": [{"key": key} for key in asked.body["coordinatorKeys"]]
    }
    stage.broker.answers["Metadata"] = lambda _asked: {
        "topics": [{"name": "orders"}, {"name": "secret", "errorCode": DENIED_TOPIC}]
    }
    client = await stage.client()
    names = ["orders", "secret", "orders", "secret"]
    group = {
        "groupId": "billing",
        "topics": [{"name": name, "partitionIndexes": [0]} for name in names],
    }
    client.ask("OffsetFetch", version, group if version < 8 else {"groups": [group]})
    question = await stage.job.asked()
    [kept] = question.body.get("groups", [question.body])
    found = [
        {"name": topic["name"], "partitions": [{"partitionIndex": 0, "committedOffset": 7}]}
        for topic in kept["topics"]
    ]
    body = {"groupId": "billing", "topics": found}
    question.answer.set_result(body if version < 8 else {"groups": [body]})
    _, answer = await client.answer("OffsetFetch", version)

    [shown] = answer.get("groups", [answer])
    assert [(t["name"], t["partitions"][0]["errorCode"]) for t in shown["topics"]] == [
        *[("orders", 0)] * 2,
        *[("secret", DENIED_TOPIC)] * 2,
    ]
    assert [len(topic["partitions"]) for topic in shown["topics"]] == [1] * 4


@on_stage()
async def test_of_many_groups_one_that_is_named_twice_is_deleted_once(stage: Stage) -> None:
    client = await stage.client()
    names = [f"group-{number}" for number in range(2_501)]
    client.ask("DeleteGroups", 2, {"groupsNames": ["group-2500", *names, "group-7"]})
    questions = [await stage.job.asked(number) for number in range(25)]
    await settled()
    for question in questions:
        results = [{"groupId": name} for name in question.body["groupsNames"]]
        question.answer.set_result({"results": results})
    _, answer = await client.answer("DeleteGroups", 2)

    assert [one["groupId"] for one in answer["results"]] == ["group-2500", *names[:-1]]


@pytest.mark.parametrize(("code", "asked"), [(DENIED_GROUP, 0), (42, 1)])
@on_stage(has_authorizer=True)
async def test_settings_of_a_group_without_a_name_need_a_right_too(
    stage: Stage, code: int, asked: int
) -> None:
    stage.broker.answers["DescribeConfigs"] = lambda question: {
        "results": [{**question.body["resources"][0], "errorCode": code}]
    }
    client = await stage.client()
    client.ask("DescribeConfigs", 4, {"resources": [{"resourceType": 32, "resourceName": ""}]})
    if asked:
        (await stage.job.asked()).answer.set_result({"results": []})
    _, answer = await client.answer("DescribeConfigs", 4)

    assert [one["errorCode"] for one in answer["results"]] == [DENIED_GROUP] * (1 - asked)
    assert len(stage.job.questions) == asked


@on_stage(has_authorizer=True)
async def test_of_many_groups_a_broker_is_asked_about_few_at_a_time(stage: Stage) -> None:
    client = await stage.client()
    names = [f"group-{number}" for number in range(250)]
    client.ask("DeleteGroups", 2, {"groupsNames": names})
    for some in (names[:100], names[100:200], names[200:]):
        asked = [await stage.broker.asked() for _ in some]
        await settled()
        assert [one.body["groupId"] for one in asked] == some
        assert stage.broker.is_idle()
        for one in asked:
            one.answer({"errorCode": DENIED_GROUP})
    _, answer = await client.answer("DeleteGroups", 2)

    assert [one["groupId"] for one in answer["results"]] == names
    assert {one["errorCode"] for one in answer["results"]} == {DENIED_GROUP}


@pytest.mark.parametrize("has_authorizer", [False, True])
@in_loop
async def test_groups_beyond_the_limit_are_for_the_next_request(*, has_authorizer: bool) -> None:
    async with staged(has_authorizer=has_authorizer) as stage:
        stage.broker.answers["FindCoordinator"] = lambda asked: {
            "coordinators": [{"key": key} for key in asked.body["coordinatorKeys"]]
        }
        client = await stage.client()
        names = [f"group-{number}" for number in range(2_501)]
        client.ask("DescribeGroups", 5, {"groups": names})
        questions = [await stage.job.asked(number) for number in range(25)]
        await settled()
        for question in questions:
            groups = [{"groupId": name, "errorCode": 0} for name in question.body["groups"]]
            question.answer.set_result({"groups": groups})
        _, answer = await client.answer("DescribeGroups", 5)

        assert [name for one in stage.job.questions for name in one.body["groups"]] == names[:-1]
        assert [len(one.body["groups"]) for one in stage.job.questions] == [100] * 25
        assert [one["groupId"] for one in answer["groups"]] == names
        assert [one["errorCode"] for one in answer["groups"]] == [0] * 2_500 + [NO_COORDINATOR]


@on_stage()
async def test_nothing_overtakes_a_request_about_many_groups(stage: Stage) -> None:
    client = await stage.client()
    client.ask("DescribeGroups", 5, {"groups": [f"group-{n}" for n in range(300)]})
    client.ask("Heartbeat", 4, HEARTBEAT)
    await stage.job.asked(3)

    apis = [question.api for question in stage.job.questions]
    assert apis == ["DescribeGroups"] * 3 + ["Heartbeat"]


@on_stage()
async def test_without_an_authorizer_no_broker_is_asked(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Heartbeat", 4, HEARTBEAT)
    await stage.job.asked()

    assert stage.broker.is_idle()


@on_stage(has_authorizer=True)
async def test_nothing_overtakes_a_request_whose_rights_are_asked_for(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Heartbeat", 4, HEARTBEAT)
    client.ask("Fetch", 12, FETCH)
    client.ask("Heartbeat", 4, HEARTBEAT | {"generationId": 4})
    await may_read(stage)
    fetch = await stage.broker.asked()
    await stage.job.asked(1)

    assert fetch.api == "Fetch"
    assert [q.body["generationId"] for q in stage.job.questions] == [3, 4]


@on_stage(has_authorizer=True)
async def test_an_answer_to_the_gateway_waits_for_nothing_behind_it(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Fetch", 12, FETCH)
    client.ask("Heartbeat", 4, HEARTBEAT)
    fetch = await stage.broker.asked()
    client.ask("Fetch", 12, FETCH)
    sent = fetch.answer_bytes(b"\0first")
    await may_read(stage)
    (await stage.job.asked()).answer.set_result({"errorCode": 0})
    last = (await stage.broker.asked()).answer_bytes(b"\0last")

    assert await client.frame() == sent[4:]
    assert (await client.answer("Heartbeat", 4))[1]["errorCode"] == 0
    assert await client.frame() == last[4:]


@on_stage(has_authorizer=True)
async def test_topics_are_refused_one_by_one(stage: Stage) -> None:
    stage.broker.answers["Metadata"] = lambda asked: {
        "topics": [
            {"name": "orders", "topicAuthorizedOperations": READ_DESCRIBE},
            {"name": "seen", "topicAuthorizedOperations": 1 << 8},
            {"name": "secret", "errorCode": DENIED_TOPIC},
        ][: len(asked.body["topics"])]
    }
    client = await stage.client()
    stage.broker.answers["Heartbeat"] = lambda _asked: {"errorCode": 25}
    client.ask("OffsetCommit", 9, commit("orders", "seen", "secret"))
    question = await stage.job.asked()
    assert [t["name"] for t in question.body["topics"]] == ["orders"]
    results = [{"partitionIndex": 0, "errorCode": 0}]
    question.answer.set_result({"topics": [{"name": "orders", "partitions": results}]})

    assert await codes(client) == {"orders": 0, "seen": 29, "secret": 29}


@on_stage(has_authorizer=True)
async def test_of_topics_that_are_all_denied_the_job_hears_nothing(stage: Stage) -> None:
    stage.broker.answers["Metadata"] = lambda _asked: {
        "topics": [{"name": "secret", "errorCode": DENIED_TOPIC}]
    }
    client = await stage.client()
    stage.broker.answers["Heartbeat"] = lambda _asked: {"errorCode": 25}
    client.ask("OffsetCommit", 9, commit("secret"))

    assert await codes(client) == {"secret": 29}
    assert stage.job.questions == []


@on_stage(has_authorizer=True)
async def test_a_broker_that_goes_while_it_is_asked_takes_its_client_with_it(stage: Stage) -> None:
    client = await stage.client()
    client.ask("Heartbeat", 4, HEARTBEAT)
    (await stage.broker.asked()).hang_up()

    assert await client.is_hung_up()
    assert stage.job.questions == []


@in_loop
async def test_grants_are_kept_in_so_many_bytes_for_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 1_000.0
    monkeypatch.setattr(rights_module, "monotonic", lambda: now_s)

    async def everything(api: str, version: int, body: dict[str, Any]) -> dict[str, Any]:  # noqa: ARG001
        return {"topics": [topic | {"errorCode": 0} for topic in body["topics"]]}

    def topics(prefix: str, count: int, length: int) -> list[Right]:
        names = (f"{prefix}{number}".ljust(length, "x") for number in range(count))
        return [Right(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in names]

    rights = ClientRights(everything, lambda: True)
    long, short = topics("long", 400, 32_000), topics("short", 100, 10)
    assert await rights.denied(long) == frozenset()
    of_long = sum(rights.are_known([each]) for each in long)
    now_s += 20
    await rights.denied(short)
    now_s += 10
    await rights.denied(topics("another", 1, 10))

    grants = rights._granted_until_s  # noqa: SLF001 - nothing else tells
    assert (of_long, len(grants), rights.are_known(short)) == (65, 101, True)
