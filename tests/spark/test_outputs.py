"""What goes to the responses topic of the rows that the operator gives."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from group_coordinator.streaming.batch_writer import responses_of
from group_coordinator.streaming.operator.output_rows import OUTPUT

pytestmark = pytest.mark.spark

MOST_BYTES = 2_000


def response(metadata: str) -> dict[str, Any]:
    return {
        "id": "group-events-3-1742",
        "correlationId": "c-17",
        "api": "OffsetFetch",
        "version": 7,
        "groupId": "billing",
        "at": 1_700_000_000_000,
        "body": {"errorCode": 0, "topics": [{"name": "orders", "metadata": metadata}]},
    }


def responses(
    spark: SparkSession, *contents: str, partition: int | None = None, partitions: int = 0
) -> list[Row]:
    content = "\n".join(contents).encode()
    row = ("R", "billing", partition, bytearray(content), len(contents))
    batch = spark.createDataFrame([row], OUTPUT)
    return responses_of(batch, MOST_BYTES, partitions).collect()


def test_a_response_within_the_limit_goes_out_as_it_is(spark: SparkSession) -> None:
    shell = len(json.dumps(response("")))
    text = json.dumps(response("m" * (MOST_BYTES - shell)))
    assert len(text) == MOST_BYTES

    [row] = responses(spark, text)

    assert (row.key, row.value) == ("billing", text)


@pytest.mark.parametrize(("named", "goes_to"), [(None, None), (0, 0), (16, 16), (17, None)])
def test_a_response_goes_to_the_partition_that_its_client_reads_if_there_is_one(
    spark: SparkSession, named: int | None, goes_to: int | None
) -> None:
    text = json.dumps(response("x"))

    first, second = responses(spark, text, "{}", partition=named, partitions=17)

    assert (first.partition, first.value, first.key) == (goes_to, text, "billing")
    assert (second.partition, second.value, second.key) == (goes_to, "{}", "billing")


def test_a_response_beyond_the_limit_becomes_an_error_of_the_same_request(
    spark: SparkSession,
) -> None:
    shell = len(json.dumps(response("")))
    too_large = json.dumps(response("m" * (MOST_BYTES - shell + 1)))

    small = json.dumps(response("small"))
    first, second = responses(spark, too_large, small)

    assert first.key == "billing"
    assert json.loads(first.value) == {
        "id": "group-events-3-1742",
        "correlationId": "c-17",
        "api": "OffsetFetch",
        "version": 7,
        "groupId": "billing",
        "at": 1_700_000_000_000,
        "body": {
            "errorCode": 10,
            "errorMessage": "the response has 2001 bytes: more than response.max.bytes = 2000",
        },
    }
    assert second.value == small
