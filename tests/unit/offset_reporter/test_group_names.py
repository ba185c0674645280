from __future__ import annotations

from collections.abc import Mapping

import pytest
from kafka import TopicPartition
from pyspark.sql.streaming.listener import SourceProgress, StreamingQueryProgress

from group_coordinator.offset_reporter.outbox import Choice, GroupNames, Offsets
from tests.unit.offset_reporter.progress import ORDERS, QUERY, offsets, progress, source

REFUNDS = source('{"refunds":{"0":1}}', "KafkaV2[Subscribe[refunds]]")
BOTH = source('{"orders":{"0":4,"1":9},"refunds":{"0":3}}', "KafkaV2[Subscribe[orders, refunds]]")


def by_group(
    chosen: Mapping[str, Choice], *sources: SourceProgress, name: str | None = "billing"
) -> dict[str, Offsets]:
    return GroupNames(chosen).offsets(progress(*sources, name=name))


def test_a_group_has_the_name_of_its_query() -> None:
    assert by_group({}, source(ORDERS)) == {"spark-billing": offsets("orders", 5, 7)}
    assert by_group({"other": "g"}, source(ORDERS)) == {"spark-billing": offsets("orders", 5, 7)}


def test_a_query_without_a_name_has_an_id_that_its_checkpoint_keeps() -> None:
    assert by_group({}, source(ORDERS), name=None) == {f"spark-{QUERY}": offsets("orders", 5, 7)}
    assert [*by_group({str(QUERY): "g"}, source(ORDERS), name=None)] == ["g"]


def test_who_wants_it_chooses_the_group_or_none() -> None:
    assert by_group({"billing": "g"}, source(ORDERS), REFUNDS) == {
        "g": {**offsets("orders", 5, 7), TopicPartition("refunds", 0): 1}
    }
    assert by_group({"billing": None}, source(ORDERS)) == {}


def test_sources_may_have_groups_of_their_own() -> None:
    chosen = {"billing": {"orders,refunds": "both", "orders": "one"}}

    assert by_group(chosen, source(ORDERS), REFUNDS, BOTH) == {
        "one": offsets("orders", 5, 7),
        "both": {**offsets("orders", 4, 9), TopicPartition("refunds", 0): 3},
    }


ASSIGNED = source(ORDERS, "KafkaV2[Assign[orders-0, orders-1]]")


@pytest.mark.parametrize(
    ("option", "described"),
    [
        ('{"orders":[0,1]}', ASSIGNED),
        (' {"orders": [1, 0]} ', ASSIGNED),
        ("orders-1, orders-0", ASSIGNED),
        ("orders,refunds,", source(ORDERS, "KafkaV2[Subscribe[orders, refunds]]")),
        (" refunds ,, orders", source(ORDERS, "KafkaV2[Subscribe[orders, refunds]]")),
        ("orders,orders", source(ORDERS, "KafkaV2[Subscribe[orders, orders]]")),
        (" ord ers|a,b ", source(ORDERS, "KafkaV2[SubscribePattern[ord ers|a,b]]")),
        ("ord\n.*", source(ORDERS, "KafkaV2[SubscribePattern[ord\n.*]]")),
    ],
)
def test_a_source_is_named_by_the_meaning_of_its_option(
    option: str, described: SourceProgress, caplog: pytest.LogCaptureFixture
) -> None:
    assert by_group({"billing": {option: "g"}}, described) == {"g": offsets("orders", 5, 7)}
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("option", "described"),
    [
        ('{"orders":[0]}', ASSIGNED),
        ('{"orders":["0","1"]}', ASSIGNED),
        ('{"orders":[0,1]}', source(ORDERS, "KafkaV2[Subscribe[orders-0, orders-1]]")),
        ("refunds,orders", source(ORDERS, "KafkaV2[SubscribePattern[orders,refunds]]")),
    ],
)
def test_another_meaning_names_no_source(option: str, described: SourceProgress) -> None:
    assert by_group({"billing": {option: "g"}}, described) == {}


def test_a_source_that_a_query_lacks_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    names = GroupNames({"billing": {"orderz": "g", "refunds": "r"}, "other": {"orders": "o"}})
    nothing_read = source("null", "KafkaV2[Subscribe[refunds]]")

    for _ in range(2):
        assert names.offsets(progress(ASSIGNED, nothing_read)) == {}
    names.offsets(progress(source("12", "RateStreamV2[rowsPerSecond=1]"), name="other"))

    assert [message.partition(". In OffsetReporter")[0] for message in caplog.messages] == [
        "query 'billing' has no Kafka source 'orderz'; its Kafka sources: Assign[orders-0, orders-1], Subscribe[refunds]",
        "query 'other' has no Kafka source 'orders'; its Kafka sources: none",
    ]


def test_of_a_partition_that_two_sources_read_counts_what_both_are_done_with() -> None:
    assert by_group({"billing": "g"}, source(ORDERS), BOTH) == {
        "g": {**offsets("orders", 4, 7), TopicPartition("refunds", 0): 3}
    }


@pytest.mark.parametrize(
    "description",
    [
        "KafkaV2[Subscribe[orders]]",
        "KafkaSourceV1[Subscribe[orders]]",
        "KafkaV2[SubscribePattern[ord.*]]",
        "KafkaV2[SubscribePattern[[a-z]+]]",
        "KafkaV2[Assign[orders-0, orders-1]]",
    ],
)
def test_kafka_sources_of_all_kinds(description: str) -> None:
    assert by_group({}, source(ORDERS, description)) == {"spark-billing": offsets("orders", 5, 7)}


@pytest.mark.parametrize(
    ("end", "description"),
    [
        ("12", "RateStreamV2[rowsPerSecond=1]"),
        ('{"logOffset":3}', "FileStreamSource[file:/in]"),
        # The same shape, and no Kafka.
        (ORDERS, "org.apache.spark.sql.eventhubs.EventHubsSource@1"),
        # Kafka, and nothing was read yet.
        ("None", "KafkaV2[Subscribe[orders]]"),
        ("null", "KafkaV2[Subscribe[orders]]"),
        ("{}", "KafkaV2[Subscribe[orders]]"),
    ],
)
def test_what_has_no_kafka_offsets_is_left_out(end: str, description: str) -> None:
    assert by_group({}, source(end, description)) == {}


def test_spark_connect_shows_offsets_as_a_text_of_pythons() -> None:
    told = {
        "id": str(QUERY),
        "runId": str(QUERY),
        "name": "billing",
        "timestamp": "2026-01-01T00:00:00.000Z",
        "batchId": 3,
        "batchDuration": 20,
        "stateOperators": [],
        "sources": [
            {
                "description": "KafkaV2[Subscribe[orders]]",
                "startOffset": None,
                "endOffset": {"orders": {"0": 5, "1": 7}},
                "latestOffset": None,
                "numInputRows": 12,
                "inputRowsPerSecond": 1.0,
                "processedRowsPerSecond": 1.0,
            }
        ],
        "sink": {"description": "noop", "numOutputRows": 12},
    }

    assert GroupNames({}).offsets(StreamingQueryProgress.fromJson(told)) == {
        "spark-billing": offsets("orders", 5, 7)
    }
