from __future__ import annotations

import re

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import EndTxn
from group_coordinator.core.model.responses import EndTxnResponse
from tests.unit.codecs.apis.messages import read, written_fields


def test_a_marker() -> None:
    body = {"groupId": "g", "producerId": 17, "producerEpoch": 1, "committed": False}
    assert read("EndTxn", 0, body) == EndTxn(
        group_id="g", producer_id=17, is_commit=False, producer_epoch=1
    )


@pytest.mark.parametrize("said", [{}, {"markerOffset": None, "sinceOffset": None}])
def test_a_marker_need_not_say_where_it_is(said: dict[str, None]) -> None:
    body = {"groupId": "g", "producerId": 17, "committed": True} | said
    assert read("EndTxn", 0, body) == EndTxn(group_id="g", producer_id=17, is_commit=True)


def test_a_marker_says_where_it_is() -> None:
    place = {"markerOffset": 7, "sinceOffset": 0}
    body = {"groupId": "g", "producerId": 17, "committed": True} | place
    expected = EndTxn(group_id="g", producer_id=17, is_commit=True, marker_offset=7, since_offset=0)
    assert read("EndTxn", 0, body) == expected


def test_no_record_is_before_the_first_one() -> None:
    body = {"groupId": "g", "producerId": 17, "committed": True, "markerOffset": -1}
    with pytest.raises(InvalidEventError, match=re.escape("body.markerOffset = -1")):
        read("EndTxn", 0, body)


def test_a_marker_has_a_producer() -> None:
    body = {"groupId": "g", "producerId": -1, "committed": True}
    with pytest.raises(InvalidEventError, match=re.escape("body.producerId = -1")):
        read("EndTxn", 0, body)


@pytest.mark.parametrize("field", ["groupId", "producerId", "committed"])
def test_a_marker_says_whom_it_is_about(field: str) -> None:
    body = {"groupId": "g", "producerId": 17, "committed": True}
    del body[field]
    with pytest.raises(InvalidEventError, match=f"missing required field `{field}`"):
        read("EndTxn", 0, body)


def test_the_answer_to_a_marker() -> None:
    assert written_fields(EndTxnResponse(ErrorCode.NONE), 0) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
    }
