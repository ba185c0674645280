"""Groups say for whose markers they wait."""

from __future__ import annotations

from dataclasses import replace

from group_coordinator.runtime.update_group import GroupUpdate
from tests.unit.runtime.group_updates import COMMIT, CONTEXT, DELETE, Json, call, lines, row

FOLLOWED = replace(CONTEXT, follows_markers=True)


def commit(since: int | None, producer: int = 17) -> Json:
    topics = [{"name": "orders", "partitions": [{"partitionIndex": 0, "committedOffset": 1}]}]
    body = {"groupId": "g", "producerId": producer, "markersEndOffset": since, "topics": topics}
    return {"api": "TxnOffsetCommit", "version": 3, "body": body}


def marker(at: int) -> Json:
    body = {"groupId": "g", "producerId": 17, "committed": True, "markerOffset": at}
    return {"api": "EndTxn", "version": 0, "body": body}


def awaited(update: GroupUpdate) -> list[dict[str, int]]:
    return [line["since"] for tag, line in lines(update) if tag == "M"]


def take(*events: Json, before: GroupUpdate | None = None) -> GroupUpdate:
    rows = [row(event, 1_000, offset) for offset, event in enumerate(events)]
    state = None if before is None else before.state
    return call(*rows, at_ms=1_000, state=state, context=FOLLOWED)


def test_a_group_says_it_in_every_call_while_it_waits_and_once_more() -> None:
    waits = take(commit(7), commit(9, producer=18))
    assert awaited(waits) == [{"17": 7, "18": 9}]
    next_one = take(commit(9), before=waits)
    assert awaited(next_one) == [{"17": 7, "18": 9}]
    told = take(marker(8), before=next_one)
    assert awaited(told) == [{"17": 9, "18": 9}]
    deleted = take(DELETE, before=told)
    assert awaited(deleted) == [{}]
    assert awaited(take(COMMIT, before=deleted)) == []


def test_what_comes_and_goes_in_one_call_needs_nobody() -> None:
    assert awaited(take(commit(7), marker(8))) == []


def test_a_commit_that_does_not_say_where_markers_are_waits_for_whoever_tells_of_its_end() -> None:
    assert awaited(take(commit(None))) == []


def test_nobody_says_it_where_nobody_follows() -> None:
    assert awaited(call(row(commit(7), 1_000), at_ms=1_000)) == []
