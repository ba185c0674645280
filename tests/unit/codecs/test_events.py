from __future__ import annotations

import pytest

from group_coordinator.codecs import events
from group_coordinator.codecs.events import Event
from group_coordinator.core.model.requests import OffsetCommit, PartitionCommit, Tick, TopicCommit


def test_the_example_of_the_interface() -> None:
    event = events.decode(
        b"""{"api": "OffsetCommit", "version": 8, "correlationId": "c-17", "clientId": "billing",
             "clientHost": "/10.0.0.7", "principal": "User:billing",
             "body": {"groupId": "g", "generationIdOrMemberEpoch": 3, "memberId": "billing-1",
                      "topics": [{"name": "orders", "partitions": [
                          {"partitionIndex": 0, "committedOffset": 42,
                           "committedLeaderEpoch": -1, "committedMetadata": null}]}]}}"""
    )

    commit = PartitionCommit(0, 42, None, None, None)
    topics = (TopicCommit("orders", None, (commit,)),)
    assert event == Event(
        version=8,
        correlation_id="c-17",
        client_id="billing",
        client_host="/10.0.0.7",
        principal="User:billing",
        request=OffsetCommit(
            group_id="g",
            generation=3,
            member_id="billing-1",
            group_instance_id=None,
            retention_time_ms=None,
            topics=topics,
        ),
    )


@pytest.mark.parametrize(
    "unsaid", ["", ', "correlationId": null, "clientId": null, "clientHost": null'], ids=len
)
def test_an_event_need_not_say_who_sent_it(unsaid: str) -> None:
    event = events.decode(f'{{"api": "Tick", "version": 0{unsaid}}}'.encode())

    assert event == Event(
        version=0,
        correlation_id=None,
        client_id="client",
        client_host="/127.0.0.1",
        principal=None,
        request=Tick(""),
    )


@pytest.mark.parametrize(("said", "read"), [("0", 0), ("2147483647", 2**31 - 1), ("null", None)])
def test_an_event_may_say_where_its_answer_is_read(said: str, read: int | None) -> None:
    event = events.decode(f'{{"api": "Tick", "version": 0, "replyPartition": {said}}}'.encode())

    assert event.reply_partition == read


def test_a_client_may_have_an_empty_name() -> None:
    event = events.decode(b'{"api": "Tick", "version": 0, "clientId": "", "clientHost": ""}')

    assert (event.client_id, event.client_host) == ("", "")
