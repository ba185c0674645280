"""What do looks at the cluster's topics cost beside the job, and how late is the news?

    python -m tests.benchmarks.topic_looks [--topics 400] [--partitions 20] [--seconds 20]

A real broker has the topics, one group has a pattern that matches a tenth of them, and the agent looks as in the job. Prints
the share of one core that this process takes, and the seconds until the group is told: of partitions that a matching topic
gets, of a topic that is new and matches, and of the topics of a group that is new. The last line is JSON.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from threading import Event, Thread

import click
from kafka import KafkaAdminClient
from kafka.admin import NewPartitions, NewTopic

from group_coordinator import settings
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.cluster.topics import ClusterTopics
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataTask
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from group_coordinator.local.broker import EmbeddedBroker
from tests.support.files import FilesInMemory
from tests.support.until import until

MOST_AT_ONCE = 50
PATIENCE_S = 120
PATTERN = ".*[7]"


class Told:
    """What groups were told last, by group."""

    def __init__(self) -> None:
        self.topics: dict[str, dict[str, int]] = {}

    def take(self, events: Sequence[tuple[str, bytes]]) -> None:
        for group_id, value in events:
            topics = json.loads(value)["body"]["topics"]
            self.topics[group_id] = {topic["name"]: topic["numPartitions"] for topic in topics}


def create(admin: KafkaAdminClient, topics: int, partitions: int) -> None:
    """Topics in parts, as a broker takes a while for each."""
    for first in range(0, topics, MOST_AT_ONCE):
        numbers = range(first, min(first + MOST_AT_ONCE, topics))
        new = [NewTopic(f"topic-{number}", partitions, 1) for number in numbers]
        admin.create_topics(new, timeout_ms=60_000, wait_for_metadata=True)


@contextmanager
def looking(address: str, subscriptions: GroupSubscriptions, told: Told) -> Iterator[None]:
    """The agent in a thread of its own."""
    stop, cluster = Event(), ClusterTopics(Connection(address))
    interval_s = settings.load().job.topic_metadata_interval_ms / 1000
    agent = TopicMetadataTask(subscriptions, cluster.look, told.take)
    thread = Thread(target=agent.run, args=[stop, interval_s])
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        cluster.close()


def until_told(condition: Callable[[], bool]) -> float:
    """Seconds until then."""
    begun_s = time.monotonic()
    until(condition, seconds=PATIENCE_S, awaited="news of topics", poll_s=0.05)
    return round(time.monotonic() - begun_s, 1)


def share_of_a_core(seconds: int) -> float:
    """What this process takes while nothing changes."""
    begun_s, cpu_s = time.monotonic(), time.process_time()
    time.sleep(seconds)
    return (time.process_time() - cpu_s) / (time.monotonic() - begun_s)


def measure(admin: KafkaAdminClient, address: str, seconds: int) -> dict[str, float]:
    """One life of the agent."""
    told, subscriptions = Told(), GroupSubscriptions(FilesInMemory())
    subscriptions.note([json.dumps({"group_id": "g", "names": [], "regexes": [PATTERN]})])
    with looking(address, subscriptions, told):
        until_told(lambda: "g" in told.topics)
        share = share_of_a_core(seconds)
        before = told.topics["g"]["topic-7"]
        admin.create_partitions({"topic-7": NewPartitions(before + 1)})
        grown_s = until_told(lambda: told.topics["g"]["topic-7"] > before)
        admin.create_topics([NewTopic("new-7", 1, 1)])
        new_s = until_told(lambda: "new-7" in told.topics["g"])
        subscriptions.note([json.dumps({"group_id": "h", "names": ["topic-1"], "regexes": []})])
        named_s = until_told(lambda: "topic-1" in told.topics.get("h", {}))
    return {
        "share_of_a_core": round(share, 3),
        "more_partitions_told_s": grown_s,
        "new_topic_told_s": new_s,
        "new_group_told_s": named_s,
    }


@click.command(help=__doc__)
@click.option("--topics", default=400)
@click.option("--partitions", default=20)
@click.option("--seconds", default=20)
def main(topics: int, partitions: int, seconds: int) -> None:
    """Measure with a broker of its own."""
    with EmbeddedBroker() as broker:
        address = broker.bootstrap_servers
        with closing(KafkaAdminClient(bootstrap_servers=address)) as admin:
            create(admin, topics, partitions)
            figures = measure(admin, address, seconds)
    click.echo(json.dumps({"topics": topics, "partitions": topics * partitions, **figures}))


if __name__ == "__main__":
    main()
