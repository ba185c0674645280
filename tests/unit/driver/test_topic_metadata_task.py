"""Groups hear of the topics they subscribe to; nobody else does."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from itertools import count
from threading import Event
from typing import Any

import pytest

from group_coordinator.clients.cluster.topics import VisibleTopics
from group_coordinator.clients.errors import BrokerUnreachableError
from group_coordinator.core.model.requests import Topic
from group_coordinator.driver.tasks.topic_metadata import TopicMetadataTask
from group_coordinator.driver.tasks.topic_subscriptions import GroupSubscriptions
from tests.support.files import FilesInMemory

ORDERS = Topic("orders", "AAAAAAAAAAAAAAAAAAAAAQ", 3)
PAY = Topic("pay", "AAAAAAAAAAAAAAAAAAAAAg", 1)
ANEW = ORDERS.replace(topic_id="AAAAAAAAAAAAAAAAAAAAAw")
Json = dict[str, Any]


class Cluster:
    """Topics that come and go, the events topic, and what a run leaves to the next one."""

    def __init__(self, *topics: Topic) -> None:
        self.files = FilesInMemory()
        self.now_s = 0.0
        self.look_s = 0.0
        """How long the cluster takes to answer."""
        self.asked: list[set[str] | None] = []
        self.sent: list[tuple[str, Json]] = []
        self.is_away = False
        self.hidden: set[str] = set()
        """The names that the job's user may not see."""
        self.looks = 0
        self.have(*topics)
        self.start()

    def have(self, *topics: Topic) -> None:
        self.topics = {topic.name: topic for topic in topics}

    def start(self) -> None:
        """A run begins."""
        self.subscriptions = GroupSubscriptions(self.files)
        self.agent = TopicMetadataTask(
            self.subscriptions, self.look_at, self.send, lambda: self.now_s
        )

    def need(self, group_id: str, *names: str, regexes: Sequence[str] = ()) -> None:
        line = {"group_id": group_id, "names": names, "regexes": regexes}
        self.subscriptions.note([json.dumps(line)])

    def look(self, times: int = 1) -> list[tuple[str, Json]]:
        for _ in range(times):
            self.agent.look()
        sent, self.sent = self.sent, []
        return sent

    def look_at(self, names: Collection[str] | None) -> VisibleTopics:
        self.asked.append(None if names is None else set(names))
        self.now_s += self.look_s
        wanted = self.topics.keys() if names is None else set(names)
        found = {name: self.topics[name] for name in self.topics if name in wanted - self.hidden}
        return VisibleTopics(found, frozenset(self.hidden.intersection(names or ())))

    def send(self, events: Sequence[tuple[str, bytes]]) -> None:
        if self.is_away:
            raise BrokerUnreachableError("nobody there")
        for group_id, value in events:
            event = json.loads(value)
            assert (event["api"], event["version"], event["correlationId"]) == (
                "TopicMetadata",
                0,
                None,
            )
            assert event["body"].pop("groupId") == group_id
            assert event["body"].pop("complete") is False
            self.sent.append((group_id, event["body"]))


def told(*topics: Topic, deleted: Sequence[Topic] = ()) -> Json:
    return {
        "topics": [
            {
                "name": topic.name,
                "topicId": topic.topic_id,
                "numPartitions": topic.num_partitions,
                **({} if topic.racks is None else {"racks": [list(r) for r in topic.racks]}),
            }
            for topic in topics
        ],
        "deletedTopics": [{"name": topic.name, "topicId": topic.topic_id} for topic in deleted],
    }


def watching(*topics: Topic) -> Cluster:
    """The group g, which subscribes to orders, has been told of it."""
    cluster = Cluster(*topics)
    cluster.need("g", "orders")
    assert cluster.look(times=2) == [("g", told(*(t for t in topics if t.name == "orders")))]
    return cluster


def test_without_needs_nobody_asks_the_cluster() -> None:
    cluster = Cluster(ORDERS)
    assert cluster.look(times=3) == []
    assert cluster.asked == []


def test_a_group_is_told_once_of_its_topics_alone() -> None:
    cluster = watching(ORDERS, PAY)
    assert cluster.look(times=3) == []
    assert cluster.asked[-1] == {"orders"}


def test_a_topic_that_is_not_there_is_an_answer_too() -> None:
    cluster = Cluster(PAY)
    cluster.need("g", "orders")
    assert cluster.look(times=2) == [("g", told())]
    cluster.have(ORDERS, PAY)
    assert cluster.look() == [("g", told(ORDERS))]


def test_new_partitions_and_racks_are_news() -> None:
    cluster = watching(ORDERS)
    grown = ORDERS.replace(num_partitions=4)
    cluster.have(grown)
    assert cluster.look() == [("g", told(grown))]
    in_racks = grown.replace(racks=(("r1",), ("r2",), (), ()))
    cluster.have(in_racks)
    assert cluster.look() == [("g", told(in_racks))]


def test_a_topic_is_gone_when_two_looks_miss_it() -> None:
    cluster = watching(ORDERS)
    cluster.have()
    assert cluster.look() == []
    assert cluster.look() == [("g", told(deleted=[ORDERS]))]
    assert cluster.look(times=2) == []


def test_a_topic_that_one_answer_lacks_is_not_gone() -> None:
    cluster = watching(ORDERS)
    cluster.have()
    assert cluster.look() == []
    cluster.have(ORDERS)
    assert cluster.look(times=2) == []


def test_a_topic_that_came_anew_is_told_with_the_end_of_the_old_one() -> None:
    cluster = watching(ORDERS)
    cluster.have(ANEW)
    assert cluster.look() == [("g", told(ANEW, deleted=[ORDERS]))]


def test_patterns_hear_of_every_topic_that_matches() -> None:
    cluster = Cluster(ORDERS, PAY)
    cluster.need("g", "pay", regexes=["ord.*"])
    assert cluster.look(times=2) == [("g", told(ORDERS, PAY))]
    assert cluster.asked[-1] is None
    other = Topic("orders-2", "AAAAAAAAAAAAAAAAAAAABA", 1)
    cluster.have(ORDERS, PAY, other)
    assert cluster.look() == [("g", told(ORDERS, other, PAY))]
    cluster.have(PAY, other)
    assert cluster.look(times=2) == [("g", told(other, PAY, deleted=[ORDERS]))]


def test_a_subscription_that_changes_is_answered_and_its_end_is_no_deletion() -> None:
    cluster = watching(ORDERS, PAY)
    cluster.need("g", "pay")
    assert cluster.look() == [("g", told(PAY))]
    cluster.need("g")
    cluster.have()
    assert cluster.look(times=3) == []


def test_only_the_groups_that_are_concerned_hear_of_a_change() -> None:
    cluster = watching(ORDERS, PAY)
    cluster.need("h", "pay")
    assert cluster.look() == [("h", told(PAY))]
    cluster.have(ORDERS, grown := PAY.replace(num_partitions=2))
    assert cluster.look() == [("h", told(grown))]


def test_who_asks_again_is_told_again() -> None:
    cluster = watching(ORDERS)
    cluster.need("g", "orders")
    assert cluster.look() == [("g", told(ORDERS))]


def test_the_next_run_knows_who_was_told_what() -> None:
    cluster = watching(ORDERS, PAY)
    cluster.start()
    assert cluster.look(times=3) == []
    cluster.have(PAY)
    cluster.start()
    assert cluster.look(times=2) == [("g", told(deleted=[ORDERS]))]


def test_an_outage_is_said_once_and_looked_through(caplog: pytest.LogCaptureFixture) -> None:
    cluster = watching(ORDERS)
    cluster.start()
    stop = Event()

    def look_at(names: Collection[str] | None) -> VisibleTopics:
        cluster.looks += 1
        if cluster.looks == 8:
            stop.set()
        if cluster.looks in (1, 2, 3, 6):
            raise BrokerUnreachableError(f"nobody there at look {cluster.looks}")
        return cluster.look_at(names)

    TopicMetadataTask(cluster.subscriptions, look_at, cluster.send, lambda: 0.0).run(
        stop, interval_s=0
    )

    assert cluster.looks == 8
    assert caplog.messages == [
        "topics are read again when Kafka responds: nobody there at look 1",
        "topics are read again when Kafka responds: nobody there at look 6",
    ]


def test_what_the_brokers_did_not_take_is_told_later() -> None:
    cluster = watching(ORDERS)
    cluster.need("h", "orders")
    cluster.have(grown := ORDERS.replace(num_partitions=4))
    cluster.is_away = True
    with pytest.raises(BrokerUnreachableError):
        cluster.look()
    cluster.is_away = False
    assert cluster.look() == [("g", told(grown)), ("h", told(grown))]
    cluster.start()
    assert cluster.look(times=3) == []


def test_where_looks_take_long_they_are_rare_but_who_is_new_is_told_at_once() -> None:
    """Each answer of the cluster takes a second: it may be asked for everything every 20 seconds."""
    cluster = Cluster(ORDERS, PAY)
    cluster.look_s = 1.0
    cluster.need("g", "orders")
    assert cluster.look(times=2) == [("g", told(ORDERS))]
    cluster.asked.clear()

    cluster.have(grown := ORDERS.replace(num_partitions=4), PAY)
    assert cluster.look(times=5) == []
    assert cluster.asked == []

    cluster.need("h", "pay")
    assert cluster.look() == [("h", told(PAY))]
    assert cluster.asked == [{"pay"}]

    cluster.now_s += 19
    assert cluster.look() == [("g", told(grown))]
    assert cluster.asked[1:] == [{"orders", "pay"}]


def test_topics_that_a_pattern_matches_are_looked_at_more_often_than_all() -> None:
    cluster = Cluster(ORDERS, PAY)
    cluster.look_s = 1.0
    cluster.need("g", regexes=["ord.*"])
    assert cluster.look() == []
    cluster.look_s = 0.0
    assert cluster.look() == [("g", told(ORDERS))]
    assert cluster.asked == [None, {"orders"}]

    other = Topic("orders-2", "AAAAAAAAAAAAAAAAAAAABA", 1)
    cluster.have(grown := ORDERS.replace(num_partitions=4), other)
    assert cluster.look() == [("g", told(grown))]
    cluster.need("h", regexes=["p.*", "ord.*"])
    assert cluster.look() == [("h", told(grown, PAY))]
    assert cluster.asked[2:] == [{"orders"}, {"orders", "pay"}]

    cluster.now_s += 19
    assert cluster.look() == [("g", told(grown, other)), ("h", told(grown, other, deleted=[PAY]))]
    assert cluster.asked[4:] == [None, {"pay"}]


def test_a_topic_that_a_group_left_is_no_deleted_one_until_it_is() -> None:
    cluster = watching(ORDERS, PAY)
    cluster.need("g", "pay")
    cluster.is_away = True
    with pytest.raises(BrokerUnreachableError):
        cluster.look()
    cluster.is_away = False
    assert cluster.look() == [("g", told(PAY))]
    assert cluster.look() == []
    assert cluster.asked[-1] == {"pay"}


@pytest.mark.parametrize("pattern", [(), ("ord.*",)])
def test_a_topic_that_may_not_be_seen_any_more_is_not_deleted(
    pattern: Sequence[str], caplog: pytest.LogCaptureFixture
) -> None:
    cluster = Cluster(ORDERS, PAY)
    cluster.need("g", *([] if pattern else ["orders"]), "pay", regexes=pattern)
    assert cluster.look(times=2) == [("g", told(ORDERS, PAY))]

    cluster.hidden = {"orders"}
    assert cluster.look(times=4) == []
    [warning] = [message for message in caplog.messages if "may not see" in message]
    assert warning.startswith("the job's user may not see (ACL DESCRIBE) the topics orders: ")
    cluster.start()
    assert cluster.look(times=4) == []
    cluster.have(grown := ORDERS.replace(num_partitions=4), PAY)
    cluster.hidden = set()
    cluster.now_s += 1
    assert cluster.look(times=2) == [("g", told(grown, PAY))]

    cluster.have(PAY)
    assert cluster.look(times=2) == [("g", told(PAY, deleted=[grown]))]


@pytest.mark.parametrize("pattern", [(), ("ord.*",)])
def test_a_topic_that_was_deleted_while_it_could_not_be_seen_is_told_when_that_is_known(
    pattern: Sequence[str],
) -> None:
    cluster = Cluster(ORDERS, PAY)
    cluster.need("g", *([] if pattern else ["orders"]), "pay", regexes=pattern)
    assert cluster.look(times=2) == [("g", told(ORDERS, PAY))]
    cluster.hidden = {"orders"}
    cluster.start()
    assert cluster.look(times=3) == []

    cluster.have(grown := PAY.replace(num_partitions=2))
    assert cluster.look() == []
    cluster.hidden = set()
    assert cluster.look() == []
    assert cluster.look() == [("g", told(grown, deleted=[ORDERS]))]
    assert cluster.look(times=2) == []


def test_a_new_group_does_not_wait_for_a_topic_that_may_not_be_seen() -> None:
    cluster = Cluster(ORDERS, PAY)
    cluster.hidden = {"orders"}
    cluster.need("g", "orders", "pay")
    assert cluster.look(times=2) == [("g", told(PAY))]
    cluster.hidden = set()
    assert cluster.look() == [("g", told(ORDERS, PAY))]


def test_metadata_that_no_event_can_hold_stops_no_other_group(
    caplog: pytest.LogCaptureFixture,
) -> None:
    uuids = (f"{number:021}A" for number in count())
    many = [Topic(f"orders-{number}", next(uuids), 1) for number in range(20_000)]
    cluster = Cluster(*many, PAY)
    cluster.need("a", regexes=["orders-.*"])
    cluster.need("b", "pay")

    assert cluster.look(times=3) == [("b", told(PAY))]
    said = "group 'a': its 20000 topics are too many for an event: subscribe to fewer"
    assert caplog.messages == [said]


def test_a_long_event_has_no_racks() -> None:
    huge = ORDERS.replace(num_partitions=100_000, racks=(("rack-a", "rack-b"),) * 100_000)
    cluster = Cluster(huge)
    cluster.need("g", "orders")

    assert cluster.look(times=2) == [("g", told(huge.replace(racks=None)))]


def test_more_names_than_a_cluster_has_topics_are_looked_for_in_the_list_of_all() -> None:
    cluster = Cluster(ORDERS)
    cluster.need("g", "orders", *(f"missing-{number}" for number in range(100_000)))

    assert cluster.look(times=2) == [("g", told(ORDERS))]
    assert sum(len(names) for names in cluster.asked if names is not None) == 0


def test_a_hidden_topic_of_a_group_with_many_names_is_not_deleted() -> None:
    cluster = Cluster(ORDERS)
    many = [f"missing-{number}" for number in range(3_000)]
    cluster.need("g", "orders", *many)
    assert cluster.look(times=2) == [("g", told(ORDERS))]

    cluster.hidden = {"orders"}
    cluster.start()
    assert cluster.look(times=4) == []
