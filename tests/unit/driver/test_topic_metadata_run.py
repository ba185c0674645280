"""What a run that ends by itself tells consumer groups of topics, and what it leaves to the next one."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.core.model.requests import Topic
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataRun, TopicMetadataTask
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from tests.support.files import FilesInMemory

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)


class Cluster:
    """A cluster with one topic, what it was sent, and the files that outlive a run."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, list[str]]] = []
        self.looks = 0
        self.files = FilesInMemory()

    def look_at(self, _names: Collection[str] | None) -> VisibleTopics:
        self.looks += 1
        return VisibleTopics({"orders": ORDERS})

    def send(self, events: Sequence[tuple[str, bytes]]) -> None:
        for group_id, event in events:
            topics = json.loads(event)["body"]["topics"]
            self.sent.append((group_id, [topic["name"] for topic in topics]))

    def run_begins(self) -> TopicMetadataRun:
        subscriptions = GroupSubscriptions(self.files)
        agent = TopicMetadataTask(subscriptions, self.look_at, self.send)
        return TopicMetadataRun(subscriptions, agent, interval_s=0)


def need(group_id: str) -> str:
    return json.dumps({"group_id": group_id, "names": ["orders"], "regexes": []})


def test_a_drain_asks_the_cluster_nothing_where_no_group_needs_topics() -> None:
    cluster = Cluster()

    cluster.run_begins().send()

    assert (cluster.looks, cluster.sent) == (0, [])


def test_what_groups_need_during_a_drain_the_next_one_tells_them() -> None:
    cluster = Cluster()
    drain = cluster.run_begins()
    drain.send()
    drain.group_subscriptions.note([need("g")])
    assert cluster.sent == []

    cluster.run_begins().send()
    assert cluster.sent == [("g", ["orders"])]

    cluster.run_begins().send()
    assert cluster.sent == [("g", ["orders"])]
