from __future__ import annotations

import pytest

from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import DeleteGroup
from group_coordinator.core.model.responses import DeleteGroupResponse
from tests.unit.codecs.apis.messages import read, written


@pytest.mark.parametrize("version", range(4))
def test_a_request_is_about_one_group_however_often_it_is_named(version: int) -> None:
    assert read("DeleteGroups", version, {"groupsNames": ["g", "g"]}) == DeleteGroup("g")


@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_group_has_its_error(version: int) -> None:
    assert written(DeleteGroupResponse(ErrorCode.NON_EMPTY_GROUP, "g"), version) == (
        '{"throttleTimeMs":0,"results":[{"groupId":"g","errorCode":68}]}'
    )


def test_the_newest_version_has_room_for_a_text() -> None:
    assert written(DeleteGroupResponse(ErrorCode.NON_EMPTY_GROUP, "g"), 3) == (
        '{"throttleTimeMs":0,"results":[{"groupId":"g","errorCode":68,"errorMessage":null}]}'
    )
