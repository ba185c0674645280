from __future__ import annotations

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import AlterConfigs, ConfigChange
from group_coordinator.core.model.responses import AlterConfigsResponse
from tests.unit.codecs.apis.messages import read, written_fields

SESSION = "consumer.session.timeout.ms"
CHANGES = [{"name": SESSION, "value": "50000"}, {"name": "x", "configOperation": 1, "value": None}]
ALTERED = {"resourceType": 32, "resourceName": "g", "configs": CHANGES}


@pytest.mark.parametrize("version", [0, 1])
def test_what_is_to_change(version: int) -> None:
    changes = (ConfigChange(SESSION, 0, "50000"), ConfigChange("x", 1, None))
    wanted = {"resources": [ALTERED], "validateOnly": True}
    assert read("IncrementalAlterConfigs", version, wanted) == AlterConfigs("g", changes, True)
    bare = {"resources": [{"resourceType": 32, "resourceName": "g", "configs": [{}]}]}
    left_out = AlterConfigs("g", (ConfigChange("", 0, ""),), False)
    assert read("IncrementalAlterConfigs", version, bare) == left_out


def test_a_request_is_about_one_group() -> None:
    with pytest.raises(InvalidEventError) as refusal:
        read("IncrementalAlterConfigs", 1, {"resources": [ALTERED, ALTERED]})
    assert refusal.value.reason == "body.resources: must have exactly one entry, not 2"


def test_a_refused_change() -> None:
    response = AlterConfigsResponse(ErrorCode.INVALID_CONFIG, "Unknown group config name: x", "g")
    assert written_fields(response, 1) == {
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
