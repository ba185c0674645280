from __future__ import annotations

import gc
from typing import Any

import pytest

from tests.unit.gateway.stage import Stage, in_loop, on_stage, staged, until

TOPIC, BROKER, GROUP = 2, 4, 32


def resource(kind: int, name: str, **more: Any) -> dict[str, Any]:
    return {"resourceType": kind, "resourceName": name, **more}


def names(body: dict[str, Any], field: str) -> list[tuple[int, str]]:
    return [(one["resourceType"], one["resourceName"]) for one in body[field]]


@on_stage()
async def test_what_groups_and_others_are_set_to_comes_in_the_order_asked(stage: Stage) -> None:
    client = await stage.client()
    asked = [
        resource(GROUP, "billing", configurationKeys=None),
        resource(TOPIC, "orders", configurationKeys=["retention.ms"]),
        resource(GROUP, "refunds", configurationKeys=None),
        resource(BROKER, "1", configurationKeys=None),
    ]
    number = client.ask("DescribeConfigs", 4, {"resources": asked, "includeSynonyms": True})
    question, others = await stage.job.asked(), await stage.broker.asked()
    assert names(question.body, "resources") == [(GROUP, "billing"), (GROUP, "refunds")]
    assert question.body["includeSynonyms"]
    assert others.body["resources"] == [asked[1], asked[3]]
    assert (others.correlation_id, others.client_id) == (number, "a-client")
    others.answer(
        {
            "throttleTimeMs": 9,
            "results": [resource(BROKER, "1", configs=[]), resource(TOPIC, "orders", configs=[])],
        }
    )
    question.answer.set_result(
        {"results": [resource(GROUP, "billing"), resource(GROUP, "refunds", errorCode=69)]}
    )
    correlation_id, body = await client.answer("DescribeConfigs", 4)

    assert correlation_id == number
    assert names(body, "results") == names({"r": asked}, "r")
    assert [one["errorCode"] for one in body["results"]] == [0, 0, 69, 0]
    assert body["throttleTimeMs"] == 9


@pytest.mark.filterwarnings("error")
@in_loop
async def test_a_client_that_goes_before_its_broker_answers_leaves_no_answer_behind() -> None:
    async with staged() as stage:
        client = await stage.client()
        asked = [resource(GROUP, "billing"), resource(TOPIC, "orders")]
        client.ask("DescribeConfigs", 4, {"resources": asked})
        question = await stage.job.asked()
        await stage.broker.asked()
        client.leave()
        await until(lambda: stage.gateway.gauges().connections == 0)
        question.answer.set_result({"results": [resource(GROUP, "billing")]})
    gc.collect()


@on_stage()
async def test_a_request_for_groups_alone_is_the_jobs_and_others_are_not(stage: Stage) -> None:
    client = await stage.client()
    setting = {"name": "consumer.session.timeout.ms", "configOperation": 0, "value": "50000"}
    groups = [resource(GROUP, "billing", configs=[setting])]
    topics = [resource(TOPIC, "orders", configs=[setting | {"name": "retention.ms"}])]
    client.ask("IncrementalAlterConfigs", 1, {"resources": groups})
    client.ask("IncrementalAlterConfigs", 1, {"resources": topics})
    question, other = await stage.job.asked(), await stage.broker.asked()
    question.answer.set_result({"responses": [resource(GROUP, "billing")]})
    sent = other.answer_bytes(b"\0as it is")

    assert question.body["resources"] == groups
    assert other.body["resources"] == topics
    _, body = await client.answer("IncrementalAlterConfigs", 1)
    assert names(body, "responses") == [(GROUP, "billing")]
    assert await client.frame() == sent[4:]


@pytest.mark.parametrize(
    ("api", "resources", "codes"),
    [
        ("DescribeConfigs", [resource(GROUP, "billing"), resource(64, "orders")], [42, 42]),
        (
            "IncrementalAlterConfigs",
            [
                resource(GROUP, "billing", configs=[{"name": "a", "value": "1"}]),
                resource(TOPIC, "orders", configs=[{"name": "b", "configOperation": 4}]),
            ],
            [-1, -1],
        ),
    ],
)
@on_stage()
async def test_an_unknown_type_or_operation_fails_the_whole_request(
    stage: Stage, api: str, resources: list[dict[str, Any]], codes: list[int]
) -> None:
    client = await stage.client()
    body = await client.asks(api, 1, {"resources": resources})

    results = body["results" if api == "DescribeConfigs" else "responses"]
    assert names({"r": results}, "r") == names({"r": resources}, "r")
    assert [one["errorCode"] for one in results] == codes
    assert stage.broker.is_idle()
    assert stage.job.questions == []


@on_stage()
async def test_the_old_way_of_altering_does_not_reach_the_brokers_groups(stage: Stage) -> None:
    client = await stage.client()
    client.ask("AlterConfigs", 2, {"resources": [resource(GROUP, "billing", configs=[])]})
    _, body = await client.answer("AlterConfigs", 2)

    assert names(body, "responses") == [(GROUP, "billing")]
    assert body["responses"][0]["errorCode"] == 42
    assert "IncrementalAlterConfigs" in body["responses"][0]["errorMessage"]
    assert stage.broker.is_idle()


@on_stage()
async def test_listed_resources_have_our_groups_in_place_of_the_brokers(stage: Stage) -> None:
    stage.job.settings_of = ["refunds", "billing"]
    client = await stage.client()
    found = []
    for types in ([], [GROUP], [TOPIC]):
        client.ask("ListConfigResources", 1, {"resourceTypes": types})
        (await stage.broker.asked()).answer(
            {"configResources": [resource(GROUP, "theirs"), resource(TOPIC, "orders")]}
        )
        _, body = await client.answer("ListConfigResources", 1)
        found.append(names(body, "configResources"))
    client.ask("ListConfigResources", 0)
    (await stage.broker.asked()).answer({"configResources": [{"resourceName": "m"}]})
    _, metrics = await client.answer("ListConfigResources", 0)

    ours = [(GROUP, "billing"), (GROUP, "refunds")]
    assert found == [[(TOPIC, "orders"), *ours], [(TOPIC, "orders"), *ours], [(TOPIC, "orders")]]
    assert metrics["configResources"] == [{"resourceName": "m"}]


@on_stage()
async def test_who_may_not_list_configs_makes_nobody_ask_the_job(stage: Stage) -> None:
    client = await stage.client()
    client.ask("ListConfigResources", 1, {"resourceTypes": []})
    (await stage.broker.asked()).answer({"errorCode": 31})
    _, answer = await client.answer("ListConfigResources", 1)

    assert (answer["errorCode"], answer["configResources"]) == (31, [])
    assert stage.job.listings == 0
