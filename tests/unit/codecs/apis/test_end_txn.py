from __future__ import annotations

import re
from typing import Any

import pytest

from group_coordinator.codecs.events import InvalidEventError
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import EndTxn
from group_coordinator.core.model.responses import EndTxnResponse
from tests.unit.codecs.apis.messages import read, written_fields

BODY = {"groupId": "g", "producerId": 17, "committed": True}
MARKER = EndTxn(group_id="g", producer_id=17, is_commit=True)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (
            {"producerEpoch": 1, "committed": False},
            MARKER.replace(producer_epoch=1, is_commit=False),
        ),
        ({"markerOffset": 7, "sinceOffset": 0}, MARKER.replace(marker_offset=7, since_offset=0)),
        ({"markerOffset": None, "sinceOffset": None}, MARKER),
        ({}, MARKER),
    ],
    ids=["an abort of an epoch", "where it is", "that it is nowhere", "nothing of it"],
)
def test_a_marker_may_say(said: dict[str, Any], expected: EndTxn) -> None:
    assert read("EndTxn", 0, BODY | said) == expected


@pytest.mark.parametrize("field", ["markerOffset", "producerId"])
def test_no_place_and_no_producer_is_below_0(field: str) -> None:
    with pytest.raises(InvalidEventError, match=re.escape(f"body.{field} = -1")):
        read("EndTxn", 0, BODY | {field: -1})


@pytest.mark.parametrize("field", ["groupId", "producerId", "committed"])
def test_a_marker_says_whom_it_is_about(field: str) -> None:
    body = {name: value for name, value in BODY.items() if name != field}
    with pytest.raises(InvalidEventError, match=f"missing required field `{field}`"):
        read("EndTxn", 0, body)


def test_the_answer_to_a_marker() -> None:
    assert written_fields(EndTxnResponse(ErrorCode.NONE), 0) == {
        "throttleTimeMs": 0,
        "errorCode": 0,
    }
