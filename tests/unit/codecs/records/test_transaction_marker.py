"""Kafka's key and value of a control record; beside them what is ours."""

from __future__ import annotations

import pytest

from group_coordinator.core.model.records import Reason, TransactionMarker
from tests.unit.codecs.offsets_topic.cases import KNOWN
from tests.unit.codecs.records.logged_texts import LoggedTexts, logged


@pytest.mark.parametrize(
    ("reason", "kind"), [(Reason.TRANSACTION_ABORTED, 0), (Reason.TRANSACTION_COMMITTED, 1)]
)
def test_a_marker_says_how_the_transaction_ended(reason: Reason, kind: int) -> None:
    key = f'{{"type":-1,"data":{{"group":"g","version":0,"type":{kind}}}}}'
    value = '{"version":0,"data":{"coordinatorEpoch":0},"producerId":7,"offsets":[]}'

    assert logged("g", TransactionMarker(7, (), reason)) == LoggedTexts(-1, key, value)


def test_a_marker_has_the_offsets_that_count_from_now_on() -> None:
    marker = TransactionMarker(7, (("orders", 2, KNOWN),), Reason.TRANSACTION_COMMITTED)

    assert logged("g", marker).value == (
        '{"version":0,"data":{"coordinatorEpoch":0},"producerId":7,"offsets":[{"topic":"orders","partition":2,'
        '"offset":42,"leaderEpoch":3,"metadata":"note","commitTimestamp":1000,"topicId":"4ksO1bcLSgCStYJnTlCVLg"}]}'
    )


def test_a_marker_says_where_the_brokers_wrote_it() -> None:
    marker = TransactionMarker(7, (), Reason.TRANSACTION_ABORTED, 4_711, 4_700, 3)

    assert logged("g", marker).value == (
        '{"version":0,"data":{"coordinatorEpoch":0},"producerId":7,"offsets":[],"markerOffset":4711,'
        '"sinceOffset":4700,"producerEpoch":3}'
    )
