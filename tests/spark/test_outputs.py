"""The plan behind the operator: a call's lines become responses, rows of the log and dead letters."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pyspark.sql import Row, SparkSession

from group_coordinator import settings
from group_coordinator.streaming.sinks import outputs

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


def responses(spark: SparkSession, *lines: str) -> list[Row]:
    chosen = settings.load(overrides=[f"response.max.bytes={MOST_BYTES}"])
    calls = spark.createDataFrame([("\n".join(lines),)], "lines string")
    return outputs(calls, chosen.job).where("kind = 'R'").collect()


def test_a_response_within_the_limit_goes_out_as_it_is(spark: SparkSession) -> None:
    shell = len(json.dumps(response("")))
    text = json.dumps(response("m" * (MOST_BYTES - shell)))
    assert len(text) == MOST_BYTES

    [row] = responses(spark, "R" + text)

    assert (row.key, row.value) == ("billing", text)


def test_a_response_may_name_its_partition_and_its_value_does_not(spark: SparkSession) -> None:
    text = json.dumps(response("x"))

    named, large, silent = responses(spark, "R17" + text, f"R{2**31 - 1}{text}", "R" + text)

    assert (named.partition, named.value, named.key) == (17, text, "billing")
    assert (large.partition, large.value) == (2**31 - 1, text)
    assert (silent.partition, silent.value) == (None, text)


def test_a_response_beyond_the_limit_becomes_an_error_of_the_same_request(
    spark: SparkSession,
) -> None:
    shell = len(json.dumps(response("")))
    too_large = "R" + json.dumps(response("m" * (MOST_BYTES - shell + 1)))

    small = json.dumps(response("small"))
    first, second = responses(spark, too_large, "R" + small)

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
