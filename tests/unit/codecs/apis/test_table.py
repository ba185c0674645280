from __future__ import annotations

from typing import get_args, get_type_hints

import pytest

from group_coordinator.codecs.events import CODECS
from group_coordinator.core.apis import APIS
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.requests import (
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    LeavingMember,
    OffsetDelete,
    Request,
    SyncGroup,
)
from group_coordinator.core.model.responses import Response
from tests.unit.codecs.apis.messages import read
from tests.unit.codecs.sent_events import event, refused


@pytest.mark.parametrize(
    ("api", "expected"),
    [
        (
            "JoinGroup",
            JoinGroup(
                group_id="",
                session_timeout_ms=0,
                rebalance_timeout_ms=0,
                member_id="",
                group_instance_id=None,
                protocol_type="",
                protocols=(),
            ),
        ),
        (
            "SyncGroup",
            SyncGroup(
                group_id="",
                generation=0,
                member_id="",
                group_instance_id=None,
                protocol_type=None,
                protocol=None,
                assignments=(),
            ),
        ),
        ("Heartbeat", Heartbeat("", 0, "", None)),
        ("LeaveGroup", LeaveGroup("", (LeavingMember("", None),))),
        ("OffsetDelete", OffsetDelete("", ())),
    ],
)
def test_what_is_left_out_has_kafkas_default(api: str, expected: Request) -> None:
    assert read(api, 0, {}) == expected


@pytest.mark.parametrize("api", CODECS)
def test_a_version_out_of_range_is_not_supported(api: str) -> None:
    first, last = CODECS[api].versions[0], CODECS[api].versions[-1]

    for version in (first - 1, last + 1):
        fault = refused(event(api, version, groupId="g"))
        assert fault.code is ErrorCode.UNSUPPORTED_VERSION
        assert fault.reason == f"version = {version}: {api} is supported from {first} to {last}"
        assert (fault.api, fault.correlation_id, fault.group_id) == (api, "c-17", "g")
    assert fault.version == last + 1


@pytest.mark.parametrize("api", CODECS)
def test_a_codec_reads_the_request_of_its_row(api: str) -> None:
    assert get_type_hints(CODECS[api].to_request)["return"] is APIS[api].request


def test_each_response_is_that_of_one_api() -> None:
    answered = [api.encoder.response.__name__ for api in CODECS.values() if api.encoder]

    assert sorted(answered) == sorted(response.__name__ for response in get_args(Response))
