"""A mirrored log leaves the same tables, whatever a cleaner has left of it and into whichever stretches it is cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec import json, structs

from group_coordinator.codecs import offsets_topic
from group_coordinator.codecs.records import log_entry
from group_coordinator.core.model.records import (
    ConfigRecord,
    OffsetRecord,
    Reason,
    Record,
    TransactionMarker,
)
from group_coordinator.tables.compaction.rows import GroupRow, GroupRows, OffsetRow, StoredLogEntry
from group_coordinator.testing import GroupDriver
from tests.conformance.language.lines import Story
from tests.conformance.random_scripts.classic import RandomClassicScript
from tests.conformance.random_scripts.consumer import RandomConsumerScript
from tests.conformance.stories import STORIES
from tests.property.consumer_lives import IDS, Steps, life_of
from tests.property.consumer_lives import STEPS as CONSUMER_STEPS
from tests.property.foreign_lives import IDS as FOREIGN_IDS
from tests.property.foreign_lives import SOURCES, STEPS, ForeignLife, Step, cleaned, lived
from tests.property.lives import CONTEXT, Script, scripts
from tests.property.test_compaction import Tables, entries_of_lines, logs_of
from tests.support.group_updates import lines_of, updated

NAMES = {topic_id: name for ids in (IDS, FOREIGN_IDS) for name, topic_id in ids.items()}


def content(rows: GroupRows) -> dict[str, dict[object, Any]]:
    """All columns, but those of the last change, and of forecasts whether there is one.

    What is overdue goes with the next sweep, and that is the next one after the last record.
    """
    return {
        table: {key: without_times(row) for key, row in of_table.items()}
        for table, of_table in rows.by_table().items()
    }


def without_times(row: Any) -> Any:
    row = structs.replace(row, updated_at=0, batch_id=0)
    if isinstance(row, GroupRow):
        return structs.replace(row, next_expiration=row.next_expiration and 1)
    return (
        structs.replace(row, expires_at=row.expires_at and 1) if isinstance(row, OffsetRow) else row
    )


def check_cleaned(
    log: list[StoredLogEntry], data: st.DataObject, names: Mapping[str, str] = NAMES
) -> GroupRows:
    """The rows of the whole log, which any part that a cleaner leaves must give as well; all topics' names are known."""
    whole = Tables(log, topic_names=names).rows
    places = st.integers(0, len(log))
    dirty_from = data.draw(places)
    kept = list(cleaned(log, dirty_from, data.draw(st.integers(0, dirty_from))))
    cuts = sorted(data.draw(st.sets(st.integers(0, len(kept)), max_size=5)))
    stretches = [kept[start:end] for start, end in pairwise([0, *cuts, len(kept)])]

    tables = Tables(*stretches, topic_names=names)
    assert content(tables.rows) == content(whole)
    assert tables.take(kept[data.draw(st.integers(0, len(kept))) :]) == 0
    return whole


def mirrored(number: int, record: Record, at_ms: int) -> list[StoredLogEntry]:
    """As a mirror that reads what is committed has a record of ours: from Kafka's bytes."""
    match record:
        case ConfigRecord():
            return []
        case TransactionMarker():
            committed = [
                OffsetRecord(topic, partition, offset, Reason.MIRRORED)
                for topic, partition, offset in record.offsets
            ]
            return [entry for each in committed for entry in mirrored(number, each, at_ms)]
        case OffsetRecord() if record.producer_id is not None:
            return []
    _, entry = offsets_topic.decode_entry(*offsets_topic.encode("g", record))
    value = None if entry.value is None else json.encode(entry.value).decode()
    key = json.encode(entry.key).decode()
    return [StoredLogEntry(number, 0, key, value, at_ms, "mirrored", inferred=False)]


def mirrored_entries(log: Sequence[StoredLogEntry]) -> list[StoredLogEntry]:
    found = [
        entry
        for own in log
        for entry in mirrored(own.batch_id, log_entry.decode(own.key, own.value), own.event_time)
    ]
    return [structs.replace(entry, batch_id=number) for number, entry in enumerate(found)]


@given(steps=st.lists(STEPS, max_size=40), data=st.data())
def test_share_and_streams_groups(steps: list[Step], data: st.DataObject) -> None:
    life = lived(steps)
    rows = check_cleaned(life.log, data)
    assert shown(rows) == expected(life)


def shown(rows: GroupRows) -> Any:
    group = rows.group
    return (
        group and (group.group_type, group.protocol_type, group.generation_or_epoch),
        {
            member_id: {(held.topic, held.partition) for held in row.assigned_partitions or ()}
            for member_id, row in rows.members.items()
        },
        {partition: row.committed_offset for (_, partition), row in rows.offsets.items()},
    )


def expected(life: ForeignLife) -> Any:
    topics = ["orders"] if life.kind == "share" else SOURCES["1"]
    group = life.kind and (life.kind, life.kind, life.epoch)
    return (
        group or (("classic", "", 0) if life.committed else None),
        {
            member_id: {(topic, partition) for topic in topics for partition in partitions}
            for member_id, partitions in life.members.items()
        },
        life.committed,
    )


@given(script=scripts(), data=st.data())
def test_classic_groups(script: Script, data: st.DataObject) -> None:
    lines = lines_of(updated("g", None, script.rows, script.now_ms, CONTEXT))
    check_cleaned(mirrored_entries(entries_of_lines(lines)), data)


@given(steps=st.lists(CONSUMER_STEPS, max_size=30), data=st.data())
def test_consumer_groups(steps: Steps, data: st.DataObject) -> None:
    log: list[StoredLogEntry] = []
    done = 0

    def write_log(driver: GroupDriver) -> None:
        nonlocal done
        for record in driver.log[done:]:
            log.extend(mirrored(0, record, driver.now_ms))
        done = len(driver.log)

    life_of(steps, write_log)
    check_cleaned(
        [structs.replace(entry, batch_id=number) for number, entry in enumerate(log)], data
    )


def check_script(story: Story, data: st.DataObject) -> None:
    for own in logs_of(story):
        check_cleaned(mirrored_entries(own), data, names_in(own))


def names_in(own: Sequence[StoredLogEntry]) -> dict[str, str]:
    """What our log tells of topics and a mirrored one does not."""
    names: dict[str, str] = {}
    for entry in own:
        value = json.decode(entry.value or "{}")
        names |= value.get("topicNames", {})
        commits = value.get(
            "offsets", [{**json.decode(entry.key)["data"], **value.get("data", {})}]
        )
        names |= {each["topicId"]: each["topic"] for each in commits if each.get("topicId")}
    return names


@given(name=st.sampled_from(sorted(STORIES)), data=st.data())
def test_the_groups_of_a_story(name: str, data: st.DataObject) -> None:
    check_script(STORIES[name], data)


@given(seed=st.integers(0, 100_000), data=st.data())
def test_the_groups_of_a_random_script(seed: int, data: st.DataObject) -> None:
    """Transactions are in it, and migrations in the second one."""
    check_script(RandomClassicScript(seed).story("classic"), data)
    check_script(RandomConsumerScript(seed).story("consumer"), data)
