"""The lean exchange comes to the same as Spark's own: lines, states and timers, group by group."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.state import GroupState

from group_coordinator import settings
from group_coordinator.codecs import snapshots
from group_coordinator.runtime.packing import EVENT, HEADER, pack_seed
from group_coordinator.runtime.update_group import UpdateContext
from group_coordinator.streaming.operator import lean_exchange
from group_coordinator.streaming.operator.lean_exchange import Exchange, chosen_exchange
from group_coordinator.streaming.operator.stateful import coordinate
from group_coordinator.testing import GroupDriver
from tests.support.group_updates import update_context

pytestmark = pytest.mark.spark

PACKED = "group_id STRING, event BINARY"
ORDERS_ID = "4ksO1bcLSgCStYJnTlCVLg"
START_MS = 1_767_225_600_000
# Timers that fire by the wall clock would find the two runs at different places.
CONTEXT = update_context(timer_slack_ms=0, timers_hold=True)
CONSUMER_APIS = ("ConsumerGroupHeartbeat", "ConsumerGroupDescribe", "IncrementalAlterConfigs")
MORE_THAN_A_BATCH_OF_ARROW = 12_000


def request(api: str, version: int, offset: int, body: dict[str, Any]) -> dict[str, Any]:
    return {"api": api, "version": version, "correlationId": f"c-{offset}", "body": body}


def commit(group: str, offset: int) -> dict[str, Any]:
    partition = {"partitionIndex": offset % 7, "committedOffset": offset}
    body = {"groupId": group, "topics": [{"name": "orders", "partitions": [partition]}]}
    return request("OffsetCommit", 8, offset, body)


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
    """Groups go, come, answer without a change of state, and are not spoken to."""
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
    tick = request("Tick", 0, 0, {}) | {"correlationId": None}
    yield "group-200", tick


def write(
    spark: SparkSession,
    folder: Path,
    batches: list[list[tuple[str, object]]],
    start_ms: int = START_MS,
) -> None:
    offset = 0
    for events in batches:
        rows = []
        for group, content in events:
            value = content if isinstance(content, bytes) else json.dumps(content).encode()
            rows.append(
                (
                    group,
                    bytearray(HEADER.pack(0, offset, start_ms + offset, EVENT, len(value)) + value),
                )
            )
            offset += 1
        frame = spark.createDataFrame(rows, PACKED)
        frame.coalesce(1).write.mode("append").parquet(str(folder))


class Played:
    """One run over the events: what came out, and what it left in the state store."""

    def __init__(
        self,
        spark: SparkSession,
        events: Path,
        folder: Path,
        way: Exchange,
        context: UpdateContext = CONTEXT,
    ) -> None:
        self.lines: dict[int, list[str]] = {}
        records = (
            spark.readStream.schema(PACKED).option("maxFilesPerTrigger", 1).parquet(str(events))
        )
        query = (
            coordinate(records, context, way)
            .writeStream.foreachBatch(self._collect)
            .option("checkpointLocation", str(folder))
            .trigger(processingTime="100 milliseconds")
            .start()
        )
        while len(self.lines) < 3 or not self.is_over(context):
            assert not query.awaitTermination(1), "the query ended"
        query.stop()
        self.states = self._states_of(spark, folder)

    def is_over(self, context: UpdateContext) -> bool:
        """Timers that do not hold have to be seen: a later batch than the first has output."""
        return context.timers_hold or any(any(self.lines[b]) for b in self.lines if b > 0)

    def _collect(self, batch: DataFrame, batch_id: int) -> None:
        texts = [row.lines for row in batch.collect()]
        self.lines[batch_id] = sorted(line for text in texts for line in text.split("\n"))

    def _states_of(self, spark: SparkSession, folder: Path) -> dict[str, tuple[int, bytes]]:
        rows = spark.read.format("statestore").load(str(folder)).collect()
        return {
            row.key.group_id: (row.value.groupState.version, bytes(row.value.groupState.snapshot))
            for row in rows
        }


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
    _same_timers(spark, tmp_path)


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
    context = replace(CONTEXT, timers_hold=False)

    played = Played(spark, tmp_path / "in", tmp_path / way, way, context)

    later = "".join(line for batch, lines in played.lines.items() if batch > 0 for line in lines)
    assert "JoinGroup" not in "".join(played.lines[0])
    assert '"correlationId":"c-1","api":"JoinGroup"' in later
    assert '"generationId":1' in later


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


def test_a_stock_function_in_the_same_workers_keeps_the_stock_way(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark, tmp_path / "in", [[("a", commit("a", 1))], [("a", commit("a", 2))]])
    Played(spark, tmp_path / "in", tmp_path / "lean", "lean")
    events = spark.readStream.schema(PACKED).parquet(str(tmp_path / "in"))
    seen: list[str] = []

    query = (
        events.groupBy("group_id")
        .applyInPandasWithState(_count, "text string", "count int", "append", "NoTimeout")
        .writeStream.foreachBatch(lambda batch, _: seen.extend(r.text for r in batch.collect()))
        .option("checkpointLocation", str(tmp_path / "count"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination(120)

    assert seen == ["a has 2"]


def _count(key: tuple[str], frames: Any, state: GroupState) -> Any:
    import pandas as pd  # noqa: PLC0415 - this function is pickled by value and runs in a worker

    count = sum(len(frame) for frame in frames)
    state.update((count,))
    yield pd.DataFrame({"text": [f"{key[0]} has {count}"]})


@pytest.mark.parametrize(
    ("setting", "version", "expected"),
    [
        ("auto", "4.0.4", "lean"),
        ("auto", "4.0.5", "stock"),
        ("stock", "4.0.4", "stock"),
        ("lean", "4.0.5", "lean"),
    ],
)
def test_auto_is_lean_where_the_version_is_known(
    setting: str, version: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lean_exchange.pyspark, "__version__", version)

    assert chosen_exchange(settings.load(overrides=[f"exchange={setting}"]).job) == expected


def test_a_lean_operator_is_called_in_a_worker_only() -> None:
    operator: Callable[..., Any] = lean_exchange.LeanOperator(print, CONTEXT)

    with pytest.raises(NotImplementedError, match="worker"):
        operator()
