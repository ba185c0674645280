"""Real consumers of a real broker: what they said is said again to ours, which answers and writes the same."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager

import pytest

from group_coordinator import settings
from group_coordinator.runtime.event_handling import fresh_id
from group_coordinator.runtime.replay_session import Replay
from tests.conformance.kafka.broker_records import lines_of, timeless
from tests.conformance.kafka.real_broker import RealBroker
from tests.conformance.language.lines import Json
from tests.conformance.language.outcome import differences, reduced
from tests.conformance.live.cluster import SETTINGS, LiveCluster, broker_behind_proxy
from tests.conformance.live.conversation import Conversation, now_ms
from tests.conformance.live.real_stories import STORIES
from tests.conformance.live.recording_proxy import RecordingProxy

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def broker_and_proxy(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[tuple[RealBroker, RecordingProxy]]:
    with broker_behind_proxy(tmp_path_factory.mktemp("broker")) as started:
        yield started


@pytest.mark.parametrize("name", STORIES)
def test_ours_tells_real_consumers_the_same(
    name: str, broker_and_proxy: tuple[RealBroker, RecordingProxy]
) -> None:
    broker, proxy = broker_and_proxy
    cluster = LiveCluster(broker, proxy, name)
    with conversation_shown(cluster), closing(cluster):
        STORIES[name](cluster)
    answers = cluster.conversation.answers()
    groups = {answer["groupId"] for answer in answers}
    records = lines_of(broker.messages(cluster.log_start), groups, {})
    ours = replayed(cluster.conversation)

    answered = {answer["correlationId"] for answer in answers}
    mine = [output for output in ours if output.get("correlationId", "") in {"", *answered}]
    found = differences(*(in_comparable_form(told) for told in ([*answers, *records], mine)))
    if found:
        pytest.fail("\n".join(found), pytrace=False)


@contextmanager
def conversation_shown(cluster: LiveCluster) -> Iterator[None]:
    """Where a test fails its output has what was said."""
    try:
        yield
    finally:
        sys.stdout.writelines(f"{line}\n" for line in printed(cluster.conversation))


def replayed(conversation: Conversation) -> list[Json]:
    """What ours makes of it, with the member ids that the broker made up."""
    made_ids = conversation.made_ids()
    overrides = [f"{key}={value}" for key, value in SETTINGS.items()]
    replay = Replay(
        settings.load(overrides=overrides).coordinator, lambda event: new_id(event, made_ids)
    )
    outputs = [replay.line(json.dumps(line)) for line in conversation.lines(now_ms())]
    return [output for line in outputs for output in line if output["kind"] != "done"]


def new_id(event_id: str, made_ids: Mapping[int, str]) -> str:
    """An event id ends in the number of its line."""
    return made_ids.get(int(event_id.rpartition("-")[2]), fresh_id(event_id))


def in_comparable_form(outputs: Sequence[Json]) -> list[Json]:
    return reduced([timeless(output) | {"at": 0} for output in outputs])


def printed(conversation: Conversation) -> Iterator[str]:
    """What was said, a line each, and what was answered."""
    answers = {answer["correlationId"]: answer["body"] for answer in conversation.answers()}
    for line in conversation.lines(0):
        yield json.dumps(line)
        correlation = line.get("event", {}).get("correlationId")
        if correlation in answers:
            yield f"    {json.dumps(answers[correlation])}"
