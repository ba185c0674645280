"""Members of groups of both protocols with confluent-kafka: one word a line says what was right.

python confluent_groups.py HOST:PORT
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer, ConsumerGroupTopicPartitions, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic, OffsetSpec

BOOTSTRAP = {"bootstrap.servers": sys.argv[1]}
TOPIC, COPY, RECORDS = "confluent-orders", "confluent-copy", 40
LIMIT_S = 60.0


def right(name: str) -> None:
    print(name, flush=True)  # noqa: T201


def until(condition: Callable[[], object], consumers: Sequence[Consumer]) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not condition():
        assert time.monotonic() < end_s, "it took too long"
        for consumer in consumers:
            consumer.poll(0.1)


def member(group: str, protocol: str, **more: object) -> Consumer:
    usual = {"group.id": group, "group.protocol": protocol, "auto.offset.reset": "earliest"}
    consumer = Consumer({**BOOTSTRAP, **usual, "enable.auto.commit": False, **more})
    consumer.subscribe([TOPIC])
    return consumer


def life(admin: AdminClient, protocol: str) -> None:
    group = f"confluent-{protocol}"
    members = [member(group, protocol) for _ in range(2)]
    until(lambda: sorted(len(one.assignment()) for one in members) == [2, 2], members)
    right(f"{protocol}: shared")
    described = admin.describe_consumer_groups([group])[group].result()
    assert described.state.name == "STABLE", described.state
    assert len(described.members) == 2
    right(f"{protocol}: described")
    left = members.pop()
    left.close()
    until(lambda: len(members[0].assignment()) == 4, members)
    right(f"{protocol}: taken over")
    partitions = [TopicPartition(TOPIC, number, 10) for number in range(4)]
    members[0].commit(offsets=partitions, asynchronous=False)
    committed = members[0].committed(partitions, timeout=30)
    assert [one.offset for one in committed] == [10] * 4, committed
    right(f"{protocol}: committed")
    members[0].close()
    administered(admin, group, protocol)


def administered(admin: AdminClient, group: str, protocol: str) -> None:
    groups = admin.list_consumer_groups().result().valid
    assert group in {each.group_id for each in groups}
    right(f"{protocol}: listed")
    wanted = ConsumerGroupTopicPartitions(group, [TopicPartition(TOPIC, 0, 3)])
    admin.alter_consumer_group_offsets([wanted])[group].result()
    found = admin.list_consumer_group_offsets([ConsumerGroupTopicPartitions(group)])[group]
    assert {one.partition: one.offset for one in found.result().topic_partitions}[0] == 3
    right(f"{protocol}: altered")
    admin.delete_consumer_groups([group])[group].result()
    assert group not in {each.group_id for each in admin.list_consumer_groups().result().valid}
    right(f"{protocol}: deleted")


def in_transaction(protocol: str) -> None:
    consumer = member(f"confluent-{protocol}-copy", protocol)
    producer = Producer({**BOOTSTRAP, "transactional.id": f"confluent-{protocol}"})
    producer.init_transactions(60)
    read = 0
    while read < RECORDS:
        records = consumer.consume(10, 1.0)
        if not records:
            continue
        producer.begin_transaction()
        for record in records:
            producer.produce(COPY, record.value())
        position = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(position, consumer.consumer_group_metadata(), 60)
        producer.commit_transaction(60)
        read += len(records)
    committed = consumer.committed([TopicPartition(TOPIC, n) for n in range(4)], timeout=60)
    assert sum(one.offset for one in committed) == RECORDS == read, committed
    consumer.close()
    right(f"{protocol}: exactly once")


def main() -> None:
    admin = AdminClient(BOOTSTRAP)
    for future in admin.create_topics([NewTopic(TOPIC, 4, 1), NewTopic(COPY, 1, 1)]).values():
        future.result()
    producer = Producer(BOOTSTRAP)
    for number in range(RECORDS):
        producer.produce(TOPIC, b"%d" % number, partition=number % 4)
    producer.flush(30)
    ends = admin.list_offsets({TopicPartition(TOPIC, 0): OffsetSpec.latest()})
    assert [end.result().offset for end in ends.values()] == [RECORDS // 4]
    for protocol in ("classic", "consumer"):
        life(admin, protocol)
        in_transaction(protocol)


main()
