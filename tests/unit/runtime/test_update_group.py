"""What comes out of a call, and what it leaves of the group."""

from __future__ import annotations

import json
import tempfile
from base64 import b64decode
from dataclasses import replace
from pathlib import Path

import pytest

from group_coordinator.core.acls import Acls, Authorizer
from group_coordinator.runtime import outputs
from group_coordinator.runtime.basis import Basis, DecidingSettings
from tests.support.group_updates import lines_of
from tests.unit.runtime.group_updates import (
    COMMIT,
    CONTEXT,
    DELETE,
    FETCH,
    JOIN,
    MEMBER_ID,
    Json,
    alive,
    call,
    committed,
    group_of,
    lines,
    row,
    stable,
    tags,
)

# What comes out.


def test_a_request_gives_its_records_and_its_response() -> None:
    update = committed()

    log, response = lines_of(update)
    assert log == (
        'L{"group_id":"g","record_type":1,'
        '"key":{"type":1,"data":{"group":"g","topic":"orders","partition":0}},'
        '"value":{"version":4,"data":{"offset":42,"leaderEpoch":-1,"metadata":"","commitTimestamp":1000}},'
        '"topic":"orders","partition":0,"member_id":null,"offset":42,"reason":"offset-commit",'
        '"principal":"User:billing","event_time_ms":1000,"source_partition":3,"source_offset":0,"seq":0}'
    )
    assert response == (
        'R{"id":"group-events-3-0","correlationId":"c-1","api":"OffsetCommit","version":8,"groupId":"g",'
        '"at":1000,"body":{"throttleTimeMs":0,"topics":[{"name":"orders","partitions":'
        '[{"partitionIndex":0,"errorCode":0}]}]}}'
    )
    assert update.deadline_ms == 61_000
    assert update.state is not None


def test_who_does_not_ask_is_not_answered() -> None:
    assert tags(call(row(COMMIT | {"correlationId": None}, 1_000), at_ms=1_500)) == "L"


def test_a_deadline_has_no_source() -> None:
    update = call(at_ms=62_000, state=committed().state)

    assert [
        (tag, line["reason"], line["event_time_ms"], line["source_offset"], line["seq"])
        for tag, line in lines(update)
    ] == [("L", "offset-expired", 61_000, None, 0), ("L", "group-expired", 61_000, None, 1)]


def test_a_parked_request_is_answered_by_a_later_call() -> None:
    parked = call(row(JOIN, 0), at_ms=500)
    assert tags(parked) == "L"

    ((tag, answer),) = lines(call(at_ms=4_000, state=parked.state))

    assert (tag, answer["id"], answer["correlationId"]) == ("R", "group-events-3-0", "c-3")
    assert (answer["at"], answer["body"]["memberId"]) == (3_000, MEMBER_ID)


def test_a_response_goes_where_its_client_reads() -> None:
    to_partition_3 = {"replyPartition": 3}
    answered = call(row(COMMIT | to_partition_3, 1_000), at_ms=1_500)
    assert [line.partition("{")[0] for line in lines_of(answered)] == ["L", "R3"]

    parked = call(row(JOIN | to_partition_3, 0), at_ms=500)
    [joined] = lines_of(call(at_ms=4_000, state=parked.state))
    assert joined.startswith('R3{"id":"group-events-3-0"')

    unheard_of = COMMIT | to_partition_3 | {"version": 99}
    [refused] = lines_of(call(row(unheard_of, 1_000), at_ms=1_500))
    assert refused.startswith('R3{"id":')

    refused, letter = lines_of(call(row(COMMIT | {"replyPartition": -3}, 1_000), at_ms=1_500))
    assert refused.startswith('R{"id":')
    assert "replyPartition = -3: Expected `int` >= 0" in letter


def test_the_outputs_of_a_call_are_counted() -> None:
    update = call(row(COMMIT, 1, 0), row(DELETE, 2, 1), at_ms=10)

    assert [line.get("seq") for _, line in lines(update)] == [0, None, 2, 3]
    assert tags(update) == "LRLL"


def test_many_outputs_come_in_several_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [row(COMMIT, 1, offset) for offset in range(10)]
    whole = call(*events, at_ms=10)
    assert len(list(whole.pieces)) == 1

    monkeypatch.setattr(outputs, "_PIECE_BYTES", 700)
    cut = call(*events, at_ms=10)

    assert [len(piece.outputs) for piece in cut.pieces] == [2] * 10
    assert lines_of(cut) == lines_of(whole)


def test_pieces_wait_in_the_folder_that_the_worker_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Python's own folder may be one that takes no files."""
    monkeypatch.setattr(outputs, "_PIECE_BYTES", 700)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "read-only"))
    events = [row(COMMIT, 1, offset) for offset in range(10)]
    beside_sparks_blocks = replace(CONTEXT, scratch=lambda: str(tmp_path))

    assert len(lines_of(call(*events, at_ms=10, context=beside_sparks_blocks))) == 20
    with pytest.raises(FileNotFoundError):
        call(*events, at_ms=10)


# The state.


def test_where_nothing_happens_the_state_stays_the_same_to_the_byte() -> None:
    before = committed()

    update = call(at_ms=5_000, state=before.state)

    assert (update.state, update.deadline_ms) == (before.state, 61_000)
    assert lines_of(update) == []


def test_a_heartbeat_changes_the_state_for_its_deadline() -> None:
    before = stable()

    update = call(alive(4_000), at_ms=4_500, state=before.state)

    assert update.state != before.state
    assert update.deadline_ms == 14_000


def test_a_deleted_group_is_removed() -> None:
    update = call(row(DELETE, 2_000), at_ms=2_500, state=committed().state)

    assert (update.state, update.deadline_ms) == (None, None)


def test_an_expired_group_is_removed() -> None:
    update = call(at_ms=62_000, state=committed().state)

    assert (update.state, update.deadline_ms) == (None, None)


def test_a_group_that_comes_and_goes_in_one_call_leaves_nothing() -> None:
    update = call(row(COMMIT, 1_000, 0), row(DELETE, 1_000, 1), at_ms=1_500)

    assert tags(update) == "LRLL"
    assert (update.state, update.deadline_ms) == (None, None)


def test_a_question_about_no_group_leaves_nothing() -> None:
    update = call(row(FETCH, 1_000), at_ms=1_500)

    assert tags(update) == "R"
    assert (update.state, update.deadline_ms) == (None, None)


_TOPIC = {"name": "orders", "topicId": "4ksO1bcLSgCStYJnTlCVLg", "numPartitions": 1}
_METADATA = {
    "api": "TopicMetadata",
    "version": 0,
    "body": {"groupId": "g", "topics": [_TOPIC], "deletedTopics": []},
}


def test_topic_metadata_after_it_was_forgotten_is_the_first_again() -> None:
    # Its deadline, at 61,000, fires between the two events of the call.
    update = call(row(_METADATA, 1_000), row(_METADATA, 61_000, 1), at_ms=61_000)

    assert group_of(update).topics_version == 1


def test_what_is_known_of_topics_is_kept_without_a_group() -> None:
    update = call(row(_METADATA, 1_000), at_ms=1_500)

    assert (lines_of(update), update.deadline_ms) == ([], 61_000)
    assert group_of(update).partition_exists("orders", 0)
    assert not group_of(update).partition_exists("orders", 1)
    forgotten = call(at_ms=62_000, state=update.state)
    assert (forgotten.state, forgotten.deadline_ms) == (None, None)
    assert lines_of(forgotten) == []


def test_other_settings_count_from_the_next_call_on() -> None:
    shorter = replace(CONTEXT, config=replace(CONTEXT.config, offsets_retention_ms=20_000))

    update = call(row(FETCH, 40_000, 1), at_ms=40_000, state=committed().state, context=shorter)

    assert [line.get("reason") for tag, line in lines(update)] == [
        "offset-expired",
        "group-expired",
        None,
    ]


READ_STATE: Json = {
    "api": "ReadState",
    "version": 0,
    "correlationId": "c-9",
    "body": {"groupId": "g"},
}
BASIS = Basis(
    settings=DecidingSettings(
        program_version="1",
        coordinator={},
        timer_slack_ms=1_000,
        response_max_bytes=1_000_000,
        announces_topics=False,
        checks_acls=False,
    ),
    acls=None,
)


def test_a_gateway_reads_the_whole_group_as_of_its_event() -> None:
    context = replace(CONTEXT, basis=BASIS)
    update = call(row(READ_STATE, 2_000, 1), at_ms=2_000, state=committed().state, context=context)

    noted, (_, answer) = lines(update)
    assert noted == ("G", {"group_id": "g"})
    body = answer["body"]
    assert update.state is not None
    assert b64decode(body.pop("state")) == update.state
    assert body == {"errorCode": 0, "basisId": BASIS.id, "basis": json.loads(BASIS.encoded)}


def test_a_gateway_that_knows_the_basis_does_not_get_it_again() -> None:
    event = READ_STATE | {"body": {"groupId": "g", "knownBasisId": BASIS.id}}
    update = call(row(event, 2_000), at_ms=2_000, context=replace(CONTEXT, basis=BASIS))

    _, (_, answer) = lines(update)
    assert answer["body"] == {"errorCode": 0, "state": None, "basisId": BASIS.id, "basis": None}
    assert update.state is None


def test_a_client_may_not_read_the_whole_group() -> None:
    nothing_allowed = Authorizer(Acls((), (), allow_everyone_if_no_acl_found=False))
    update = call(
        row(READ_STATE, 2_000), at_ms=2_000, context=replace(CONTEXT, acls=nothing_allowed)
    )

    (_, answer), _ = lines(update)
    assert (answer["body"]["errorCode"], answer["body"]["state"]) == (31, None)
