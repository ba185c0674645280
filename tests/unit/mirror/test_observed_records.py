"""Records of a group as the admin protocol shows it, and the changes between two polls."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from group_coordinator.clients.cluster.group_poll import (
    CLASSIC,
    CONSUMER,
    SHARE,
    STREAMS,
    PolledGroup,
)
from group_coordinator.codecs.offsets_topic import decode_entry, encode_entry
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.mirror.observed_records import (
    RecordChange,
    Records,
    at_time,
    changes,
    is_settled,
    records_of,
)

ORDERS_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
OFFSET_KEY = '{"type":1,"data":{"group":"billing","topic":"orders","partition":%d}}'
GROUP_KEY = '{"type":2,"data":{"group":"billing"}}'
EMPTY = (
    '{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":null,"leader":null,'
    '"currentStateTimestamp":0,"members":[]}}'
)
STABLE = (
    '{"version":3,"data":{"protocolType":"consumer","generation":1,"protocol":"range","leader":null,'
    '"currentStateTimestamp":0,"members":[{"memberId":"m-1","groupInstanceId":null,"clientId":"c",'
    '"clientHost":"/127.0.0.1","rebalanceTimeout":-1,"sessionTimeout":-1,"subscription":"AAE=",'
    '"assignment":"AAI="}]}}'
)
MEMBER = {
    "memberId": "m-1",
    "groupInstanceId": None,
    "clientId": "c",
    "clientHost": "/127.0.0.1",
    "memberMetadata": "AAE=",
    "memberAssignment": "AAI=",
}


def commit(offset: int) -> str:
    return f'{{"version":4,"data":{{"offset":{offset},"leaderEpoch":3,"metadata":"note","commitTimestamp":0}}}}'


def topics(**partitions: int) -> list[dict[str, Any]]:
    """Offsets of topic orders: p0=5 is partition 0 at offset 5."""
    found = [
        {
            "partitionIndex": int(name[1:]),
            "committedOffset": offset,
            "committedLeaderEpoch": 3,
            "metadata": "note",
            "errorCode": 0,
        }
        for name, offset in partitions.items()
    ]
    return [{"name": "orders", "partitions": found}]


def classic(state: str, *members: dict[str, Any], **partitions: int) -> PolledGroup:
    description = {
        "groupState": state,
        "protocolType": "consumer",
        "protocolData": "range" if members else "",
        "members": list(members),
    }
    return PolledGroup("billing", CLASSIC, "", description, topics(**partitions))


def test_a_classic_group_has_its_record_and_its_offsets() -> None:
    polled = classic("Stable", MEMBER, p0=5, p1=-1)

    assert is_settled(polled)
    # Without an offset the broker answers -1.
    assert records_of(polled) == {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(5)}


def test_a_group_that_only_commits_has_no_record_of_its_own() -> None:
    simple = {"groupState": "Empty", "protocolType": "", "protocolData": "", "members": []}

    assert records_of(PolledGroup("billing", CLASSIC, "", simple, topics(p0=5))) == {
        OFFSET_KEY % 0: commit(5)
    }


@pytest.mark.parametrize("state", ["PreparingRebalance", "CompletingRebalance"])
def test_the_record_of_a_rebalancing_group_stays(state: str) -> None:
    """Its members have no assignments meanwhile, and Kafka writes no record."""
    before = {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(5)}
    polled = classic(state, MEMBER, p0=6)

    found = changes(before, records_of(polled), is_settled=is_settled(polled))

    assert found == [RecordChange(OFFSET_KEY % 0, commit(6))]


def test_a_rebalancing_group_that_loses_its_last_offset_does_not_end() -> None:
    polled = classic("PreparingRebalance", MEMBER)

    found = changes({OFFSET_KEY % 0: commit(5)}, records_of(polled), is_settled=is_settled(polled))

    assert found == [RecordChange(OFFSET_KEY % 0, None)]


def test_an_ended_group_has_tombstones_of_all_its_records() -> None:
    before = {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(5)}

    found = changes(before, records_of(PolledGroup("billing", CLASSIC)))

    assert found == [RecordChange(OFFSET_KEY % 0, None), RecordChange(GROUP_KEY, None)]


def test_a_group_of_offsets_alone_ends_with_a_tombstone_of_the_group_as_in_kafka() -> None:
    assert changes({OFFSET_KEY % 0: commit(5)}, {}) == [
        RecordChange(OFFSET_KEY % 0, None),
        RecordChange(GROUP_KEY, None),
    ]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        pytest.param(
            {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(5)},
            {GROUP_KEY: EMPTY, OFFSET_KEY % 0: commit(8)},
            [OFFSET_KEY % 0, GROUP_KEY],
            id="the last member commits, then leaves",
        ),
        pytest.param(
            {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(5)},
            {GROUP_KEY: EMPTY, OFFSET_KEY % 0: commit(2)},
            [GROUP_KEY, OFFSET_KEY % 0],
            id="the group is empty, then reset",
        ),
        pytest.param(
            {GROUP_KEY: EMPTY, OFFSET_KEY % 0: commit(5)},
            {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(2)},
            [OFFSET_KEY % 0, GROUP_KEY],
            id="the group is reset, then a member joins",
        ),
        pytest.param(
            {GROUP_KEY: EMPTY},
            {GROUP_KEY: STABLE, OFFSET_KEY % 0: commit(2)},
            [GROUP_KEY, OFFSET_KEY % 0],
            id="a member joins, then commits",
        ),
    ],
)
def test_changes_between_two_polls_are_in_a_likely_order(
    before: Records, now: Records, expected: list[str]
) -> None:
    assert [change.key for change in changes(before, now)] == expected


def assignment(*partitions: int) -> dict[str, Any]:
    found = {"topicId": ORDERS_ID, "topicName": "orders", "partitions": list(partitions)}
    return {"topicPartitions": [found]}


def test_a_consumer_group_has_the_records_of_its_members() -> None:
    member = {
        "memberId": "m-1",
        "instanceId": "i-1",
        "rackId": None,
        "memberEpoch": 7,
        "clientId": "c",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": ["orders"],
        "subscribedTopicRegex": None,
        "assignment": assignment(1, 0),
        "targetAssignment": assignment(0, 1, 2),
        "memberType": 1,
    }
    description = {
        "groupState": "Reconciling",
        "groupEpoch": 8,
        "assignmentEpoch": 8,
        "members": [member],
    }

    found = records_of(PolledGroup("billing", CONSUMER, "", description))

    names = ',"topicNames":{"AAAAAAAAAAAAAAAAAAAAAQ":"orders"}'
    of_member = '{"type":%d,"data":{"groupId":"billing","memberId":"m-1"}}'
    of_group = '{"type":%d,"data":{"groupId":"billing"}}'
    assert found == {
        of_group % 3: '{"version":0,"data":{"epoch":8}}',
        of_group % 6: '{"version":0,"data":{"assignmentEpoch":8}}',
        of_member % 5: '{"version":0,"data":{"instanceId":"i-1","rackId":null,"clientId":"c",'
        '"clientHost":"/127.0.0.1","subscribedTopicNames":["orders"],"subscribedTopicRegex":"",'
        '"rebalanceTimeoutMs":-1,"serverAssignor":null,"classicMemberMetadata":null}}',
        of_member
        % 7: '{"version":0,"data":{"topicPartitions":[{"topicId":"AAAAAAAAAAAAAAAAAAAAAQ",'
        f'"partitions":[0,1,2]}}]}}{names}}}',
        of_member % 8: '{"version":0,"data":{"memberEpoch":7,"previousMemberEpoch":7,"state":0,'
        '"assignedPartitions":[{"topicId":"AAAAAAAAAAAAAAAAAAAAAQ","partitions":[0,1],'
        f'"assignmentEpochs":[7,7]}}],"partitionsPendingRevocation":[]}}{names}}}',
    }


def test_a_pattern_matches_the_topics_that_its_members_are_assigned() -> None:
    by_pattern = {
        "instanceId": None,
        "rackId": None,
        "memberEpoch": 7,
        "clientId": "c",
        "clientHost": "/127.0.0.1",
        "subscribedTopicNames": [],
        "subscribedTopicRegex": "ord.*",
        "memberType": 1,
    }
    members = [
        {
            **by_pattern,
            "memberId": "m-1",
            "assignment": assignment(0),
            "targetAssignment": assignment(),
        },
        {**by_pattern, "memberId": "m-2", "assignment": NOTHING, "targetAssignment": NOTHING},
    ]
    description = {**EPOCHS, "members": members}

    found = records_of(PolledGroup("billing", CONSUMER, "", description))

    key = '{"type":16,"data":{"groupId":"billing","regularExpression":"ord.*"}}'
    assert found[key] == '{"version":0,"data":{"topics":["orders"],"version":0,"timestamp":0}}'


NOTHING: dict[str, Any] = {"topicPartitions": []}
SHARED = {
    "memberId": "m-1",
    "rackId": None,
    "memberEpoch": 2,
    "clientId": "c",
    "clientHost": "/127.0.0.1",
    "subscribedTopicNames": ["orders"],
    "assignment": assignment(0),
}
_TASKS = {
    "activeTasks": [{"subtopologyId": "0", "partitions": [0, 1]}],
    "standbyTasks": [],
    "warmupTasks": [],
}
STREAMING = {
    "memberId": "m-1",
    "memberEpoch": 2,
    "instanceId": None,
    "rackId": None,
    "clientId": "c",
    "clientHost": "/127.0.0.1",
    "topologyEpoch": 1,
    "processId": "p",
    "userEndpoint": None,
    "clientTags": [],
    "assignment": _TASKS,
    "targetAssignment": _TASKS,
}
TOPOLOGY = {
    "epoch": 1,
    "subtopologies": [
        {
            "subtopologyId": "0",
            "sourceTopics": ["orders"],
            "repartitionSinkTopics": [],
            "stateChangelogTopics": [],
            "repartitionSourceTopics": [],
        }
    ],
}
EPOCHS = {"groupState": "Stable", "groupEpoch": 2, "assignmentEpoch": 2}


@pytest.mark.parametrize(
    "polled",
    [
        PolledGroup("g", SHARE, "", {**EPOCHS, "members": [SHARED]}),
        PolledGroup("g", STREAMS, "", {**EPOCHS, "topology": TOPOLOGY, "members": [STREAMING]}),
    ],
    ids=[SHARE, STREAMS],
)
def test_records_of_other_types_are_those_of_kafkas_layouts(polled: PolledGroup) -> None:
    for key, value in records_of(polled).items():
        entry = LogEntry(json.decode(key, type=Key[Any]), json.decode(value, type=RecordValue[Any]))
        group_id, read = decode_entry(*encode_entry(entry))
        assert (group_id, read.key.data) == ("g", entry.key.data)
        assert read.value is not None
        assert entry.value is not None
        # Kafka's reader leaves out nothing that is written here.
        assert entry.value.data.items() <= read.value.data.items()


def test_members_of_an_epoch_come_before_it_as_in_kafka() -> None:
    types = (3, 5, 6, 7, 8, 16)
    now = {f'{{"type":{kind},"data":{{"groupId":"billing"}}}}': "{}" for kind in types}

    found = [json.decode(change.key)["type"] for change in changes({}, now)]

    assert found == [5, 16, 3, 7, 6, 8]


def test_the_time_of_the_poll_replaces_the_times_that_no_response_has() -> None:
    note = '{"version":4,"data":{"offset":5,"leaderEpoch":3,"metadata":"\\"commitTimestamp\\":0","commitTimestamp":0}}'

    assert at_time(note, 1_700) == note[: -len("0}}")] + "1700}}"
    assert at_time(EMPTY, 1_700) == EMPTY.replace(':0,"members"', ':1700,"members"')


VALUES = st.dictionaries(
    st.integers(0, 3).map(lambda number: OFFSET_KEY % number), st.integers(0, 3).map(commit)
)
GROUPS = st.builds(
    lambda offsets, group: {**offsets, **({GROUP_KEY: group} if group else {})},
    VALUES,
    st.sampled_from([None, EMPTY, STABLE]),
)


@given(GROUPS, GROUPS)
def test_the_changes_make_the_later_group_from_the_earlier_one(
    before: Records, now: Records
) -> None:
    made: dict[str, str] = dict(before)
    for key, value in changes(before, now):
        made.pop(key, None)
        if value is not None:
            made[key] = value

    assert made == now
