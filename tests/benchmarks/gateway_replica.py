"""What clients wait when a gateway answers by its replica, next to a gateway that waits for the same job.

python -m tests.benchmarks.gateway_replica [--others 500000]

A real broker, the real job, and two gateways in processes of their own, which take turns: one commit after the other, then commits at a
fixed rate. Between the turns a plain produce with acks=all is the floor: every request is an event first. In the end the job must have
confirmed each response of the replica.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from confluent_kafka import Producer
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

from group_coordinator.clients.channel import Body, Request, ResponseReader
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.gateway.job.replica import Replica
from group_coordinator.local.broker import LOOPBACK, EmbeddedBroker, free_row
from tests.benchmarks import throughput
from tests.benchmarks.answer_times import TOPIC, ResponseTimes, ask_steadily, commit
from tests.benchmarks.measured import show
from tests.benchmarks.wire_client import WireClient
from tests.gateway_faults.stage import Stage, open_stage
from tests.support.job_process import JobProcess
from tests.support.stores import s3
from tests.support.until import until

CONNECTIONS = 8
GROUPS = 200
_FLOOR_TOPIC = "floor"
# The scenes of faults compact every second.
_AS_USERS = ("gateway.answers=replica", "compaction.interval.ms=10000")
_READY_S, _CONFIRMED_S = 60.0, 120.0


@contextmanager
def waiting_gateway(stage: Stage, folder: Path) -> Iterator[int]:
    """The port of node 1 at a gateway that answers when the job does."""
    listen = free_row(3)
    overrides = (
        f"gateway.listen={LOOPBACK}:{listen}",
        *("gateway.health.listen=", "gateway.answers=job"),
    )
    options = [word for each in overrides for word in ("--set", each)]
    folder.mkdir()
    with JobProcess(["gateway", *stage.installation.options, *options], folder) as gateway:
        gateway.until(
            lambda: "in front of" in gateway.log, seconds=_READY_S, awaited="the second gateway"
        )
        yield listen + 2


class Way:
    """A gateway with connections to it; each group stays at one of them."""

    def __init__(self, name: str, clients: list[WireClient]) -> None:
        self.name = name
        self._clients = clients
        self.times = ResponseTimes()

    async def ask(self, request: Request) -> Body:
        number = int(request.group_id.rpartition("-")[2])
        return await self._clients[number % len(self._clients)].ask(request)

    def commits(self, count: int) -> Iterator[Request]:
        for number, group in zip(range(count), cycle(range(GROUPS)), strict=False):
            yield commit(f"{self.name}-{group}", number)

    async def warm(self) -> None:
        """Two commits of each group: then the replica has its state."""
        for _ in range(2):
            await asyncio.gather(*(self.ask(request) for request in self.commits(GROUPS)))


async def compared(
    ports: Mapping[str, int], servers: str, requests: int, rate: int, seconds: int
) -> dict[str, Any]:
    ways = []
    for name, port in ports.items():
        ways.append(Way(name, [await WireClient.connected(port) for _ in range(CONNECTIONS)]))
        # At once: a connection without a request is closed.
        await ways[-1].warm()
    found: dict[str, Any] = {}
    floor = ResponseTimes()
    with closing(KafkaProducer(bootstrap_servers=servers, acks="all")) as producer:

        async def produce(_: Request) -> Body:
            producer.send(_FLOOR_TOPIC, b"{}").get(10)
            return {}

        for turn in zip(*(way.commits(requests) for way in ways), strict=True):
            for way, request in zip(ways, turn, strict=True):
                await way.times.timed(way.ask, request)
            await floor.timed(produce, turn[0])
    found |= _figures("produce", floor)
    for way in ways:
        found |= _figures(f"one_by_one_{way.name}", way.times)
        way.times = ResponseTimes()
        await ask_steadily(way.ask, way.commits(rate * seconds), rate, way.times)
        found |= _figures(f"steady_{way.name}", way.times)
    return found


def _figures(name: str, times: ResponseTimes) -> dict[str, Any]:
    return {
        f"{name}_median_ms": times.median_ms,
        f"{name}_p99_ms": times.ms(0.99),
        f"{name}_failed": times.failed,
    }


@contextmanager
def checkpoint_on_s3(folder: Path, delay_ms: float) -> Iterator[tuple[str, ...]]:
    """The setting of its place; none with 0 ms, which is a disk."""
    if not delay_ms:
        yield ()
        return
    folder.mkdir()
    with s3(folder) as opened:
        opened.store.proxy.delay(delay_ms / 1000)
        yield (opened.settings(folder)[1],)


def events_of_others(count: int) -> float:
    """Events a second that a gateway's reader takes if it follows none of their groups."""
    replica = Replica("group-events", "a", lambda *_: False)
    with EmbeddedBroker() as broker:
        connection = Connection(broker.bootstrap_servers)
        with connection.opened(KafkaAdminClient) as admin:
            admin.create_topics([NewTopic("group-events", 1, 1)], wait_for_metadata=True)
        most = {"queue.buffering.max.messages": count}
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers, **most})
        for number in range(count):
            group = f"other-{number % GROUPS}"
            producer.produce("group-events", throughput.commit(group, number), group)
        producer.flush()
        with closing(ResponseReader(connection, "group-events", {0: 0})) as reader:
            reader.begin(reader.partitions_of("group-events"))
            start_s, taken = time.monotonic(), 0
            while taken < count:
                records = list(reader.poll_records(100))
                replica.take(records, time.time_ns() // 1_000_000)
                taken += len(records)
            return round(count / (time.monotonic() - start_s))


def measure(requests: int, rate: int, seconds: int, store_delay_ms: float) -> dict[str, Any]:
    with (
        TemporaryDirectory(prefix="gateway-replica-") as folder,
        checkpoint_on_s3(Path(folder) / "store", store_delay_ms) as place,
        open_stage(Path(folder), more=(*_AS_USERS, *place)) as stage,
        waiting_gateway(stage, Path(folder) / "waiting") as waiting,
    ):
        servers = stage.installation.bootstrap_servers
        with Connection(servers).opened(KafkaAdminClient) as admin:
            admin.create_topics([NewTopic(TOPIC, 4, 1), NewTopic(_FLOOR_TOPIC, 1, 1)])
        stage.start_job()
        stage.await_job()
        ports = {"job": waiting, "replica": stage.node_port}
        found = asyncio.run(compared(ports, servers, requests, rate, seconds))
        until(
            lambda: not stage.replica("open"), seconds=_CONFIRMED_S, awaited="the job's responses"
        )
        counts = ("answers", "equal", "different", "missing")
        return found | {name: stage.replica(f"{name}_total") for name in counts}


@click.command()
@click.option("--requests", default=100, show_default=True, help="Commits one after the other.")
@click.option("--rate", default=200, show_default=True, help="Commits a second.")
@click.option("--seconds", default=10, show_default=True, help="How long at that rate.")
@click.option(
    "--store-delay-ms",
    default=0.0,
    help="The job's checkpoint is on S3, and a request takes as long. 0: on a disk.",
)
@click.option("--others", default=0, help="How fast a gateway reads so many events of others.")
def main(requests: int, rate: int, seconds: int, store_delay_ms: float, others: int) -> None:
    """Print the table and the JSON."""
    found: dict[str, Any] = {}
    if others:
        found["others_events_per_second"] = events_of_others(others)
    if requests:
        found |= measure(requests, rate, seconds, store_delay_ms)
    show("What clients wait, milliseconds", found)


if __name__ == "__main__":
    main()
