from __future__ import annotations

from typing import Any

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import DescribeConfigs
from group_coordinator.core.model.responses import (
    ConfigSource,
    ConfigType,
    DescribeConfigsResponse,
    DescribedConfig,
    DescribedSynonym,
)
from tests.unit.codecs.apis.messages import read, written_fields

SESSION = "consumer.session.timeout.ms"
DESCRIBED = {"resourceType": 32, "resourceName": "g", "configurationKeys": [SESSION]}


def test_what_is_asked() -> None:
    asked = {"resources": [DESCRIBED], "includeSynonyms": True, "includeDocumentation": True}
    assert read("DescribeConfigs", 3, asked) == DescribeConfigs("g", (SESSION,), True, True)
    all_of_them = {"resources": [DESCRIBED | {"configurationKeys": None}]}
    assert read("DescribeConfigs", 1, all_of_them) == DescribeConfigs("g", (), False, False)


@pytest.mark.parametrize(
    ("version", "asked", "reason"),
    [
        (1, {"resources": []}, "resources: must have exactly one entry, not 0"),
        (
            4,
            {"resources": [DESCRIBED | {"resourceType": 2}]},
            "resources[0].resourceType = 2: must be 32: only groups have settings here",
        ),
        (
            2,
            {"resources": [DESCRIBED], "includeDocumentation": True},
            "includeDocumentation = true: version 2 has no such field",
        ),
    ],
)
def test_what_cannot_be_asked(version: int, asked: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidEventError) as refusal:
        read("DescribeConfigs", version, asked)
    assert refusal.value.reason == f"body.{reason}"


def test_an_answer_with_synonyms_and_documentation() -> None:
    synonym = DescribedSynonym(SESSION, "50000", ConfigSource.GROUP_CONFIG)
    config = DescribedConfig(
        name=SESSION,
        value="50000",
        source=ConfigSource.GROUP_CONFIG,
        synonyms=(synonym,),
        documentation="How long.",
    )
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
        assert written_fields(response, version) == {
            "throttleTimeMs": 0,
            "results": [result | {"configs": [described | fields]}],
        }


def test_a_retention_is_wider_than_kafkas_settings_of_groups() -> None:
    source, name = ConfigSource.GROUP_CONFIG, "offsets.retention.ms"
    config = DescribedConfig(
        name=name,
        value="9000000000",
        source=source,
        synonyms=(),
        documentation=None,
        type=ConfigType.LONG,
    )
    response = DescribeConfigsResponse(ErrorCode.NONE, "", "g", (config,))

    [described] = written_fields(response, 4)["results"][0]["configs"]

    assert (described["name"], described["value"]) == (name, "9000000000")
    assert described["configType"] == 5
