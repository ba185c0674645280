"""Compaction leaves in the tables what core's replay leaves of the same log, into whichever stretches the log is cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from group_coordinator.codecs.records import log_entry
from group_coordinator.core.embedded_protocol import parse_assignment
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import ClassicMember
from group_coordinator.core.model.consumer_group import ConsumerGroup
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import OffsetRecord, TransactionMarker
from group_coordinator.core.offsets.expiration import next_sweep
from group_coordinator.core.replay import replay_record
from group_coordinator.tables.compaction.replayed_group import named_topics
from group_coordinator.tables.compaction.rows import (
    ConfigRow,
    GroupKey,
    GroupRow,
    GroupRows,
    MemberRow,
    Retention,
    StoredLogEntry,
)
from group_coordinator.tables.compaction.spark import apply_entries
from group_coordinator.testing import GroupDriver
from tests.conformance.kafka.coordinators import Ours
from tests.conformance.language.lines import Story
from tests.conformance.language.transcript import play
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.conformance.stories import STORIES
from tests.property.consumer_lives import IDS, STEPS, Steps, life_of
from tests.property.lives import CONFIG, CONTEXT, Script, scripts
from tests.support.group_updates import lines_of, updated

RETENTION = Retention(CONFIG.retention_ms, CONFIG.offsets_retention_check_interval_ms)
KEY = GroupKey("c", "g")


class Tables:
    """The rows of one group, kept up by compaction."""

    def __init__(
        self, *stretches: Sequence[StoredLogEntry], topic_names: Mapping[str, str] | None = None
    ) -> None:
        self.rows = GroupRows()
        self.topic_names = topic_names or {}
        for stretch in stretches:
            self.take(stretch)

    def take(self, stretch: Sequence[StoredLogEntry]) -> int:
        """How many rows a stretch of the log changes."""
        changes = list(apply_entries(KEY, self.rows, stretch, RETENTION, self.topic_names))
        for change in changes:
            row = change.row
            if not change.delete:
                self.rows.add(row)
            elif isinstance(row, GroupRow):
                self.rows.group = None
            elif isinstance(row, MemberRow):
                del self.rows.members[row.member_id]
            elif isinstance(row, ConfigRow):
                del self.rows.configs[row.name]
            else:
                del self.rows.offsets[row.topic, row.partition]
        return len(changes)

    @property
    def content(self) -> dict[str, dict[object, Any]]:
        """All columns but those of the last change, which depend on where the log was cut."""
        return {
            table: {
                key: structs.replace(row, updated_at=0, batch_id=0) for key, row in rows.items()
            }
            for table, rows in self.rows.by_table().items()
        }


class Shown(NamedTuple):
    """What the tables must show of a group, whoever says it."""

    group: tuple[object, ...] | None
    members: dict[str, tuple[object, ...]]
    offsets: dict[tuple[str, int], tuple[object, ...]]
    configs: dict[str, str]


def by_tables(rows: GroupRows) -> Shown:
    return Shown(
        None if rows.group is None else of_group_row(rows.group),
        {member_id: of_member_row(row) for member_id, row in rows.members.items()},
        {
            partition: (row.committed_offset, row.leader_epoch, row.metadata, row.commit_timestamp)
            for partition, row in rows.offsets.items()
        },
        {name: row.value for name, row in rows.configs.items()},
    )


def of_group_row(row: GroupRow) -> tuple[object, ...]:
    patterns = {entry.regex: tuple(entry.topics) for entry in row.resolved_regexes or ()}
    return (
        *(row.group_type, row.state, row.protocol_type, row.generation_or_epoch, row.leader),
        *(row.member_count, row.offset_count, row.next_expiration),
        *(row.assignment_epoch, row.metadata_hash, patterns),
    )


def of_member_row(row: MemberRow) -> tuple[object, ...]:
    assigned = row.assigned_partitions
    held = row.current_assignment
    return (
        *(row.group_instance_id, row.client_id, row.client_host, row.subscribed_topics),
        *(row.rebalance_timeout_ms, row.session_timeout_ms, row.member_epoch),
        None if assigned is None else len(assigned),
        None if held is None else {(h.topic_id, h.partition): h.assignment_epoch for h in held},
        {(t.topic_id, t.partition) for t in row.target_assignment or ()},
    )


def subscribed(group: ClassicGroup, member: ClassicMember) -> list[str] | None:
    topics = member.protocols[0].topics
    return None if topics is None or not group.is_of_consumers else sorted(topics)


def by_core(group: Group, last_ms: int) -> Shown:
    membership = group.membership
    offsets = {
        (topic, partition): (
            *(offset.offset, offset.leader_epoch, offset.metadata, offset.commit_timestamp_ms),
        )
        for topic, partitions in group.offsets.items()
        for partition, offset in partitions.items()
    }
    group.pending.clear()  # the tables do not know of them
    next_expiration = next_sweep(group, last_ms, CONFIG) if offsets else None
    counts = (len(offsets), next_expiration)
    if membership is None:
        return Shown(None, {}, offsets, group.configs)
    if isinstance(membership, ConsumerGroup):
        row, members = of_consumer_group(membership, counts), of_consumers(membership)
    else:
        row, members = of_classic_group(membership, counts), of_classic_members(membership)
    return Shown(row, members, offsets, group.configs)


def of_classic_group(group: ClassicGroup, counts: tuple[object, ...]) -> tuple[object, ...]:
    return (
        *("classic", str(group.state), group.protocol_type, group.generation, group.leader),
        *(len(group.members), *counts, None, None, {}),
    )


def of_classic_members(group: ClassicGroup) -> dict[str, tuple[object, ...]]:
    return {
        member.member_id: (
            *(member.group_instance_id, member.client_id, member.client_host),
            subscribed(group, member),
            *(member.rebalance_timeout_ms, member.session_timeout_ms, None),
            assigned_count(member.assignment) if group.is_of_consumers else None,
            *(None, set()),
        )
        for member in group.members.values()
    }


def assigned_count(assignment: bytes) -> int | None:
    parsed = parse_assignment(assignment)
    return None if parsed is None else sum(len(partitions) for _, partitions in parsed)


def of_consumer_group(group: ConsumerGroup, counts: tuple[object, ...]) -> tuple[object, ...]:
    patterns = {regex: resolved.topics for regex, resolved in group.regexes.items()}
    return (
        *("consumer", str(group.state), "consumer", group.epoch, None, len(group.members), *counts),
        *(group.assignment_epoch, group.metadata_hash, patterns),
    )


def of_consumers(group: ConsumerGroup) -> dict[str, tuple[object, ...]]:
    shown: dict[str, tuple[object, ...]] = {}
    for member_id, member in group.members.items():
        metadata, current = member.metadata, member.current
        held = {
            (t, p): epoch for t, parts in current.assigned.items() for p, epoch in parts.items()
        }
        target = {(t, p) for t, parts in group.target_of(member_id).items() for p in parts}
        shown[member_id] = (
            *(metadata.group_instance_id, metadata.client_id, metadata.client_host),
            *(list(metadata.topic_names), metadata.rebalance_timeout_ms),
            metadata.classic.session_timeout_ms if metadata.classic else None,
            *(current.epoch, len(held), held, target),
        )
    return shown


def names_committed(log: Sequence[StoredLogEntry]) -> dict[str, str]:
    """By id the topics that were committed to.

    In records of Kafka only commits tell them, and a name that no row has any more is forgotten where the log is cut; the
    samples of positions tell them at any time.
    """
    records = [log_entry.decode(entry.key, entry.value) for entry in log]
    return {
        topic_id: topic
        for record in records
        for topic_id, topic in named_topics(record, None).items()
    }


def check_compaction(
    log: Sequence[StoredLogEntry], data: st.DataObject, topic_names: Mapping[str, str] | None = None
) -> Tables:
    """Fold the log cut at random places, and compare with core, with the whole log and with doing it again."""
    group = Group("g")
    committed_in: dict[tuple[str, int], int] = {}
    empty_since: int | None = None
    for entry in log:
        record = log_entry.decode(entry.key, entry.value)
        replay_record(group, record, entry.event_time)
        if isinstance(record, OffsetRecord) and record.producer_id is None:
            committed_in[record.topic, record.partition] = entry.batch_id
        elif isinstance(record, TransactionMarker):
            committed_in |= {(t, p): entry.batch_id for t, p, _ in record.offsets}
        consumers = group.consumer
        is_empty = consumers is not None and not consumers.members
        empty_since = (empty_since or entry.event_time) if is_empty else None
    places = st.integers(0, len(log))
    cuts = sorted(data.draw(st.sets(places, max_size=5)))
    stretches = [log[start:end] for start, end in pairwise([0, *cuts, len(log)])]
    whole, cut = (Tables(*parts, topic_names=topic_names) for parts in ([log], stretches))

    assert by_tables(whole.rows) == by_core(group, log[-1].event_time if log else 0)
    assert cut.content == whole.content
    if whole.rows.group is not None and group.consumer is not None:
        assert whole.rows.group.empty_since == empty_since
    fresh = {partition: row.batch_id for partition, row in whole.rows.offsets.items()}
    assert fresh == {partition: committed_in[partition] for partition in fresh}
    assert cut.take(log[data.draw(places) :]) == 0
    return cut


def entries_of_lines(lines: Sequence[str]) -> list[StoredLogEntry]:
    """The rows of the log among the lines of a call; every row is a batch of its own."""
    rows = [json.decode(line[1:]) for line in lines if line[0] == "L"]
    return [
        entry(number, row["key"], row["value"], row["event_time_ms"])
        for number, row in enumerate(rows)
    ]


def entry(number: int, key: object, value: object, at_ms: int) -> StoredLogEntry:
    text = None if value is None else json.encode(value).decode()
    return StoredLogEntry(number, 0, json.encode(key).decode(), text, at_ms)


@given(script=scripts(), data=st.data())
def test_the_life_of_a_classic_group(script: Script, data: st.DataObject) -> None:
    lines = lines_of(updated("g", None, script.rows, script.now_ms, CONTEXT))
    check_compaction(entries_of_lines(lines), data)


@given(steps=st.lists(STEPS, max_size=30), data=st.data())
def test_the_life_of_a_consumer_group(steps: Steps, data: st.DataObject) -> None:
    log: list[StoredLogEntry] = []

    def write_log(driver: GroupDriver) -> None:
        """As the job does it: with the names of the topics that the group knows."""
        for record in driver.log[len(log) :]:
            logged = log_entry.encode("g", record, driver.group.topics)
            log.append(entry(len(log), logged.key, logged.value, driver.now_ms))

    life_of(steps, write_log)

    tables = check_compaction(log, data)
    for row in tables.rows.members.values():
        for held in (*(row.current_assignment or ()), *(row.target_assignment or ())):
            assert held.topic_id == IDS[held.topic]


def logs_of(story: Story) -> Iterator[list[StoredLogEntry]]:
    """The records of each group of a script that was played to our state machine."""
    outputs = [output for answers in play(story, Ours()).outputs for output in answers]
    logged = [output for output in outputs if output["kind"] == "record"]
    for group_id in {output["groupId"] for output in logged}:
        of_group = [output for output in logged if output["groupId"] == group_id]
        yield [
            entry(number, output["key"], output["value"], output["at"])
            for number, output in enumerate(of_group)
        ]


def check_script(story: Story, data: st.DataObject) -> None:
    for log in logs_of(story):
        check_compaction(log, data, names_committed(log))


@given(name=st.sampled_from(sorted(STORIES)), data=st.data())
def test_the_groups_of_a_story(name: str, data: st.DataObject) -> None:
    check_script(STORIES[name], data)


@given(seed=st.integers(0, 100_000), data=st.data())
def test_the_groups_of_a_random_script(seed: int, data: st.DataObject) -> None:
    """Transactions are in it, and migrations in the second one."""
    check_script(RandomClassicScript(seed).story("classic"), data)
    check_script(RandomConsumerScript(seed).story("consumer"), data)
