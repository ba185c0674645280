"""Two members of a group share a topic with aiokafka, commit, and are listed: one word a line says what was right.

python aiokafka_groups.py HOST:PORT
"""

from __future__ import annotations

import asyncio
import sys

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewTopic

TOPIC, GROUP, RECORDS, LIMIT_S = "aiokafka-orders", "aiokafka-shop", 40, 60.0
PARTITIONS = [TopicPartition(TOPIC, number) for number in range(4)]


def right(name: str) -> None:
    print(name, flush=True)  # noqa: T201


async def main(bootstrap_servers: str) -> None:
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap_servers)
    await admin.start()
    await admin.create_topics([NewTopic(TOPIC, 4, 1)])
    await produce(bootstrap_servers)
    members = [await member(bootstrap_servers) for _ in range(2)]
    await until_shared(members, [2, 2])
    right("shared")
    await read_all(members)
    right("read")
    await asyncio.gather(*(one.commit() for one in members))
    offsets = await admin.list_consumer_group_offsets(GROUP)
    assert sum(offsets[partition].offset for partition in PARTITIONS) == RECORDS, offsets
    right("committed")
    listed = await admin.list_consumer_groups()
    assert GROUP in {group[0] for group in listed}, listed
    right("listed")
    await members.pop().stop()
    await until_shared(members, [4])
    right("taken over")
    await members.pop().stop()
    await admin.close()


async def until_shared(members: list[AIOKafkaConsumer], shares: list[int]) -> None:
    async with asyncio.timeout(LIMIT_S):
        while sorted(len(one.assignment()) for one in members) != shares:
            await asyncio.gather(*(one.getmany(timeout_ms=200) for one in members))


async def read_all(members: list[AIOKafkaConsumer]) -> None:
    """From the beginning, as some may have been read while the members found their shares."""
    for one in members:
        await one.seek_to_beginning()
    read = 0
    async with asyncio.timeout(LIMIT_S):
        while read < RECORDS:
            for one in members:
                polled = await one.getmany(timeout_ms=200)
                read += sum(map(len, polled.values()))
    assert read == RECORDS, read


async def produce(bootstrap_servers: str) -> None:
    async with AIOKafkaProducer(bootstrap_servers=bootstrap_servers) as producer:
        for number in range(RECORDS):
            await producer.send_and_wait(TOPIC, b"%d" % number, partition=number % 4)


async def member(bootstrap_servers: str) -> AIOKafkaConsumer:
    consumer = AIOKafkaConsumer(
        TOPIC,
        bootstrap_servers=bootstrap_servers,
        group_id=GROUP,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    # start() waits for the first assignment; the other member is not there yet.
    await consumer.start()
    return consumer


asyncio.run(main(sys.argv[1]))
