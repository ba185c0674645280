from __future__ import annotations

from tests.conformance.language.embedded import embedded_assignment, with_sorted_topics
from tests.conformance.language.lines import PARKED, Json, Line, packed
from tests.conformance.language.outcome import comparable, complaints, differences, gist, reduced

M1 = "m1-00000000-0000-4000-8000-000000000001"
M2 = "m2-00000000-0000-4000-8000-000000000002"
HEARTBEAT = {"at": 0, "event": {"api": "Heartbeat", "correlationId": "c1", "body": {}}}


def answer(code: int, correlation: str = "c1") -> Json:
    return {
        "kind": "response",
        "id": f"somewhere-{correlation}",
        "correlationId": correlation,
        "api": "Heartbeat",
        "body": {"errorCode": code},
    }


def offset_record(topic: str, offset: int | None) -> Json:
    return {
        "kind": "record",
        "groupId": "g",
        "reason": "whatever",
        "key": {"type": 1, "data": {"group": "g", "topic": topic, "partition": 0}},
        "value": None if offset is None else {"version": 4, "data": {"offset": offset}},
    }


def group_record(*member_ids: str) -> Json:
    members = [{"memberId": member_id} for member_id in member_ids]
    return {
        "kind": "record",
        "groupId": "g",
        "key": {"type": 2, "data": {"group": "g"}},
        "value": {"version": 3, "data": {"members": members}},
    }


def test_the_gist_of_an_output() -> None:
    assert gist(answer(25)) == "Heartbeat=25"
    assert gist(offset_record("orders", 7)) == "+offset:orders-0"
    assert gist(offset_record("orders", None)) == "-offset:orders-0"
    assert gist(group_record()) == "+group"
    assert gist({"kind": "deadLetter", "reason": "?"}) == "deadLetter"


def test_a_script_complains_of_another_error() -> None:
    line = Line(HEARTBEAT, error=27)
    assert complaints(line, [answer(27)]) == []
    assert complaints(line, [answer(25)]) == ["its own answer: expected [27], got [[25]]"]
    assert complaints(line, []) == ["its own answer: expected [27], got []"]
    assert complaints(line, [answer(27), answer(27)]) != []


def test_a_script_complains_of_an_answer_that_comes_too_soon() -> None:
    assert complaints(Line(HEARTBEAT, error=PARKED), []) == []
    assert complaints(Line(HEARTBEAT, error=PARKED), [answer(0)]) != []


def test_a_script_complains_of_what_it_does_not_expect() -> None:
    time = {"at": 5}
    late = answer(0, "c9")
    assert complaints(Line(time, also="Heartbeat=0 +group"), [group_record(), late]) == []
    assert complaints(Line(time, also=""), [late]) != []
    assert complaints(Line(time, also="+group"), []) != []
    assert complaints(Line(HEARTBEAT, error=0), [answer(0), group_record()]) == []
    assert complaints(Line(HEARTBEAT, error=0, also=""), [answer(0), group_record()]) != []


def test_generated_ids_and_their_order_do_not_matter() -> None:
    kafka = comparable([group_record(M2, M1)], {M1: "m1", M2: "m2"})
    other = {M1.replace("8000", "9000"): "m1", M2.replace("8000", "9000"): "m2"}
    ours = comparable([group_record(*other)], other)
    assert differences(kafka, ours) == []
    assert kafka[0]["value"]["data"]["members"] == [{"memberId": "<m1>"}, {"memberId": "<m2>"}]


def test_an_id_without_a_name_keeps_its_prefix() -> None:
    [record] = comparable([group_record(M1)], {})
    assert record["value"]["data"]["members"] == [{"memberId": "m1-<id>"}]


def test_a_run_of_tombstones_has_no_order_but_records_have() -> None:
    gone = [offset_record("a", None), offset_record("b", None)]
    assert comparable(gone, {}) == comparable(gone[::-1], {})
    written = [offset_record("a", 1), offset_record("b", 1)]
    assert comparable(written, {}) != comparable(written[::-1], {})
    around = [gone[0], group_record(), gone[1]]
    assert comparable(around, {}) != comparable([gone[0], gone[1], group_record()], {})


def consumer_record(kind: int, member: str, data: Json | None) -> Json:
    return {
        "kind": "record",
        "groupId": "g",
        "at": 1,
        "key": {"type": kind, "data": {"groupId": "g", "memberId": member}},
        "value": None if data is None else {"version": 0, "data": data},
    }


def test_the_gist_of_what_a_consumer_group_logs() -> None:
    assert gist(consumer_record(3, "", {"epoch": 7})) == "+epoch=7"
    assert gist(consumer_record(6, "", {"assignmentEpoch": 7})) == "+targets=7"
    assert gist(consumer_record(5, "m1", {})) == "+member:m1"
    assert gist(consumer_record(8, "m1", None)) == "-current:m1"
    assert gist(consumer_record(4, "", None)) == "-metadata"


def test_partitions_have_no_order_but_each_has_its_epoch() -> None:
    topics = [
        {"topicId": "b", "partitions": [1, 0], "assignmentEpochs": [3, 2]},
        {"topicId": "a", "partitions": [4]},
    ]
    [record] = reduced([consumer_record(8, "m1", {"assignedPartitions": topics})])
    assert record["value"]["data"]["assignedPartitions"] == [
        {"topicId": "a", "partitions": [4]},
        {"topicId": "b", "partitions": [0, 1], "assignmentEpochs": [2, 3]},
    ]


def test_members_that_go_together_go_in_any_order_but_each_in_its_own() -> None:
    m1, m2 = ([consumer_record(kind, m, None) for kind in (8, 7, 5)] for m in ("m1", "m2"))
    epochs = [consumer_record(3, "", {"epoch": epoch}) for epoch in (4, 5)]
    assert reduced([*m1, *m2, epochs[0]]) == reduced([*m2, *m1, epochs[0]])
    in_turn = [*m1, epochs[0], *m2, epochs[1]]
    assert reduced(in_turn) == reduced([*m2, epochs[0], *m1, epochs[1]])
    assert reduced(in_turn) != reduced([*m1[::-1], epochs[0], *m2, epochs[1]])


def test_assignments_in_bytes_have_their_topics_in_order() -> None:
    topics = [{"topic": "b", "partitions": [1]}, {"topic": "a", "partitions": [0]}]
    one, other = (packed(embedded_assignment(order)) for order in (topics, topics[::-1]))
    assert one != other
    assert with_sorted_topics(one) == with_sorted_topics(other) == other
    assert with_sorted_topics(packed(b"for m1")) == packed(b"for m1")


def test_an_answer_is_held_against_what_is_said_about_it() -> None:
    told = {**answer(0), "body": {"errorCode": 0, "memberEpoch": 2}}
    assert complaints(Line(HEARTBEAT, error=0, says={"memberEpoch": 2}), [told]) == []
    [complaint] = complaints(Line(HEARTBEAT, error=0, says={"memberEpoch": 3}), [told])
    assert complaint == "its own answer, memberEpoch: expected 3, got 2"


def test_differences_name_the_field() -> None:
    assert differences([answer(27)], [answer(25)]) == [
        "output 1 (Heartbeat=27 / Heartbeat=25) body.errorCode: Kafka 27, ours 25"
    ]
    assert differences([group_record()], [])[0].startswith("output 1 (+group / nothing)")
    missing = {"kind": "response", "body": {}, "api": "Heartbeat"}
    assert "Kafka 0, ours 'absent'" in " ".join(differences([answer(0)], [missing]))
