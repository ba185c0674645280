"""What must hold whatever happens to a group: a batch can be done again, and cut anywhere."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from itertools import pairwise

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import events, snapshots
from group_coordinator.codecs.records import log_entry
from group_coordinator.core import coordinator
from group_coordinator.core.classic.generation import subscription_of_members
from group_coordinator.core.deadlines import Outage, Outages
from group_coordinator.core.model.classic_member import ClassicState, ReplyAddress
from group_coordinator.core.model.errors import CoordinatorError
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import GroupRecord, OffsetRecord, Record
from group_coordinator.core.model.requests import RequestContext
from group_coordinator.core.replay import replay
from group_coordinator.runtime.event_handling import fresh_id, short_id
from group_coordinator.runtime.outputs import EventRow
from group_coordinator.runtime.update_group import UpdateContext
from tests.property.lives import (
    CONFIG,
    CONTEXT,
    REQUESTS_OF_CLIENTS,
    RETENTION_MS,
    SLACK_MS,
    SWEEP_MS,
    TOPIC,
    Script,
    retain,
    scripts,
)
from tests.support.acls import authorizer
from tests.support.group_updates import lines_without_places, updated

SOME_RIGHTS = authorizer(
    "ALLOW User:* READ GROUP *",
    "ALLOW User:* DELETE GROUP *",
    "ALLOW User:* READ TOPIC orders",
    "ALLOW User:* CLUSTER_ACTION CLUSTER kafka-cluster",
)


def run(
    batches: list[tuple[list[EventRow], int]], context: UpdateContext = CONTEXT
) -> tuple[bytes | None, list[str]]:
    """Final state and all lines, without their place in the call, which is the batches' business."""
    state, lines = None, []
    for rows, batch_time_ms in batches:
        update = updated("g", state, rows, batch_time_ms, context)
        state = update.state
        lines += lines_without_places(update)
    return state, lines


def outages_within(script: Script) -> st.SearchStrategy[Outages]:
    """Up to three, from and to moments of events, or beside them; they may overlap or adjoin."""
    moments = sorted({row.timestamp_ms + by for row in script.rows for by in (-1, 0, 1)})
    if not moments:
        return st.just(())
    moment = st.sampled_from(moments)
    spans = st.tuples(moment, moment).map(sorted)
    outage = st.builds(lambda span, heard: Outage(*span, heard), spans, st.booleans())
    return st.lists(outage, max_size=3).map(_in_order)


def _in_order(outages: list[Outage]) -> Outages:
    return tuple(sorted(outages, key=lambda outage: outage.to_ms))


@given(script=scripts(), data=st.data())
def test_cutting_the_events_into_batches_changes_nothing(
    script: Script, data: st.DataObject
) -> None:
    end_ms = script.now_ms + data.draw(st.sampled_from([0, SLACK_MS, SWEEP_MS, 10 * RETENTION_MS]))
    acls = data.draw(st.sampled_from([None, SOME_RIGHTS]))
    context = replace(CONTEXT, outages=data.draw(outages_within(script)), acls=acls)
    whole = run([(script.rows, end_ms)], context)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(script.rows)), max_size=5)))
    edges = [0, *cuts, len(script.rows)]
    parts = [script.rows[start:stop] for start, stop in pairwise(edges)]
    # A batch sees every event that was appended up to the slack before its own time.
    times_ms = [row.timestamp_ms for row in script.rows] + [end_ms]
    late_ms = st.sampled_from([0, 1, SLACK_MS])
    split = run(
        [
            (part, times_ms[stop] + (data.draw(late_ms) if stop < len(script.rows) else 0))
            for part, stop in zip(parts, edges[1:], strict=True)
        ],
        context,
    )

    assert split == whole


@given(
    script=scripts(requests=REQUESTS_OF_CLIENTS),
    retention_ms=st.sampled_from([1, SWEEP_MS, RETENTION_MS - 1, RETENTION_MS + 1]),
    data=st.data(),
)
def test_a_groups_own_retention_is_like_the_coordinators(
    script: Script, retention_ms: int, data: st.DataObject
) -> None:
    """Given at first to the group alone, or to the coordinator: what is written and answered is the same."""
    end_ms = script.now_ms + data.draw(st.sampled_from([0, SLACK_MS, SWEEP_MS, 10 * RETENTION_MS]))
    theirs = replace(CONTEXT, config=replace(CONFIG, offsets_retention_ms=retention_ms))
    first_ms = script.rows[0].timestamp_ms
    given_it = Script(now_ms=first_ms)
    given_it.add(0, *retain(str(retention_ms)), client="admin")
    [setting] = given_it.rows
    elsewhere = msgspec.structs.replace(setting, partition=1)  # the others keep their numbers

    _, [record, answer, *own] = run([([elsewhere, *script.rows], end_ms)])

    assert (json.loads(record[1:])["record_type"], json.loads(answer[1:])["at"]) == (-2, first_ms)
    assert own == run([(script.rows, end_ms)], theirs)[1]


@given(script=scripts())
def test_a_batch_done_again_gives_the_same(script: Script) -> None:
    batch = (script.rows, script.now_ms + SWEEP_MS)

    assert run([batch]) == run([batch])


@given(script=scripts())
def test_every_request_is_answered_once_in_the_end(script: Script) -> None:
    _, lines = run([(script.rows, script.now_ms + 10 * RETENTION_MS)])
    answered = sorted(json.loads(line[1:])["id"] for line in lines if line[0] == "R")

    assert answered == sorted(f"{TOPIC}-0-{row.offset}" for row in script.rows)
    assert not [line for line in lines if line[0] == "D"]


@given(script=scripts())
def test_the_life_of_a_group_keeps_the_invariants(script: Script) -> None:
    live, log = Group("g"), []
    for row in script.rows:
        for step in coordinator.advance(live, row.timestamp_ms, CONFIG):
            log += step.records
        check_nothing_overdue(live, row.timestamp_ms)
        log += _handle(live, row)
        check_log_rebuilds_state(live, log, row.timestamp_ms)
        assert snapshots.load("g", snapshots.dump(live)) == live


def _handle(live: Group, row: EventRow) -> list[Record]:
    assert row.value is not None
    event = events.decode(row.value)
    ticket = ReplyAddress(f"{TOPIC}-0-{row.offset}", event.correlation_id, event.version)
    context = RequestContext(
        now_ms=row.timestamp_ms,
        ticket=ticket,
        client_id=event.client_id,
        client_host=event.client_host,
        fresh_id=fresh_id(ticket.event_id),
        fresh_short_id=short_id(ticket.event_id),
    )
    before = copy.deepcopy(live)
    generation = live.membership.generation if live.membership else 0
    try:
        coordinator.decide(live, event.request, context, CONFIG)
        refused = False
    except CoordinatorError:
        refused = True
    assert live == before, "a decision changes nothing"
    offsets = _offsets(live)
    step = coordinator.handle(live, event.request, context, CONFIG)
    assert not (refused and step.records), "a refused request leaves no record"
    tombstones = {
        (r.topic, r.partition)
        for r in step.records
        if isinstance(r, OffsetRecord) and r.value is None
    }
    assert offsets - _offsets(live) == tombstones & offsets, (
        "an offset disappears only by its tombstone"
    )
    if live.membership is not None and not any(_is_tombstone(r) for r in step.records):
        assert live.membership.generation >= generation, "a generation never goes back"
    return list(step.records)


def _is_tombstone(record: object) -> bool:
    return isinstance(record, GroupRecord) and record.value is None


def _offsets(group: Group) -> set[tuple[str, int]]:
    return {(topic, p) for topic, partitions in group.offsets.items() for p in partitions}


def check_nothing_overdue(group: Group, now_ms: int) -> None:
    deadline_ms = coordinator.next_deadline(group, CONFIG)

    assert deadline_ms is None or deadline_ms > now_ms


def _through_json(record: Record) -> Record:
    entry = log_entry.encode("g", record)
    value = None if entry.value is None else msgspec.json.encode(entry.value).decode()
    return log_entry.decode(msgspec.json.encode(entry.key).decode(), value)


def check_log_rebuilds_state(live: Group, log: list[Record], now_ms: int) -> None:
    """The log through JSON gives the offsets, those that wait too, and the membership as of its last durable generation."""
    rebuilt = Group("g")
    replay(rebuilt, [_through_json(record) for record in log], now_ms)

    assert rebuilt.offsets == live.offsets
    assert rebuilt.pending == live.pending
    if live.membership is not None and live.membership.state is ClassicState.STABLE:
        assert rebuilt.membership is not None
        assert rebuilt.membership.generation == live.membership.generation
        assert rebuilt.membership.leader == live.membership.leader
        # A static member that came back with another subscription is in the log at once; the live group, like Kafka's,
        # takes notice in the next generation.
        told = subscription_of_members(live.membership)
        assert rebuilt.membership.subscribed_topics == told
        assert {m.member_id: m.assignment for m in rebuilt.membership.members.values()} == {
            m.member_id: m.assignment for m in live.membership.members.values()
        }
    if live.membership is None:
        assert rebuilt.membership is None
