"""Record how offsets and groups end on a real broker with real clients: makes tests/data/endings.jsonl anew.

It takes two minutes: the shortest retention that Kafka knows is a minute.

python -m tests.conformance.endings.record
"""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from confluent_kafka import Consumer, Producer, TopicPartition

from group_coordinator.local.broker import LOOPBACK
from tests.broker.clients.java_clients import (
    COUNTED_WORDS,
    WORDS,
    console_share_consumer,
    repartitioned,
    word_count,
)
from tests.conformance.kafka.producers import Producers
from tests.conformance.kafka.real_broker import OFFSETS_TOPIC, RealBroker, real_broker
from tests.conformance.language.lines import Json, described_topic
from tests.conformance.live.real_consumer import RealConsumer
from tests.support.endings import RECORDED, RETENTION_MS
from tests.support.until import until

_SETTINGS: Final = {
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.min.heartbeat.interval.ms": "100",
    "group.consumer.heartbeat.interval.ms": "200",
    "offsets.retention.minutes": "1",
    "offsets.retention.check.interval.ms": "1000",
}
_TOPICS: Final = ("orders:2", "refunds:2", "returns:1", f"{WORDS}:2", f"{COUNTED_WORDS}:1")
_TIMEOUT_S: Final = 30.0
_SWEPT_S: Final = 1.5
_CLASSIC: Final[dict[str, Any]] = {"group_protocol": "classic", "heartbeat_interval_ms": 200}


class Cluster:
    """A broker, real members, and an administrator."""

    def __init__(self, broker: RealBroker, resources: ExitStack) -> None:
        self.broker = broker
        self.servers = f"{LOOPBACK}:{broker.address[1]}"
        self._resources = resources
        self._members: list[RealConsumer] = []

    def have_topics(self, *specs: str) -> None:
        """Let there be these topics and no others; "again#2:1" is another one named again."""
        self.broker.have_topics([described_topic(spec) for spec in specs])

    def join(self, group: str, *topics: str, **config: Any) -> RealConsumer:
        """A member that has its partitions."""
        member = RealConsumer(self.servers, group, f"{group}-client", **config)
        self._resources.callback(member.close)
        self._members.append(member)
        member.subscribe(*topics)
        self.until(lambda: bool(member.partitions))
        return member

    def visit(self, group: str, *offsets: str, **config: Any) -> None:
        """Join, commit and leave."""
        member = self.join(group, "orders", **config)
        if offsets:
            assert member.commit(*offsets) == 0
        member.close()

    def commit(self, group: str, *offsets: str, **more: Any) -> None:
        """As an administrator: no member, no generation."""
        topics = []
        for offset in offsets:
            topic, partition, number = _parsed(offset)
            topics.append((topic, {"partitionIndex": partition, "committedOffset": number}))
        version = 3 if more else 8
        body = {
            "groupId": group,
            "memberId": "",
            "generationIdOrMemberEpoch": -1,
            "topics": [{"name": topic, "partitions": [entry]} for topic, entry in topics],
        }
        answer = self.broker.ask("OffsetCommit", version, body | more)
        assert not any(p["errorCode"] for t in answer["topics"] for p in t["partitions"]), answer

    def delete_group(self, group: str) -> None:
        def is_deleted() -> bool:
            answer = self.broker.ask("DeleteGroups", 2, {"groupsNames": [group]})
            return answer["results"][0]["errorCode"] == 0

        self.until(is_deleted)

    def delete_offsets(self, group: str, topic: str, *partitions: int) -> None:
        entries = [{"partitionIndex": partition} for partition in partitions]
        body = {"groupId": group, "topics": [{"name": topic, "partitions": entries}]}
        answer = self.broker.ask("OffsetDelete", 0, body)
        [result] = answer["topics"]
        assert answer["errorCode"] == 0, answer
        assert not any(entry["errorCode"] for entry in result["partitions"]), answer

    def listed(self) -> dict[str, Json]:
        """What it lists of each of its groups."""
        body: Json = {"statesFilter": [], "typesFilter": []}
        groups = self.broker.ask("ListGroups", 5, body)["groups"]
        return {group["groupId"]: group for group in groups}

    def offsets(self, group: str) -> dict[str, dict[str, int]]:
        """By topic and partition."""
        body = {"groups": [{"groupId": group, "topics": None}], "requireStable": False}
        [answer] = self.broker.ask("OffsetFetch", 8, body)["groups"]
        return {
            topic["name"]: {
                str(each["partitionIndex"]): each["committedOffset"] for each in topic["partitions"]
            }
            for topic in answer["topics"]
        }

    def until(self, condition: Any) -> None:
        """Let everybody poll until it is so."""
        until(
            condition,
            seconds=_TIMEOUT_S,
            awaited="the group",
            pause=self.poll_and_sleep,
            poll_s=0.02,
        )

    def wait(self, seconds: float) -> None:
        """Let everybody poll for a while."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.poll_and_sleep(0.02)

    def poll_and_sleep(self, seconds: float) -> None:
        for member in self._members:
            if member.is_open:
                member.poll()
        time.sleep(seconds)


def _parsed(offset: str) -> tuple[str, int, int]:
    partition, _, number = offset.partition("=")
    topic, _, index = partition.rpartition("-")
    return topic, int(index), int(number)


def _begin_to_age(cluster: Cluster) -> None:
    """What expires a minute later."""
    cluster.commit("simple expires", "orders-0=1", "orders-1=2")
    cluster.visit("classic expires", "orders-0=3", "orders-1=4", **_CLASSIC)
    cluster.visit("consumer expires", "orders-0=5")
    cluster.commit("unsubscribed expires", "refunds-0=6")
    live = cluster.join("unsubscribed expires", "orders", **_CLASSIC)
    assert live.commit("orders-0=7") == 0
    cluster.commit("explicit expires", "orders-0=8", retentionTimeMs=2_000)
    cluster.visit("nothing expires", **_CLASSIC)


def _delete(cluster: Cluster) -> None:
    """Groups and offsets, by administrators."""
    cluster.commit("simple deleted", "orders-0=10")
    cluster.delete_group("simple deleted")
    cluster.commit("simple deleted", "orders-0=11")
    cluster.visit("classic deleted", "orders-0=12", "orders-1=13", **_CLASSIC)
    cluster.delete_group("classic deleted")
    cluster.visit("consumer deleted", "orders-0=14")
    cluster.delete_group("consumer deleted")
    cluster.commit("part deleted", "refunds-0=20", "refunds-1=21", "orders-0=22")
    cluster.delete_offsets("part deleted", "refunds", 1)
    cluster.delete_offsets("part deleted", "refunds", 0)
    cluster.commit("live deleted", "refunds-0=23", "refunds-1=24")
    cluster.join("live deleted", "orders")
    cluster.delete_offsets("live deleted", "refunds", 0, 1)


def _delete_topics(cluster: Cluster) -> None:
    """One that members read, and one that comes back as another."""
    cluster.commit("topic gone", "gone-0=30", "gone-1=31", "orders-0=32")
    reader = cluster.join("reader of gone", "gone", **_CLASSIC)
    assert reader.commit("gone-0=33", "gone-1=34") == 0
    cluster.commit("topic again", "again-0=35")
    cluster.have_topics(*_TOPICS)
    cluster.have_topics(*_TOPICS, "again#2:1")
    reader.close()


def _change_protocols(cluster: Cluster) -> None:
    """Upgrade and downgrade online, and groups without members that become others."""
    config = _CLASSIC | {"partition_assignment_strategy": "range"}
    classic = cluster.join("converted online", "orders", **config)
    assert classic.commit("orders-0=40") == 0
    consumer = cluster.join("converted online", "orders")
    cluster.until(lambda: len(classic.partitions) == len(consumer.partitions) == 1)
    consumer.close()
    cluster.until(lambda: len(classic.partitions) == 2)
    cluster.visit("converted empty", "orders-0=41", **_CLASSIC)
    cluster.visit("converted empty", "orders-0=42")
    cluster.visit("converted empty", "orders-0=43", **_CLASSIC)
    cluster.delete_group("converted empty")


def _move(cluster: Cluster) -> None:
    """A member goes back, an administrator sets the offset of a group without members, a member reads on."""
    for group, config in (("moved classic", _CLASSIC), ("moved consumer", {})):
        cluster.visit(group, "orders-0=60", **config)
        member = cluster.join(group, "orders", **config)
        assert member.commit("orders-0=55") == 0
        member.close()
        cluster.commit(group, "orders-0=10")
        assert cluster.join(group, "orders", **config).commit("orders-0=12") == 0


def _delete_in_a_transaction(cluster: Cluster) -> None:
    """A group with an offset of a transaction that nobody has ended: its tombstone is of a key that readers never saw."""
    producers = Producers(cluster.broker)
    cluster.commit("transaction deleted", "orders-0=50")
    partitions = [{"partitionIndex": 1, "committedOffset": 51}]
    event = {
        "api": "TxnOffsetCommit",
        "body": {
            "groupId": "transaction deleted",
            "producerId": 1,
            "topics": [{"name": "orders", "partitions": partitions}],
        },
    }
    cluster.broker.ask("TxnOffsetCommit", 2, producers.really(event)["body"])
    cluster.delete_group("transaction deleted")
    end = {"api": "EndTxn", "body": {"producerId": 1, "committed": False}}
    cluster.broker.ask("EndTxn", 4, producers.really(end)["body"])


def _live_by_java(cluster: Cluster, folder: Path) -> None:
    """Streams and shares; once a streams group has made topics of its own, nobody may name all that there are to be."""
    producer = Producer({"bootstrap.servers": cluster.servers})
    for partition in range(2):
        producer.produce(WORDS, "two words", partition=partition)
    assert producer.flush(30) == 0
    for group in ("streams-expires", "streams-deleted"):
        with word_count(cluster.servers, group, folder, threads=1):
            cluster.until(partial(_has_counted, cluster, group))
    cluster.delete_group("streams-deleted")
    for group in ("share stays", "share deleted"):
        with console_share_consumer(cluster.servers, group, "orders"):
            cluster.until(partial(_has_members, cluster, group))
    cluster.delete_group("share deleted")


def _has_counted(cluster: Cluster, group: str) -> bool:
    offsets = cluster.offsets(group)
    read = {topic: sum(of_topic.values()) for topic, of_topic in offsets.items()}
    return read == {WORDS: 2, repartitioned(group): 4}


def _has_members(cluster: Cluster, group: str) -> bool:
    return cluster.listed().get(group, {}).get("groupState") == "Stable"


def _messages(cluster: Cluster) -> list[dict[str, Any]]:
    """The topic as a reader of committed messages has it, from its beginning to the end that it has now."""
    config = {"bootstrap.servers": cluster.servers, "group.id": "nobody", "log_level": 0}
    end = cluster.broker.end_of_log()
    found = []
    with closing(Consumer(config | {"enable.partition.eof": True})) as reader:
        reader.assign([TopicPartition(OFFSETS_TOPIC, 0, 0)])
        while (message := reader.poll(_TIMEOUT_S)) is not None and not message.error():
            if message.offset() < end:
                found.append(message)
    return [
        {
            "offset": message.offset(),
            "timestamp": message.timestamp()[1],
            "key": message.key().hex(),
            "value": None if message.value() is None else message.value().hex(),
        }
        for message in found
    ]


def _told_at_the_end(cluster: Cluster) -> dict[str, Any]:
    """What the broker says of its topics and groups when it has written nothing for as long as the questions took."""
    while True:
        end = cluster.broker.end_of_log()
        topics = {topic["name"]: topic["topicId"] for topic in cluster.broker.known_topics()}
        groups = {
            group: {
                "type": listed["groupType"],
                "state": listed["groupState"],
                "offsets": cluster.offsets(group),
            }
            for group, listed in cluster.listed().items()
        }
        if cluster.broker.end_of_log() == end:
            return {"topics": topics, "groups": groups}


def main() -> None:
    """Write the file."""
    with TemporaryDirectory() as folder, ExitStack() as resources:
        broker = resources.enter_context(real_broker(Path(folder, "broker"), _SETTINGS))
        cluster = Cluster(broker, resources)
        cluster.have_topics(*_TOPICS, "again:1", "gone:2")
        _begin_to_age(cluster)
        _delete(cluster)
        _delete_topics(cluster)
        _change_protocols(cluster)
        _move(cluster)
        _delete_in_a_transaction(cluster)
        _live_by_java(cluster, Path(folder))
        cluster.wait(RETENTION_MS / 1000 + _SWEPT_S)
        lines = [_told_at_the_end(cluster), *_messages(cluster)]
    RECORDED.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
