"""The state machine between the job's two topics, in a process of its own: no Spark, and an answer after a fixed time.

python -m tests.benchmarks.topics_job --bootstrap-server HOST:PORT --set KEY=VALUE... --delay-ms 50
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from threading import Thread

import click
from kafka import KafkaConsumer, KafkaProducer
from msgspec import Struct, json

from group_coordinator import settings
from group_coordinator.settings import Settings
from tests.peers.in_process_job import InProcessJob

_POLL_MS = 100


class _Asked(Struct, rename="camel"):
    """Where the answer to an event goes."""

    correlation_id: str | None = None
    reply_partition: int | None = None


class _Answer(Struct, rename="camel"):
    correlation_id: str
    group_id: str


class TopicsJob(InProcessJob):
    """Writes each answer into the partition that its request names, as the job does."""

    def __init__(self, chosen: Settings, producer: KafkaProducer, delay_s: float) -> None:
        super().__init__(chosen.coordinator, on_sighting=lambda _: None, delay_s=(delay_s, delay_s))
        self._responses_topic = chosen.job.responses_topic
        self._producer = producer
        self._partitions: dict[str, int | None] = {}

    def tell_all(self, values: Sequence[bytes]) -> None:
        """Events are on their way, in this order."""
        for value in values:
            asked = json.decode(value, type=_Asked)
            if asked.correlation_id is not None:
                self._partitions[asked.correlation_id] = asked.reply_partition
            self.tell(value)

    def arrived(self, response: bytes) -> None:
        answer = json.decode(response, type=_Answer)
        partition = self._partitions.pop(answer.correlation_id)
        key = answer.group_id.encode()
        self._producer.send(self._responses_topic, key=key, value=response, partition=partition)


async def answer_for_ever(chosen: Settings, delay_s: float) -> None:
    """Every event from the first one on; a thread reads them."""
    brokers = {"bootstrap_servers": chosen.job.bootstrap_servers}
    consumer = KafkaConsumer(
        chosen.job.events_topic,
        **brokers,
        group_id=None,
        auto_offset_reset="earliest",
        enable_auto_commit=False,
    )
    job, loop = TopicsJob(chosen, KafkaProducer(**brokers), delay_s), asyncio.get_running_loop()

    def read() -> None:
        while True:
            for records in consumer.poll(timeout_ms=_POLL_MS).values():
                values = [record.value for record in records]
                loop.call_soon_threadsafe(job.tell_all, values)

    Thread(target=read, name="events", daemon=True).start()
    await job.tick()


@click.command()
@click.option("--bootstrap-server", required=True)
@click.option("--set", "overrides", multiple=True, metavar="KEY=VALUE")
@click.option("--delay-ms", type=int, required=True)
def main(bootstrap_server: str, overrides: tuple[str, ...], delay_ms: int) -> None:
    """Answer until the process is ended."""
    here = f"bootstrap.servers={bootstrap_server}"
    chosen = settings.load(overrides=[*overrides, here])
    asyncio.run(answer_for_ever(chosen, delay_ms / 1000))


if __name__ == "__main__":
    main()
