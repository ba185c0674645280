from __future__ import annotations

import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from group_coordinator.codecs import events
from group_coordinator.codecs.events import InvalidEventError
from tests.unit.codecs.sent_events import Json, commit, event

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10)
trees = st.recursive(
    plain,
    lambda children: (
        st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3)
    ),
    max_leaves=8,
)
sensible = [
    commit(),
    commit(version=10),
    event("JoinGroup", 9, groupId="g", protocols=[{"name": "range", "metadata": "AAE="}]),
    event("SyncGroup", 5, groupId="g", assignments=[{"memberId": "m", "assignment": "AAE="}]),
    event("LeaveGroup", 5, groupId="g", members=[{"memberId": "m"}]),
    event("OffsetFetch", 9, groups=[{"groupId": "g", "topics": None}], requireStable=True),
    event("OffsetDelete", 0, groupId="g", topics=[{"partitions": [{"partitionIndex": 1}]}]),
    event("TopicMetadata", 0, groupId="g", topics=[], deletedTopics=[]),
]


def complaint(value: bytes) -> str:
    try:
        events.decode(value)
    except InvalidEventError as fault:
        return fault.reason
    return ""


@given(st.binary(max_size=100))
@example(b'{"api":"Tick","version":0,"body":' + b"[" * 2_000 + b"]" * 2_000 + b"}")
@example(b'{"api":"Tick","version":0,"body":{"groupId":' + b"9" * 5_000 + b"}}")
@example(b'{"api":"Tick","version":1' + b"0" * 400 + b"}")
@example(b'{"api":"Tick","version":1e400}')
def test_arbitrary_bytes(value: bytes) -> None:
    assert len(complaint(value)) < 400


@given(trees)
def test_arbitrary_json(tree: object) -> None:
    assert len(complaint(json.dumps(tree).encode())) < 400


@given(st.sampled_from(sensible), trees, st.data())
def test_an_event_with_something_else_somewhere(
    value: Json, misfit: object, data: st.DataObject
) -> None:
    changed: Any = json.loads(json.dumps(value))
    node = changed
    while True:
        at = data.draw(
            st.sampled_from(range(len(node)) if isinstance(node, list) else sorted(node))
        )
        if not isinstance(node[at], list | dict) or not node[at] or data.draw(st.booleans()):
            break
        node = node[at]
    node[at] = misfit

    assert len(complaint(json.dumps(changed).encode())) < 400


@given(st.sampled_from(sensible), st.data())
def test_an_event_with_damaged_bytes(value: Json, data: st.DataObject) -> None:
    text = json.dumps(value).encode()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(len(text), start + 5)))

    assert len(complaint(text[:start] + data.draw(st.binary(max_size=3)) + text[end:])) < 400
