"""The lean exchange comes to the same as Spark's own: lines, states and timers, group by group."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from group_coordinator.codecs import snapshots
from group_coordinator.runtime.outputs import EVENT, HEADER, pack_seed
from group_coordinator.streaming.operator.known_pyspark import Exchange
from group_coordinator.streaming.small_batch import collected_small_batch
from group_coordinator.testing import GroupDriver
from tests.spark.played import CONTEXT, PACKED, Played, commit, request, write

pytestmark = pytest.mark.spark

ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
CONSUMER_APIS = ("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "IncrementalAlterConfigs")
MORE_THAN_A_BATCH_OF_ARROW = 12_000
SOME_BATCHES_OF_ARROW = 600
RESPONSE_MAX_BYTES = 223
"""As long as the answer to the commit, shorter than that to a fetch."""


def join(group: str, offset: int) -> dict[str, Any]:
    body = {
        "groupId": group,
        "sessionTimeoutMs": 1_800_000,
        "rebalanceTimeoutMs": 1_800_000,
        "memberId": "",
        "protocolType": "consumer",
        "protocols": [{"name": "range", "metadata": "AAAAAAAAAAAAAA=="}],
    }
    return request("JoinGroup", 3, offset, body)


def beat(group: str, member_id: str, epoch: int, offset: int, **more: Any) -> dict[str, Any]:
    body = {"groupId": group, "memberId": member_id, "memberEpoch": epoch}
    return request("ConsumerGroupHeartbeat", 1, offset, body | more)


def consumers_join(group: str) -> Iterator[tuple[str, object]]:
    """A group told of its topics, one member by names, one by a pattern that is resolved at once."""
    orders = {"name": "orders", "topicId": ORDERS_ID, "numPartitions": 4}
    told = {"groupId": group, "topics": [orders]}
    yield group, request("TopicMetadata", 0, 0, told) | {"correlationId": None}
    joining = {"rebalanceTimeoutMs": 60_000, "topicPartitions": []}
    yield group, beat(group, "m1", 0, 1, subscribedTopicNames=["orders"], **joining)
    yield group, beat(group, "m2", 0, 2, subscribedTopicRegex="o.*", **joining)


def consumers_go_on(group: str) -> Iterator[tuple[str, object]]:
    """The first member still has all that the coordinator knows of; one heartbeat is refused."""
    owned = [{"topicId": ORDERS_ID, "partitions": [0, 1, 2, 3]}]
    yield group, beat(group, "m1", 2, 1, topicPartitions=owned)
    yield group, beat(group, "m2", 9, 2)
    yield group, request("ConsumerGroupDescribe", 1, 3, {"groupIds": [group]})
    resource = {"resourceType": 32, "resourceName": group}
    setting = {"name": "consumer.heartbeat.interval.ms", "value": "6000"}
    altered = {"resources": [resource | {"configs": [setting]}]}
    yield group, request("IncrementalAlterConfigs", 1, 4, altered)


def first_batch() -> Iterator[tuple[str, object]]:
    """Many groups, one of them with more events than go into one batch of Arrow."""
    for number in range(300):
        yield f"group-{number}", commit(f"group-{number}", number)
    for offset in range(MORE_THAN_A_BATCH_OF_ARROW):
        yield "large", commit("large", offset)
    for number in range(20):
        yield f"members-{number}", join(f"members-{number}", number)
    for number in range(20):
        yield from consumers_join(f"consumers-{number}")
    yield "texts-\U0001f600-ü", commit("texts-\U0001f600-ü", 5)
    yield "bad", b"\xff no JSON"


def second_batch() -> Iterator[tuple[str, object]]:
    """Groups go, come, have much to do, answer without a change of state, and are not spoken to."""
    for number in range(100):
        group = f"group-{number}"
        yield group, request("DeleteGroups", 2, number, {"groupsNames": [group]})
    for number in range(100, 150):
        group = f"group-{number}"
        yield group, request("OffsetFetch", 7, number, {"groupId": group, "topics": None})
    for number in range(50):
        yield f"new-{number}", commit(f"new-{number}", number)
    for number in range(10):
        yield from consumers_go_on(f"consumers-{number}")
    for number in range(SOME_BATCHES_OF_ARROW):
        yield "group-299", commit("group-299", 7 * number)
    tick = request("Tick", 0, 0, {}) | {"correlationId": None}
    yield "group-200", tick


def test_both_ways_of_exchange_come_to_the_same(spark: SparkSession, tmp_path: Path) -> None:
    write(spark, tmp_path / "in", [list(first_batch()), list(second_batch())])

    stock = Played(spark, tmp_path / "in", tmp_path / "stock", "stock")
    lean = Played(spark, tmp_path / "in", tmp_path / "lean", "lean")

    assert lean.lines[0] == stock.lines[0]
    assert lean.lines[1] == stock.lines[1]
    assert lean.states == stock.states
    assert len(stock.lines[0]) > 2 * MORE_THAN_A_BATCH_OF_ARROW
    assert {"large", "members-7", "texts-\U0001f600-ü", "group-299"} <= stock.states.keys()
    assert not {"group-1", "bad"} & stock.states.keys()
    _consumer_groups_are_there(stock)
    large = snapshots.load("large", stock.states["large"][1])
    assert large.offsets["orders"][6].offset == 11_997
    kept = snapshots.load("group-299", stock.states["group-299"][1]).offsets["orders"]
    assert (kept[5].offset, kept[0].offset) == (299, 7 * (SOME_BATCHES_OF_ARROW - 1))
    _same_timers(spark, tmp_path)


class TakenAtOnce(Played):
    """The driver takes each batch at once, if it is not too much for it, and then as it takes a large one."""

    def __init__(self, *given: Any) -> None:
        self.at_once: list[list[bytes] | None] = []
        """The responses of each batch; None: they were too much."""
        super().__init__(*given)

    def _collect(self, batch: DataFrame, batch_id: int) -> None:
        taken = collected_small_batch(batch, RESPONSE_MAX_BYTES)
        self.at_once.append(None if taken is None else [each.lines for each in taken.responses])
        super()._collect(batch, batch_id)


@pytest.mark.parametrize("way", ["stock", "lean"])
def test_a_batch_that_is_too_much_for_the_driver_is_done_again_as_a_large_one(
    spark: SparkSession, tmp_path: Path, way: Exchange
) -> None:
    question = request("OffsetFetch", 7, 1, {"groupId": "shop", "topics": None})
    write(spark, tmp_path / "in", [[("shop", commit("shop", 5))], [("shop", question)]])

    played = TakenAtOnce(spark, tmp_path / "in", tmp_path / way, way)

    [committed], [fetched] = (
        [line for line in played.lines[batch] if line[0] == "R"] for batch in (0, 1)
    )
    assert len(committed) - 1 <= RESPONSE_MAX_BYTES < len(fetched) - 1
    assert '"committedOffset":5' in fetched
    assert played.at_once[:2] == [[committed[1:].encode()], None]


def _consumer_groups_are_there(played: Played) -> None:
    """Those that were spoken to twice, and those that were not."""
    for group in ("consumers-3", "consumers-13"):
        membership = snapshots.load(group, played.states[group][1]).consumer
        assert membership is not None
        assert set(membership.members) == {"m1", "m2"}
    answers = [line for line in played.lines[1] if '"groupId":"consumers-3"' in line]
    assert [api in "".join(answers) for api in CONSUMER_APIS] == [True] * len(CONSUMER_APIS)
    assert '"errorCode":110' in "".join(answers)


def _same_timers(spark: SparkSession, folder: Path) -> None:
    """The longest timers are counted from the batch, which was later in the second run: compare who has one."""

    def waiting(way: str) -> set[str]:
        rows = spark.read.format("statestore").load(str(folder / way)).collect()
        return {row.key.group_id for row in rows if row.value.timeoutTimestamp > 0}

    assert waiting("lean") == waiting("stock") != set()


@pytest.mark.parametrize("way", ["stock", "lean"])
def test_a_timer_fires_in_a_batch_without_events(
    spark: SparkSession, tmp_path: Path, way: Exchange
) -> None:
    # What is said to come from the future came now: the initial delay begins with the first batch.
    tomorrow_ms = time.time_ns() // 1_000_000 + 24 * 3_600_000
    write(spark, tmp_path / "in", [[("shop", join("shop", 1))]], tomorrow_ms)
    context = replace(CONTEXT, timers_suspended=False)

    played = Played(spark, tmp_path / "in", tmp_path / way, way, context)

    later = "".join(line for batch, lines in played.lines.items() if batch > 0 for line in lines)
    assert "JoinGroup" not in "".join(played.lines[0])
    assert '"correlationId":"c-1","api":"JoinGroup"' in later
    assert '"generationId":1' in later


@pytest.mark.parametrize("way", ["stock", "lean"])
def test_an_error_of_the_function_ends_the_query_with_its_text(
    spark: SparkSession, tmp_path: Path, way: Exchange
) -> None:
    shorter_than_a_header = spark.createDataFrame([("shop", bytearray(b"x"))], PACKED)
    shorter_than_a_header.write.parquet(str(tmp_path / "in"))

    with pytest.raises(StreamingQueryException, match="requires a buffer of at least 25 bytes"):
        Played(spark, tmp_path / "in", tmp_path / way, way)


@pytest.mark.parametrize("way", ["stock", "lean"])
def test_a_seed_comes_before_events_that_arrive_before_it(
    spark: SparkSession, tmp_path: Path, way: Exchange
) -> None:
    """The event begins partition 0 and has the time 0: nothing but its kind is behind the seed's."""
    before = GroupDriver("shop")
    before.commit({"orders": {0: 7}})
    question = json.dumps(
        request("OffsetFetch", 7, 1, {"groupId": "shop", "topics": None})
    ).encode()
    rows = [
        ("shop", bytearray(HEADER.pack(0, 0, 0, EVENT, len(question)) + question)),
        ("shop", bytearray(pack_seed(snapshots.dump(before.group)))),
    ]
    frame = spark.createDataFrame(rows, PACKED)
    frame.coalesce(1).write.parquet(str(tmp_path / "in"))

    played = Played(spark, tmp_path / "in", tmp_path / way, way)

    (answer,) = played.lines[0]
    assert '"committedOffset":7' in answer
    assert snapshots.load("shop", played.states["shop"][1]).offsets == before.group.offsets
