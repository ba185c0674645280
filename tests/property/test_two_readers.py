"""Two readers of a consumer group's events, with other batches and other times of timers: within the slack their outputs are equal."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.codecs import snapshots
from group_coordinator.core.model.consumer_group import ConsumerGroup
from tests.property.consumer_lives import DELAYS_MS, IDS, INSTANCES, MEMBERS, NAMES, PATTERNS
from tests.property.lives import CLIENTS, CONTEXT, SLACK_MS, Body, Request, Script
from tests.support.group_updates import lines_without_places, updated

_LAST_MS = 200_000
"""Behind every deadline of a session."""


def _group(script: Script) -> ConsumerGroup | None:
    return snapshots.load("g", script.state).consumer if script.state else None


def _topics(draw: st.DrawFn) -> list[Body]:
    sizes = draw(st.dictionaries(st.sampled_from(list(IDS)), st.integers(1, 3), min_size=1))
    return [{"name": n, "topicId": IDS[n], "numPartitions": s} for n, s in sizes.items()]


def _join(draw: st.DrawFn, script: Script) -> Request:  # noqa: ARG001
    member_id = draw(MEMBERS)
    body: Body = {
        "memberId": member_id,
        "memberEpoch": 0,
        "instanceId": INSTANCES[member_id],
        "rebalanceTimeoutMs": 5_000,
        "subscribedTopicNames": draw(NAMES),
        "subscribedTopicRegex": draw(st.none() | PATTERNS),
        "topicPartitions": [],
        "knownTopics": draw(st.just([]) | st.just(_topics(draw))),
    }
    return "ConsumerGroupHeartbeat", 1, body


def _heartbeat(draw: st.DrawFn, script: Script) -> Request:
    """Mostly with the member's own epoch; the partitions are those that it was assigned, or none."""
    group, member_id = _group(script), draw(MEMBERS)
    member = group.members.get(member_id) if group else None
    if member is None:
        return "ConsumerGroupHeartbeat", 1, {"memberId": member_id, "memberEpoch": 1}
    owned = [{"topicId": t, "partitions": [*p]} for t, p in member.current.assigned.items()]
    body = {"memberId": member_id, "memberEpoch": draw(st.sampled_from([member.epoch] * 3 + [1]))}
    return "ConsumerGroupHeartbeat", 1, body | {"topicPartitions": draw(st.none() | st.just(owned))}


def _leave(draw: st.DrawFn, script: Script) -> Request:  # noqa: ARG001
    member_id = draw(MEMBERS)
    body = {"memberId": member_id, "memberEpoch": draw(st.sampled_from([-1, -2]))}
    return "ConsumerGroupHeartbeat", 1, body | {"instanceId": INSTANCES[member_id]}


def _metadata(draw: st.DrawFn, script: Script) -> Request:  # noqa: ARG001
    return "TopicMetadata", 0, {"topics": _topics(draw), "complete": draw(st.booleans())}


@st.composite
def consumer_scripts(draw: st.DrawFn) -> Script:
    script = Script()
    for _ in range(draw(st.integers(1, 15))):
        of_kind = draw(st.sampled_from([_join, _heartbeat, _heartbeat, _leave, _metadata]))
        script.add(draw(DELAYS_MS), *of_kind(draw, script), client=draw(CLIENTS))
    return script


@st.composite
def readings(draw: st.DrawFn, script: Script) -> list[str]:
    """The outputs of calls that each see all events up to the slack before their own time."""
    count = len(script.rows)
    edges = [0, *sorted(draw(st.lists(st.integers(0, count), max_size=6))), count]
    times_ms = [row.timestamp_ms for row in script.rows] + [script.now_ms + _LAST_MS]
    state, lines = None, []
    for start, stop in pairwise(edges):
        earliest_ms = times_ms[max(stop - 1, 0)]
        at_ms = draw(st.integers(earliest_ms, times_ms[stop] + SLACK_MS))
        update = updated("g", state, script.rows[start:stop], at_ms, CONTEXT)
        state = update.state
        lines += lines_without_places(update)
    last = updated("g", state, [], times_ms[-1] + SLACK_MS, CONTEXT)
    return lines + lines_without_places(last)


@given(script=consumer_scripts(), data=st.data())
def test_readers_that_keep_the_slack_give_the_same_outputs(
    script: Script, data: st.DataObject
) -> None:
    one, other = (data.draw(readings(script)) for _ in range(2))

    assert one == other
