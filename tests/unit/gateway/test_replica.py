"""What a replica answers, and when it leaves a group to the job. The job is the operator in this process, batch by batch."""

from __future__ import annotations

import zlib
from base64 import b64encode
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from msgspec import json

import group_coordinator
from group_coordinator.core.acls import THE_JOB, Acls, Authorizer
from group_coordinator.gateway.job.replica import ReadEvent, Replica, read_events
from group_coordinator.runtime.basis import Basis, DecidingSettings
from group_coordinator.runtime.outputs import EventRow, ResponseRow
from tests.support.group_updates import update_context, updated

NAME = "gateway-1"
PLAIN = update_context()
START_MS = 1_000_000


def basis(context_config: object = PLAIN.config, **changes: Any) -> Basis:
    settings: dict[str, Any] = {
        "program_version": group_coordinator.__version__,
        "coordinator": msgspec.to_builtins(context_config),
        "timer_slack_ms": 1_000,
        "response_max_bytes": 100_000,
        "announces_topics": False,
        "checks_acls": False,
    }
    return Basis(settings=DecidingSettings(**settings | changes), acls=None)


class Scene:
    """A log of one partition, the job and a gateway; `early` are the responses that the replica gave, by correlation id."""

    def __init__(self, of_the_job: Basis | None = None) -> None:
        self.context = replace(PLAIN, basis=of_the_job or basis())
        self.now_s, self.now_ms = 0.0, START_MS
        self.early: dict[str, Any] = {}
        self.answered: set[str] = set()
        self.replica = Replica("group-events", NAME, self._take, lambda: self.now_s)
        self.log: list[EventRow] = []
        self.batch_from = 0
        self.states: dict[str, bytes | None] = {}
        self.lost: set[int] = set()
        """Offsets of events that the job never reads."""

    def _take(self, correlation_id: str, value: bytes) -> bool:
        if correlation_id in self.answered:
            return False
        self.answered.add(correlation_id)
        self.early[correlation_id] = json.decode(value)["body"]
        return True

    def request(self, correlation_id: str, api: str, version: int, **body: Any) -> None:
        """A client's request to group g: sent, and read back from the topic."""
        asked = self.replica.ask("g")
        if asked is not None:
            self.append("g", "ReadState", 0, asked.correlation_id, asked.body)
        self.append("g", api, version, f"{NAME}-{correlation_id}", {"groupId": "g", **body})

    def commit(self, correlation_id: str) -> None:
        partition = {"partitionIndex": 0, "committedOffset": len(self.log)}
        topic = {"name": "orders", "partitions": [partition]}
        self.request(correlation_id, "OffsetCommit", 8, topics=[topic])

    def tick(self, basis_id: str) -> None:
        self.append("", "Tick", 0, None, {"basisId": basis_id})

    def append(
        self, key: str, api: str, version: int, correlation_id: str | None, body: dict[str, Any]
    ) -> None:
        event: dict[str, Any] = {
            "api": api,
            "version": version,
            "correlationId": correlation_id,
            "body": body,
        }
        event["principal"] = THE_JOB if api == "ReadState" else None
        row = EventRow(self.now_ms, 0, len(self.log), None, json.encode(event))
        self.log.append(row)
        self.replica.take_events([ReadEvent(key, row)], self.now_ms)

    def batch(self) -> list[bytes]:
        """The job's next batch: its responses, which the gateway reads."""
        new = self.log[self.batch_from :]
        rows = [r for r in new if r.offset not in self.lost and b'"Tick"' not in (r.value or b"")]
        self.batch_from = len(self.log)
        update = updated("g", self.states.get("g"), rows, self.now_ms, self.context)
        self.states["g"] = update.state
        outputs = [output for piece in update.pieces for output in piece.outputs]
        values = [output.value for output in outputs if isinstance(output, ResponseRow)]
        left = self.replica.left_of(values)
        self.answered |= {json.decode(value)["correlationId"] for value in left}
        return left

    def follow(self) -> None:
        """Two commits and a batch: from then on the replica answers, and counts from here."""
        self.commit("a")
        self.commit("b")
        self.batch()
        self.early.clear()
        self.replica.counts.clear()

    def figures(self) -> dict[str, int]:
        found = self.replica.figures()
        return {name.removeprefix("replica_"): found[name] for name in found if found[name]}


@pytest.fixture
def scene() -> Scene:
    return Scene()


def test_from_the_second_request_on_the_job_is_not_waited_for(scene: Scene) -> None:
    scene.commit("a")
    scene.commit("b")
    assert scene.early == {}

    scene.batch()
    # The state comes before the response to the second request, in the same batch.
    assert list(scene.early) == [f"{NAME}-b"]
    scene.early.clear()
    scene.commit("c")

    expected = {
        "topics": [{"name": "orders", "partitions": [{"partitionIndex": 0, "errorCode": 0}]}]
    }
    assert scene.early == {f"{NAME}-c": {"throttleTimeMs": 0, **expected}}
    assert scene.batch() == []
    assert scene.figures() == {"groups": 1, "answers_total": 2, "equal_total": 2}


def test_a_group_whose_coordinator_was_asked_for_is_read_before_its_first_request(
    scene: Scene,
) -> None:
    expected = scene.replica.expect("g")
    assert expected is not None
    scene.append("g", "ReadState", 0, expected.correlation_id, expected.body)
    assert scene.replica.expect("g") is None

    scene.batch()
    scene.commit("a")
    assert list(scene.early) == [f"{NAME}-a"]


def test_a_state_that_comes_late_is_not_used(scene: Scene) -> None:
    """The job was away: the events since the request are not kept for that long."""
    scene.commit("a")
    scene.commit("b")
    scene.now_s += 31
    scene.append("g", "OffsetFetch", 7, "another-1", {"groupId": "g", "topics": None})
    scene.batch()
    assert (scene.early, scene.figures()) == ({}, {})

    scene.commit("c")
    scene.batch()
    assert list(scene.early) == [f"{NAME}-c"]


def test_a_single_request_in_a_minute_costs_no_second_event(scene: Scene) -> None:
    for correlation_id in ("a", "b", "c"):
        scene.now_s += 61
        scene.commit(correlation_id)

    assert len(scene.log) == 3


def test_a_response_that_differs_is_reported_and_all_states_are_read_again(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.follow()
    # The job forgets the group: no code of this version does that.
    scene.states["g"] = None
    scene.request("d", "OffsetFetch", 7, topics=None)
    scene.batch()

    assert scene.figures() == {"answers_total": 1, "different_total": 1}
    assert "a response differs from the job's" in caplog.text

    scene.early.clear()
    scene.commit("e")
    scene.now_s += 59
    scene.commit("f")
    scene.batch()
    assert scene.early == {}

    scene.now_s += 1
    scene.commit("g")
    scene.batch()
    assert list(scene.early) == [f"{NAME}-g"]


def test_the_first_event_that_is_read_after_a_deadline_is_the_jobs(scene: Scene) -> None:
    """Whether the offset has expired depends on outages too: the job decides it, and the replica reads the group again."""
    scene.follow()
    scene.now_ms += 7 * 24 * 3_600_000 + 600_000

    scene.request("c", "OffsetFetch", 7, topics=None)
    assert f"{NAME}-c" not in scene.early

    scene.commit("d")
    scene.batch()
    scene.request("e", "OffsetFetch", 7, topics=None)
    assert list(scene.early) == [f"{NAME}-d", f"{NAME}-e"]
    assert scene.batch() == []
    assert scene.figures() == {"groups": 1, "answers_total": 2, "equal_total": 2}


def test_behind_a_tick_that_announces_another_basis_the_job_answers_until_it_has_it(
    scene: Scene,
) -> None:
    scene.follow()
    config = replace(PLAIN.config, offset_metadata_max_bytes=10)
    other = basis(config)
    scene.tick(other.id)

    scene.commit("c")
    scene.batch()
    scene.commit("d")
    assert scene.early == {}

    scene.now_s += 1
    scene.context = replace(PLAIN, config=config, basis=other)
    scene.commit("e")
    scene.batch()
    scene.commit("f")
    assert list(scene.early) == [f"{NAME}-e", f"{NAME}-f"]


def test_a_tick_with_the_same_basis_ends_nothing(scene: Scene) -> None:
    scene.follow()
    scene.tick(basis().id)

    scene.commit("c")
    assert list(scene.early) == [f"{NAME}-c"]


def test_a_job_of_another_version_answers_alone(caplog: pytest.LogCaptureFixture) -> None:
    scene = Scene(basis(program_version="0.1"))
    for _ in range(2):
        scene.follow()
        scene.now_s += 2

    scene.commit("c")
    assert scene.early == {}
    assert caplog.text.count("the job answers alone: ") == 1


def test_a_response_above_the_limit_is_the_jobs() -> None:
    scene = Scene(basis(response_max_bytes=100))
    scene.follow()

    scene.commit("c")
    assert (scene.early, scene.figures()) == ({}, {"groups": 1})


def test_while_the_job_confirms_nothing_for_ten_minutes_it_answers_alone(scene: Scene) -> None:
    scene.follow()
    scene.commit("c")
    scene.now_s += 601
    scene.commit("d")
    assert list(scene.early) == [f"{NAME}-c"]

    scene.batch()
    scene.commit("e")
    assert list(scene.early) == [f"{NAME}-c", f"{NAME}-e"]
    assert scene.figures() == {
        "groups": 1,
        "open": 1,
        "answers_total": 2,
        "equal_total": 1,
        "withheld_total": 1,
    }


def test_a_response_that_the_job_never_has_is_reported(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.follow()
    scene.commit("c")
    scene.lost.add(scene.log[-1].offset)
    scene.now_ms += 3_600_001
    scene.commit("d")
    scene.batch()

    assert (scene.figures()["missing_total"], "open" in scene.figures()) == (1, False)
    assert "the job has no response group-events-0-3" in caplog.text


def test_a_group_with_events_in_two_partitions_is_the_jobs(scene: Scene) -> None:
    scene.follow()
    elsewhere = msgspec.structs.replace(scene.log[-1], partition=1)
    scene.replica.take_events([ReadEvent("g", elsewhere)], START_MS)

    scene.commit("c")
    assert (scene.early, scene.figures()) == ({}, {})


def test_acls_are_part_of_the_basis() -> None:
    """Without an ACL for it the user may not commit; the event names no user here."""
    acls = Acls((), ("User:admin",))
    packed = b64encode(zlib.compress(json.encode(acls))).decode()
    scene = Scene(msgspec.structs.replace(basis(checks_acls=True), acls=packed))
    scene.context = replace(scene.context, acls=Authorizer(acls))
    scene.follow()

    scene.commit("c")
    [body] = scene.early.values()
    assert body["topics"][0]["partitions"] == [{"partitionIndex": 0, "errorCode": 30}]


class Record:
    def __init__(self, key: bytes | None) -> None:
        self.key = key
        self.timestamp, self.partition, self.offset, self.value = START_MS, 0, 0, b"{}"


def test_events_without_a_valid_key_belong_to_no_group_that_is_followed() -> None:
    records = [Record(key) for key in (None, b"\xff", b"x" * 40_000, b"", "größe".encode())]

    assert [event.group_id for event in read_events(records)] == ["", "größe"]


@pytest.mark.parametrize(
    "value",
    [b'{"api": "\xff"}', b'{"api": "Tick", "body": {"a": ' + b"[" * 100_000],
    ids=["not UTF-8", "nested"],
)
def test_an_unreadable_event_without_a_group_hides_no_later_event(
    scene: Scene, value: bytes
) -> None:
    scene.follow()
    partition = {"partitionIndex": 0, "committedOffset": 7}
    body = {"groupId": "g", "topics": [{"name": "orders", "partitions": [partition]}]}
    commit = {"api": "OffsetCommit", "version": 8, "correlationId": f"{NAME}-c", "body": body}
    rows = [
        EventRow(START_MS, 0, len(scene.log) + at, None, each)
        for at, each in enumerate([value, json.encode(commit)])
    ]
    scene.replica.take_events(map(ReadEvent, ["", "g"], rows), START_MS)

    assert list(scene.early) == [f"{NAME}-c"]
