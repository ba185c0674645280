"""What is inferred of a log without reasons is what the state machine that wrote it gave as its reasons."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.core.model.records import Reason
from group_coordinator.core.model.requests import Topic
from group_coordinator.mirror.group_so_far import GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.compaction.rows import GroupRows
from tests.support.group_history import GroupHistory

MINUTE = 60_000
TOPICS = ("orders", "refunds")
ENDS = {
    *(Reason.OFFSET_EXPIRED, Reason.OFFSET_DELETED, Reason.TOPIC_DELETED),
    *(Reason.GROUP_EXPIRED, Reason.GROUP_DELETED),
}


class MirroredLife:
    """A group whose log is mirrored, an action a batch.

    Sweeps come every millisecond, and between two actions there is at least one: so nobody deletes what is due already, and no
    two operations have one timestamp, of which a log tells nothing.
    """

    def __init__(self) -> None:
        self.group = GroupHistory(
            offsets_retention_ms=MINUTE,
            offsets_retention_check_interval_ms=1,
            group_initial_rebalance_delay_ms=0,
            group_consumer_session_timeout_ms=45_000,
        )
        self.topics = {name: Topic(name, topic_id(name, 0), 2) for name in TOPICS}
        self.lives_of_topics = dict.fromkeys(TOPICS, 0)
        self.classic_member: str | None = None
        self._so_far = GroupSoFar("g", GroupRows())
        self._taken = 0
        self._learn()

    def act(self, action: Callable[[MirroredLife], object], sleep_ms: int) -> None:
        self.group.sleep(sleep_ms)
        self.check()
        action(self)
        self.check()

    def check(self) -> None:
        """Of the rows that are new, each with its own time a batch."""
        new = self.group.rows[self._taken :]
        for place, row in enumerate(new, self._taken):
            row["place"] = place
        self._taken += len(new)
        for time_ms in sorted({row["event_time_ms"] for row in new}):
            rows = [row for row in new if row["event_time_ms"] == time_ms]
            self._check_append(rows)

    def _check_append(self, rows: list[dict[str, Any]]) -> None:
        knew_group = self._so_far.is_known
        present = {topic.name: topic.topic_id for topic in self.topics.values()}
        facts = ClusterFacts(MINUTE, {"__consumer_offsets": topic_id("log", 0), **present})
        logged = [logged_row(row) for row in rows]
        found = {
            one.source_offset: one.reason for one in infer_reasons(self._so_far, logged, 0, facts)
        }
        for row in logged:
            if row.is_lost_offset or row.is_end_of_group:
                # Of a group that has only stored offsets, and has none, the log does not tell that it is there.
                known = knew_group and Reason(row.reason) in ENDS
                assert found.get(row.source_offset) == (row.reason if known else None), rows

    def _learn(self, *deleted: Topic) -> None:
        self.group.learn_topics(*self.topics.values(), deleted=deleted)

    # ---- actions ----------------------------------------------------------------------------

    def commit(self, topic: str, partition: int, retention_ms: int | None) -> None:
        self._learn()  # a group that is not there yet does not know the ids that its offsets are to have
        membership = self.group.group.classic
        if self.classic_member and membership and self.classic_member in membership.members:
            who = (self.classic_member, membership.generation)
            self.group.commit({topic: {partition: 1}}, *who)
        elif retention_ms is None:
            self.group.commit({topic: {partition: 1}})
        else:
            self.group.commit({topic: {partition: 1}}, retention_ms=retention_ms, version=3)

    def join_classic(self, topic: str) -> None:
        membership = self.group.group.membership
        if membership is None or not membership.members:
            [self.classic_member] = self.group.form(topics=[topic])

    def leave_classic(self) -> None:
        if self.classic_member:
            self.group.leave(self.classic_member)
            self.classic_member = None

    def join_consumer(self, topic: str) -> None:
        self.group.consumers.join("m", [topic])

    def leave_consumer(self) -> None:
        if "m" in self.group.consumers.epochs:
            self.group.consumers.leave("m")

    def delete_topic(self, topic: str, *, comes_back: bool) -> None:
        """Or make it anew, if it is gone; under another id, which tells nothing where the log has none of the offset's."""
        gone = self.topics.pop(topic, None)
        offsets = self.group.group.offsets.get(topic, {}).values()
        if gone is None or (comes_back and all(o.expire_timestamp_ms is None for o in offsets)):
            self.lives_of_topics[topic] += 1
            self.topics[topic] = Topic(topic, topic_id(topic, self.lives_of_topics[topic]), 2)
        self._learn(*([gone] if gone else []))


def topic_id(name: str, life: int) -> str:
    return f"{name}{life}".ljust(22, "A")


def logged_row(row: dict[str, Any]) -> LoggedRow:
    """As the mirror has it, but with the reason that the state machine gave."""
    fields = {name: row[name] for name in LoggedRow._fields if name in row}
    return LoggedRow(
        **fields
        | {
            "batch_id": 0,
            "seq": row["place"],
            "event_time": row["event_time_ms"],
            "source_partition": 0,
            "source_offset": row["place"],
        }
    )


topics = st.sampled_from(TOPICS)
partitions = st.sampled_from([0, 1])
retentions = st.sampled_from([None, None, 1, MINUTE // 2])
actions: st.SearchStrategy[Callable[[MirroredLife], object]] = st.one_of(
    st.builds(
        lambda topic, partition, kept: lambda life: life.commit(topic, partition, kept),
        *(topics, partitions, retentions),
    ),
    st.builds(lambda topic: lambda life: life.join_classic(topic), topics),
    st.just(MirroredLife.leave_classic),
    st.builds(lambda topic: lambda life: life.join_consumer(topic), topics),
    st.just(MirroredLife.leave_consumer),
    st.builds(
        lambda topic, partition: lambda life: life.group.delete_offsets({topic: [partition]}),
        *(topics, partitions),
    ),
    st.just(lambda life: life.group.delete()),
    st.builds(
        lambda topic, comes_back: lambda life: life.delete_topic(topic, comes_back=comes_back),
        *(topics, st.booleans()),
    ),
)
sleeps = st.sampled_from([1, 2, 10_000, MINUTE // 2, MINUTE - 1, MINUTE, MINUTE + 1])


@given(st.lists(st.tuples(actions, sleeps), max_size=25))
def test_reasons_are_those_of_the_state_machine(script: list[tuple[Any, int]]) -> None:
    life = MirroredLife()
    for action, sleep_ms in script:
        life.act(action, sleep_ms)
