"""The coordinator's own topics at a gateway. Here "orders" is one of them, and "parcels" is a client's."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping
from time import process_time
from typing import Any

import pytest

from group_coordinator.codecs import wire
from group_coordinator.gateway.api_versions import APIS, ClientRequest
from group_coordinator.gateway.connections.produce_request import ProducedTopics, read_beginning
from group_coordinator.gateway.frames import FrameError
from group_coordinator.gateway.rights.own_topics import Closed, OwnTopics
from tests.unit.gateway.scripted_broker import ORDERS_ID
from tests.unit.gateway.stage import Client, Stage, in_loop, on_stage, staged
from tests.unit.gateway.test_logins import LOGIN, log_in

ORDERS = Closed(frozenset({"orders"}))
DENIED = 29
PARCELS_ID = "AAAAAAAAAAAAAAAAAAAAAQ"
ONE, OF_ONE = [{"partition": 0}], [{"partitionIndex": 0}]
HUNG_UP_ON = (
    ("Fetch", 12, {"topics": [{"topic": "orders", "partitions": ONE}]}),
    ("Fetch", 15, {"topics": [{"topicId": ORDERS_ID, "partitions": ONE}]}),
    ("ListOffsets", 5, {"topics": [{"name": "orders", "partitions": OF_ONE}]}),
    ("ListOffsets", 10, {"topics": [{"name": "orders", "partitions": OF_ONE}]}),
    ("OffsetForLeaderEpoch", 4, {"topics": [{"topic": "orders", "partitions": ONE}]}),
    ("DeleteRecords", 2, {"topics": [{"name": "orders", "partitions": OF_ONE}]}),
    ("AddPartitionsToTxn", 3, {"v3AndBelowTopics": [{"name": "orders", "partitions": [0]}]}),
    ("ElectLeaders", 2, {"topicPartitions": [{"topic": "orders", "partitions": [0]}]}),
    ("AlterPartitionReassignments", 0, {"topics": [{"name": "orders", "partitions": OF_ONE}]}),
    ("AlterReplicaLogDirs", 2, {"dirs": [{"path": "/", "topics": [{"name": "orders"}]}]}),
    ("DescribeProducers", 0, {"topics": [{"name": "orders", "partitionIndexes": [0]}]}),
)
TOPIC = 2
CONFIGS = {"resources": [{"resourceType": TOPIC, "resourceName": "orders"}]}
ANSWERED = (
    ("CreateTopics", 5, {"topics": [{"name": "orders"}]}, "topics"),
    ("CreatePartitions", 1, {"topics": [{"name": "orders", "count": 9}]}, "results"),
    ("DeleteTopics", 5, {"topicNames": ["orders"]}, "responses"),
    ("DeleteTopics", 6, {"topics": [{"name": "orders"}]}, "responses"),
    ("DeleteTopics", 6, {"topics": [{"topicId": ORDERS_ID}]}, "responses"),
    ("DescribeConfigs", 4, CONFIGS, "results"),
    ("AlterConfigs", 2, CONFIGS, "responses"),
    ("IncrementalAlterConfigs", 1, CONFIGS, "responses"),
)


def produce(*topics: tuple[str, bytes], acks: int = -1) -> dict[str, Any]:
    return {
        "acks": acks,
        "timeoutMs": 1_000,
        "topicData": [
            {
                "name": name,
                "partitionData": [{"index": 0, "records": b64encode(records).decode()}] * 2,
            }
            for name, records in topics
        ],
    }


def both_topics(stage: Stage) -> Mapping[str, Any]:
    parcels = {"name": "parcels", "topicId": PARCELS_ID, "partitions": [{"partitionIndex": 0}]}
    answer = stage.broker.metadata()
    return {**answer, "topics": [*answer["topics"], parcels]}


async def named_topics(client: Client, version: int, topics: Any) -> list[tuple[int, str, str]]:
    answer = await client.asks("Metadata", version, {"topics": topics})
    return [(one["errorCode"], one["name"], one.get("topicId")) for one in answer["topics"]]


@pytest.mark.parametrize(("api", "version", "body"), HUNG_UP_ON)
@on_stage(closed=ORDERS)
async def test_a_request_that_names_one_never_reaches_a_broker(
    stage: Stage, api: str, version: int, body: dict[str, Any]
) -> None:
    client = await stage.client()
    client.ask(api, version, body)

    assert await client.is_hung_up()
    assert stage.broker.is_idle()
    assert stage.gateway.counters.malformed == 1


@pytest.mark.parametrize(("api", "version", "body", "field"), ANSWERED)
@on_stage(closed=ORDERS)
async def test_administrators_hear_that_it_is_not_theirs(
    stage: Stage, api: str, version: int, body: dict[str, Any], field: str
) -> None:
    client = await stage.client()
    client.ask(api, version, body)
    _, answer = await client.answer(api, version)

    assert [one["errorCode"] for one in answer[field]] == [DENIED]
    assert stage.broker.is_idle()


@pytest.mark.parametrize("version", [3, 8, 9, 11])
@pytest.mark.parametrize("acks", [0, -1])
@pytest.mark.parametrize("size", [1, 5_000, 2_000_000])
@on_stage(closed=ORDERS)
async def test_nobody_produces_to_one_behind_the_records_of_another(
    stage: Stage, version: int, acks: int, size: int
) -> None:
    client = await stage.client()
    topics = ("parcels", bytes(size)), ("orders", b"a forged event")
    client.ask("Produce", version, produce(*topics, acks=acks))

    assert await client.is_hung_up()
    assert stage.broker.is_idle()


@pytest.mark.parametrize("version", [3, 11])
@pytest.mark.parametrize("padding", [0, 5_000, 2_000_000])
@on_stage(closed=ORDERS)
async def test_records_may_have_the_name_in_them(stage: Stage, version: int, padding: int) -> None:
    client = await stage.client()
    records = b"\0\6orders\7orders" + bytes(padding) + b"\0\6orders\7orders"
    body = produce(("orders-archive", records), ("parcels", records))
    client.ask("Produce", version, body)
    asked = await stage.broker.asked()

    assert asked.body["topicData"] == body["topicData"]


@on_stage(closed=ORDERS)
async def test_what_only_looks_like_one_passes(stage: Stage) -> None:
    client = await stage.client()
    client.writer.write(wire.request("Fetch", 12, 1, "orders", {"topics": []}))
    archive = {"topics": [{"topic": "orders-archive", "partitions": ONE}]}
    client.ask("Fetch", 12, archive)

    assert (await stage.broker.asked()).client_id == "orders"
    assert (await stage.broker.asked()).body["topics"][0]["topic"] == "orders-archive"


def test_a_long_request_is_searched_in_no_time_whatever_is_in_it() -> None:
    class Topics:
        def id_of(self, _name: str) -> str:
            return PARCELS_ID

    own = OwnTopics(Closed(frozenset({"group-events", "group-responses"})), Topics())  # type: ignore[arg-type]  # all that is asked
    fetch = APIS[wire.api_key("Fetch")]
    request = ClientRequest(fetch, 12, 1, bytearray(b"g" * 16 * 1024 * 1024))
    begun_s = process_time()

    assert own.named_in(request, "User:other") == frozenset()
    assert process_time() - begun_s < 0.25


@on_stage(closed=ORDERS)
async def test_a_length_of_more_bytes_than_it_needs_is_the_same_length(stage: Stage) -> None:
    """Java reads 0x87 0x00 as 7, too."""
    for api, version, body in (
        ("Fetch", 12, {"topics": [{"topic": "orders", "partitions": ONE}]}),
        ("Produce", 9, produce(("orders", b"a forged event"))),
    ):
        client = await stage.client()
        content = wire.request(api, version, 1, "c", body)[4:]
        longer = content.replace(b"\7orders", b"\x87\0orders")
        client.writer.write(len(longer).to_bytes(4) + longer)

        assert await client.is_hung_up()
    assert stage.broker.is_idle()


@on_stage(closed=ORDERS)
async def test_metadata_tells_of_them_only_that_they_are_denied(stage: Stage) -> None:
    stage.broker.answers["Metadata"] = lambda _asked: both_topics(stage)
    client = await stage.client()
    parcels = (0, "parcels", PARCELS_ID)

    assert await named_topics(client, 12, None) == [parcels]
    assert await named_topics(client, 0, []) == [(0, "parcels", None)]
    by_name = await named_topics(client, 12, [{"name": "orders"}, {"name": "parcels"}])
    assert by_name == [(DENIED, "orders", "A" * 22), parcels]
    by_id = await named_topics(client, 12, [{"topicId": ORDERS_ID, "name": None}])
    assert by_id == [(DENIED, None, ORDERS_ID), parcels]


@on_stage(closed=ORDERS)
async def test_descriptions_tell_of_them_only_that_they_are_denied(stage: Stage) -> None:
    topics = [{"name": name, "topicId": PARCELS_ID} for name in ("orders", "parcels")]
    stage.broker.answers["DescribeTopicPartitions"] = lambda _asked: {"topics": topics}
    client = await stage.client()
    found = []
    for asked in ([], [{"name": "orders"}]):
        answer = await client.asks("DescribeTopicPartitions", 0, {"topics": asked})
        found.append([(one["errorCode"], one["name"]) for one in answer["topics"]])

    assert found == [[(0, "parcels")], [(DENIED, "orders"), (0, "parcels")]]


@on_stage(closed=ORDERS)
async def test_descriptions_may_go_on_at_one(stage: Stage) -> None:
    described = {
        "topics": [{"name": "fruits", "topicId": PARCELS_ID}],
        "nextCursor": {"topicName": "orders", "partitionIndex": 0},
    }
    stage.broker.answers["DescribeTopicPartitions"] = lambda _asked: described
    client = await stage.client()
    answer = await client.asks("DescribeTopicPartitions", 0, {"topics": []})

    assert [one["name"] for one in answer["topics"]] == ["fruits"]
    assert answer["nextCursor"] == {"topicName": "orders", "partitionIndex": 0}


@in_loop
async def test_the_users_of_gateway_and_job_use_them() -> None:
    closed = ORDERS._replace(users=frozenset({"User:job"}))
    async with staged(login=LOGIN, closed=closed) as stage:
        job, other = await stage.client(), await stage.client()
        await log_in(job, b"job")
        await log_in(other, b"other")
        fetch = {"topics": [{"topic": "orders", "partitions": ONE}]}
        job.ask("Produce", 9, produce(("orders", b"an event")))
        job.ask("Fetch", 12, fetch)
        other.ask("Fetch", 12, fetch)

        assert [(await stage.broker.asked()).api for _ in range(2)] == ["Produce", "Fetch"]
        assert await other.is_hung_up()
        assert await named_topics(await at_job(stage), 12, None) == [(0, "orders", ORDERS_ID)]


async def at_job(stage: Stage) -> Client:
    client = await stage.client()
    await log_in(client, b"job")
    return client


@pytest.mark.parametrize("version", [3, 9])
@pytest.mark.parametrize("step", [1, 2, 3, 7, 64])
def test_names_are_found_wherever_the_bytes_are_cut(version: int, step: int) -> None:
    frame = with_tags(version)
    whole = memoryview(frame)
    beginning = read_beginning(version, whole)
    assert beginning is not None
    for closed, is_found in ((b"first", True), (b"last", True), (b"between", False)):
        topics = ProducedTopics(version, beginning.topics_at, {closed})
        # The first piece has all that the beginning was read of.
        head = whole[: beginning.topics_at]
        pieces = [head, *(whole[at : at + step] for at in range(len(head), len(whole), step))]

        def follow(topics: ProducedTopics = topics, pieces: list[memoryview] = pieces) -> None:
            for piece in pieces:
                topics.follow(piece)

        if is_found:
            with pytest.raises(FrameError, match=closed.decode()):
                follow()
        else:
            follow()


def with_tags(version: int) -> bytes:
    """Three topics, with fields that nobody knows where a version has such."""
    frame = wire.request(
        "Produce",
        version,
        1,
        "c",
        produce(("first", b"\4last"), ("middle", bytes(300)), ("last", b"between")),
    )
    if version < 9:
        return frame
    # An unknown field of two bytes in place of none, in the first partition.
    return frame.replace(b"\4last\0", b"\4last\1\6\2xx", 1)


def test_a_name_without_end_is_refused() -> None:
    topics = ProducedTopics(9, 0, {b"orders"})
    with pytest.raises(FrameError, match="a name of 268435454 bytes"):
        topics.follow(memoryview(b"\2\xff\xff\xff\x7f"))
