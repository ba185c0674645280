from __future__ import annotations

import asyncio
from typing import Any

from group_coordinator.codecs.events import CODECS
from group_coordinator.gateway.api_versions import APIS, Route
from tests.unit.gateway.stage import Stage, on_stage, staged

LISTED_HERE = "ListGroups"
SOFTWARE = {"clientSoftwareName": "a-client", "clientSoftwareVersion": "1"}


def asked_in(version: int, broker_answers: dict[str, Any] | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {}

    async def scene() -> None:
        async with staged() as stage:
            if broker_answers is not None:
                stage.broker.answers["ApiVersions"] = lambda _asked: broker_answers
            client = await stage.client()
            number = client.ask("ApiVersions", version, SOFTWARE)
            correlation_id, body = await client.answer("ApiVersions", version)
            assert correlation_id == number
            found.update(body)

    asyncio.run(scene())
    return found


def ranges(body: dict[str, Any]) -> dict[int, tuple[int, int]]:
    return {one["apiKey"]: (one["minVersion"], one["maxVersion"]) for one in body["apiKeys"]}


def test_versions_are_the_brokers_own_with_caps_and_the_group_apis_ours() -> None:
    found = ranges(asked_in(4))

    assert found == {
        0: (0, 11),  # librdkafka wants Produce from 0
        1: (4, 15),
        3: (0, 13),
        10: (0, 6),
        18: (0, 4),  # the broker's own highest
        26: (0, 4),
        29: (1, 3),
        32: (1, 4),
        8: (2, 10),
        9: (1, 10),
        11: (0, 9),
        12: (0, 4),
        13: (0, 5),
        14: (0, 5),
        15: (0, 6),
        16: (0, 5),
        28: (0, 4),
        42: (0, 3),
        47: (0, 0),
        68: (0, 1),
        69: (0, 1),
    }


def test_features_that_clients_must_not_see_are_gone_and_the_rest_stays() -> None:
    body = asked_in(4)

    assert [one["name"] for one in body["supportedFeatures"]] == ["group.version"]
    assert [one["name"] for one in body["finalizedFeatures"]] == ["group.version"]
    assert body["finalizedFeaturesEpoch"] == 7


@on_stage()
async def test_an_unknown_version_is_answered_in_version_0_with_the_range(stage: Stage) -> None:
    client = await stage.client()
    header = (18).to_bytes(2) + (77).to_bytes(2) + (9).to_bytes(4) + b"\xff\xff\0\1\2\3"
    client.writer.write(len(header).to_bytes(4) + header)
    correlation_id, body = await client.answer("ApiVersions", 0)
    client.ask("ApiVersions", 0)

    assert (correlation_id, body["errorCode"]) == (9, 35)
    assert ranges(body) == {18: (0, 5)}
    assert (await client.answer("ApiVersions", 0))[1]["errorCode"] == 0


@on_stage()
async def test_a_broker_that_is_older_than_the_client_says_so_in_version_0(stage: Stage) -> None:
    del stage.broker.answers["ApiVersions"]
    client = await stage.client()
    client.ask("ApiVersions", 4, SOFTWARE)
    asked = await stage.broker.asked()
    entry = (18).to_bytes(2) + (0).to_bytes(2) + (3).to_bytes(2)
    asked.answer_bytes((35).to_bytes(2) + (1).to_bytes(4) + entry)
    _, body = await client.answer("ApiVersions", 0)

    assert (body["errorCode"], ranges(body)) == (35, {18: (0, 3)})


def test_an_error_of_the_broker_stays_one() -> None:
    body = asked_in(4, {"errorCode": 42})

    assert (body["errorCode"], body["apiKeys"]) == (42, [])


def test_the_job_takes_every_version_of_a_group_api_that_clients_may_use() -> None:
    read_by_job = {
        api.name: api.versions
        for api in APIS.values()
        if api.route is not Route.PASSED and (api.name in CODECS or api.route is Route.GROUPS)
    }

    assert read_by_job.keys() - CODECS.keys() == {LISTED_HERE}
    assert [
        name
        for name, versions in read_by_job.items()
        if name in CODECS and not set(versions) <= set(CODECS[name].versions)
    ] == []
