from __future__ import annotations

import json

import pytest

from group_coordinator.codecs import events
from group_coordinator.core.model.errors import ErrorCode
from tests.unit.codecs.sent_events import event, refused

UNKNOWN_TO_THE_VERSION = {
    ("JoinGroup", 4): {"groupInstanceId": "i"},
    ("SyncGroup", 2): {"groupInstanceId": "i"},
    ("Heartbeat", 2): {"groupInstanceId": ""},
    ("LeaveGroup", 2): {"members": [{}]},
    ("LeaveGroup", 3): {"memberId": "m"},
    ("OffsetCommit", 6): {"groupInstanceId": "i"},
    ("OffsetCommit", 2): {"topics": [{"name": "t", "partitions": [{"commitTimestamp": 0}]}]},
    ("OffsetFetch", 6): {"requireStable": True},
    ("OffsetFetch", 7): {"groups": [{}]},
    ("OffsetFetch", 8): {"topics": None},
    ("OffsetFetch", 10): {"groupId": "g"},
    ("DescribeGroups", 2): {"includeAuthorizedOperations": True},
}


@pytest.mark.parametrize("asked", UNKNOWN_TO_THE_VERSION, ids=str)
def test_a_field_that_the_version_does_not_know_is_refused(asked: tuple[str, int]) -> None:
    api, version = asked

    fault = refused(event(api, version, **UNKNOWN_TO_THE_VERSION[asked]))

    assert fault.reason.endswith(f": version {version} has no such field")
    assert fault.code is ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize(
    ("asked", "said"),
    [(("SyncGroup", 2), 'body.groupInstanceId = "i": '), (("LeaveGroup", 2), "body.members: ")],
)
def test_what_the_field_says_is_shown_where_it_is_short(asked: tuple[str, int], said: str) -> None:
    assert refused(event(*asked, **UNKNOWN_TO_THE_VERSION[asked])).reason.startswith(said)


DEFAULTS_OF_UNKNOWN_FIELDS = {
    ("JoinGroup", 4): {"groupInstanceId": None},
    ("SyncGroup", 2): {"groupInstanceId": None},
    ("Heartbeat", 2): {"groupInstanceId": None},
    ("LeaveGroup", 2): {"members": []},
    ("LeaveGroup", 3): {"memberId": ""},
    ("OffsetCommit", 6): {"groupInstanceId": None},
    ("OffsetCommit", 2): {"topics": [{"name": "t", "partitions": [{"commitTimestamp": -1}]}]},
    ("OffsetFetch", 6): {"requireStable": False, "groups": []},
    ("OffsetFetch", 10): {"groupId": "", "topics": [], "groups": [{"groupId": "g"}]},
    ("DescribeGroups", 2): {"groups": ["g"], "includeAuthorizedOperations": False},
}


@pytest.mark.parametrize("asked", DEFAULTS_OF_UNKNOWN_FIELDS, ids=str)
def test_an_unknown_field_may_have_its_default(asked: tuple[str, int]) -> None:
    api, version = asked
    value = event(api, version, **DEFAULTS_OF_UNKNOWN_FIELDS[asked])

    assert events.decode(json.dumps(value).encode()).version == version
