"""DescribeConfigs and IncrementalAlterConfigs as events and as responses."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from group_coordinator.codecs import events, responses
from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    AlterConfigs,
    ConfigChange,
    DescribeConfigs,
    Request,
)
from group_coordinator.core.model.responses import (
    AlterConfigsResponse,
    ConfigSource,
    ConfigSynonym,
    DescribeConfigsResponse,
    DescribedConfig,
    Reply,
    Response,
)
from group_coordinator.core.model.ticket import Ticket

SESSION = "consumer.session.timeout.ms"
DESCRIBED = {"resourceType": 32, "resourceName": "g", "configurationKeys": [SESSION]}
CHANGES = [{"name": SESSION, "value": "50000"}, {"name": "x", "configOperation": 1, "value": None}]
ALTERED = {"resourceType": 32, "resourceName": "g", "configs": CHANGES}


def request(api: str, version: int, body: dict[str, Any]) -> Request:
    event = {"api": api, "version": version, "correlationId": "c", "body": body}
    return events.decode(msgspec.json.encode(event)).request


def body(response: Response, version: int) -> dict[str, Any]:
    answer = responses.to_json("g", Reply(Ticket("e", "c", version), response), 0)
    told: dict[str, Any] = msgspec.to_builtins(answer["body"])
    return told


def test_what_is_asked() -> None:
    asked = {"resources": [DESCRIBED], "includeSynonyms": True, "includeDocumentation": True}
    assert request("DescribeConfigs", 3, asked) == DescribeConfigs("g", (SESSION,), True, True)
    all_of_them = {"resources": [DESCRIBED | {"configurationKeys": None}]}
    assert request("DescribeConfigs", 1, all_of_them) == DescribeConfigs("g", (), False, False)


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_to_change(version: int) -> None:
    changes = (ConfigChange(SESSION, 0, "50000"), ConfigChange("x", 1, None))
    wanted = {"resources": [ALTERED], "validateOnly": True}
    assert request("IncrementalAlterConfigs", version, wanted) == AlterConfigs("g", changes, True)
    bare = {"resources": [{"resourceType": 32, "resourceName": "g", "configs": [{}]}]}
    left_out = AlterConfigs("g", (ConfigChange("", 0, ""),), False)
    assert request("IncrementalAlterConfigs", version, bare) == left_out


@pytest.mark.parametrize(
    ("api", "version", "asked", "reason"),
    [
        ("DescribeConfigs", 1, {"resources": []}, "resources: must have exactly one entry, not 0"),
        (
            "IncrementalAlterConfigs",
            1,
            {"resources": [ALTERED, ALTERED]},
            "resources: must have exactly one entry, not 2",
        ),
        (
            "DescribeConfigs",
            4,
            {"resources": [DESCRIBED | {"resourceType": 2}]},
            "resources[0].resourceType = 2: must be 32: only groups have settings here",
        ),
        (
            "DescribeConfigs",
            2,
            {"resources": [DESCRIBED], "includeDocumentation": True},
            "includeDocumentation: version 2 has no such field",
        ),
    ],
)
def test_what_cannot_be_asked(api: str, version: int, asked: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidEventError) as refusal:
        request(api, version, asked)
    assert refusal.value.reason == f"body.{reason}"


def test_an_answer_with_synonyms_and_documentation() -> None:
    synonym = ConfigSynonym(SESSION, "50000", ConfigSource.GROUP_CONFIG)
    config = DescribedConfig(SESSION, "50000", ConfigSource.GROUP_CONFIG, (synonym,), "How long.")
    response = DescribeConfigsResponse(ErrorCode.NONE, "", "g", (config,))
    described = {
        "name": SESSION,
        "value": "50000",
        "readOnly": False,
        "configSource": 8,
        "isSensitive": False,
        "synonyms": [{"name": SESSION, "value": "50000", "source": 8}],
    }
    since_3 = {"configType": 3, "documentation": "How long."}
    result = {"errorCode": 0, "errorMessage": "", "resourceType": 32, "resourceName": "g"}
    for version, fields in ((1, {}), (2, {}), (3, since_3), (4, since_3)):
        assert body(response, version) == {
            "throttleTimeMs": 0,
            "results": [result | {"configs": [described | fields]}],
        }


def test_a_refused_change() -> None:
    response = AlterConfigsResponse(ErrorCode.INVALID_CONFIG, "Unknown group config name: x", "g")
    assert body(response, 1) == {
        "throttleTimeMs": 0,
        "responses": [
            {
                "errorCode": 40,
                "errorMessage": "Unknown group config name: x",
                "resourceType": 32,
                "resourceName": "g",
            }
        ],
    }
