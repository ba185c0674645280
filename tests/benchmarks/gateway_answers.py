"""What the gateway adds to the job's own answer, and what thousands of members cost it that only send heartbeats.

python -m tests.benchmarks.gateway_answers

A real broker, and `group-coordinator gateway` in a process of its own. In the job's place stands the state machine, between
the same two topics (topics_job.py): it answers after a fixed time, so that what the gateway adds is not lost in what Spark
takes. Half of the requests are commits of groups without members, half are heartbeats of members. They come in turns, some
seconds by a client that writes events and reads responses itself (`group_coordinator.clients`), some by the wire protocol
through the gateway.

Then the idle members: each has a connection of its own to the gateway and sends a heartbeat every five seconds.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count, cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import click
from kafka import KafkaAdminClient
from kafka.admin import NewTopic

from group_coordinator.clients.channel import Body, Request, RequestChannel
from group_coordinator.clients.cluster.connection import Connection
from tests.benchmarks.answer_times import TOPIC, Ask, ResponseTimes, ask_steadily, commit, heartbeat
from tests.benchmarks.gateway import cpu_s
from tests.benchmarks.idle_members import INTERVAL_S, Crowd, Heartbeats
from tests.benchmarks.measured import show
from tests.benchmarks.wire_client import WireClient
from tests.gateway_faults.stage import Stage, open_stage
from tests.support.job_process import JobProcess

JOB = ("tests.benchmarks.topics_job",)
GROUPS = 100
"""Of each kind."""
CONNECTIONS = 8
TURN_S = 2
WARM_UP_TURNS = 1
FIRST_ANSWER_MS = 60_000
LATE_S = 9.0
"""Clients wait longer for an answer, but not much."""
PARTITIONS = 4


class Load:
    """Commits and heartbeats in turns, without an end."""

    def __init__(self) -> None:
        self._epochs = {f"of-member-{number}": 0 for number in range(GROUPS)}
        self._numbers = count()

    async def join(self, ask: Ask) -> None:
        """All members."""
        joins = [heartbeat(group_id, "member", 0) for group_id in self._epochs]
        await asyncio.gather(*(self.learning(ask)(join) for join in joins))

    def __iter__(self) -> Iterator[Request]:
        for number in self._numbers:
            group = number // 2 % GROUPS
            if number % 2:
                yield heartbeat(f"of-member-{group}", "member", self._epochs[f"of-member-{group}"])
            else:
                yield commit(f"simple-{group}", number)

    def learning(self, ask: Ask) -> Ask:
        """The same, with a look at what members are told."""

        async def asked(request: Request) -> Body:
            answer = await ask(request)
            if answer.get("memberEpoch"):
                self._epochs[request.group_id] = answer["memberEpoch"]
            return answer

        return asked


async def added(stage: Stage, rate: int, seconds: int) -> dict[str, Any]:
    """What the same requests take without the gateway and with it."""
    job, load = stage.installation.settings.job, Load()
    clients = cycle([await WireClient.connected(stage.node_port) for _ in range(CONNECTIONS)])
    with RequestChannel(
        Connection(stage.installation.bootstrap_servers),
        events_topic=job.events_topic,
        responses_topic=job.responses_topic,
        request_timeout_ms=FIRST_ANSWER_MS,
    ) as channel:
        ways: dict[str, Ask] = {
            "without": load.learning(lambda request: asyncio.wrap_future(channel.send(request))),
            "with": load.learning(lambda request: next(clients).ask(request)),
        }
        await load.join(ways["without"])
        times = {way: ResponseTimes() for way in ways}
        for turn in range(WARM_UP_TURNS + seconds // TURN_S):
            if turn == WARM_UP_TURNS:
                times = {way: ResponseTimes() for way in ways}
            for way, ask in ways.items():
                await ask_steadily(ask, islice(load, rate * TURN_S), rate, times[way])
    found = {"requests_per_second": rate}
    return found | _compared(times["without"], times["with"])


def _compared(without: ResponseTimes, through: ResponseTimes) -> dict[str, Any]:
    return {
        "without_gateway_median_ms": without.median_ms,
        "without_gateway_p99_ms": without.ms(0.99),
        "through_gateway_median_ms": through.median_ms,
        "through_gateway_p99_ms": through.ms(0.99),
        "added_median_ms": round(through.median_ms - without.median_ms, 1),
        "added_p99_ms": round(through.ms(0.99) - without.ms(0.99), 1),
        "answered": len(through.waits_s),
        "failed": through.failed + without.failed,
    }


async def idle(stage: Stage, members: int, seconds: int) -> dict[str, Any]:
    """What members cost the gateway, and what they wait."""
    before_mb = stage.resident_mb
    clients = await Crowd(stage.node_port, members).opened()
    heartbeats = Heartbeats(clients)
    await asyncio.sleep(2 * INTERVAL_S)  # they join, and hear of each other
    before_s, begun_s = cpu_s(stage.gateway), perf_counter()
    times = await heartbeats.during(seconds)
    spent_s, took_s = cpu_s(stage.gateway) - before_s, perf_counter() - begun_s
    grown_mb = stage.resident_mb - before_mb
    await heartbeats.end()
    for client in clients:
        client.close()
    return {
        "idle_members": members,
        "idle_heartbeats_per_second": round(len(times.waits_s) / seconds),
        "idle_median_ms": times.median_ms,
        "idle_p99_ms": times.ms(0.99),
        "idle_longest_ms": times.ms(1),
        "idle_late": times.later_than(LATE_S),
        "idle_failed": times.failed,
        "idle_gateway_cores": round(spent_s / took_s, 2),
        "idle_gateway_mb": stage.resident_mb,
        "idle_kb_a_member": round(grown_mb * 1000 / members, 1),
    }


def measure(delay_ms: int, rate: int, seconds: int, members: int) -> dict[str, Any]:
    """Both, one after the other."""
    with TemporaryDirectory(prefix="gateway-answers-") as folder, open_stage(Path(folder)) as stage:
        with Connection(stage.installation.bootstrap_servers).opened(KafkaAdminClient) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
        arguments = [*stage.installation.options, "--delay-ms", str(delay_ms)]
        with JobProcess(arguments, Path(folder), JOB) as job:
            found = asyncio.run(added(stage, rate, seconds))
            found |= asyncio.run(idle(stage, members, seconds))
            job.check_alive()
    return {"job_ms": delay_ms} | found


@click.command()
@click.option("--delay-ms", default=50, show_default=True, help="What the job takes to answer.")
@click.option("--rate", default=500, show_default=True, help="Requests a second.")
@click.option("--seconds", default=20, show_default=True, help="How long each way is asked.")
@click.option("--members", default=5_000, show_default=True, help="That only send heartbeats.")
def main(delay_ms: int, rate: int, seconds: int, members: int) -> None:
    """Print the table and the JSON."""
    show("What clients of the gateway wait", measure(delay_ms, rate, seconds, members))


if __name__ == "__main__":
    main()
