"""Damage that leaves a message readable ends nothing behind the decoder: neither the reasons of tombstones nor the tables."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from group_coordinator.mirror.arrow_decoder import decode_batch
from group_coordinator.mirror.group_so_far import GroupSoFar, LoggedRow
from group_coordinator.mirror.inference import ClusterFacts, infer_reasons
from group_coordinator.tables.compaction.rows import GroupRows, StoredLogEntry, to_arrow
from group_coordinator.tables.creation import COMPACTED
from tests.support.message_batches import batch_of
from tests.support.mirrored_log import MirroredLog, MirroredTables
from tests.support.offsets_topic_messages import Message, damaged, recorded

WHOLE = [message for message, verdict in recorded() if "json" in verdict]
MESSAGES = 100
APPEND = 5
"""So many have one timestamp."""
RETENTION_MS = 60_000


def drawn(random: Random) -> list[Message]:
    """Every third one is whole."""
    whole = random.choices(WHOLE, k=MESSAGES)
    return [message if n % 3 == 0 else damaged(random, message) for n, message in enumerate(whole)]


@given(seed=st.integers(0, 1_000_000))
def test_all_that_can_be_read_is_taken_for_the_log_of_one_group(seed: int) -> None:
    sent = drawn(Random(seed))  # noqa: S311 - the same every time, no secret
    decoded = decode_batch(batch_of(sent), {}).to_pylist()
    check_letters(sent, decoded)
    readable = [row for row in decoded if row["letter"] is None]

    check_reasons([logged(place, row) for place, row in enumerate(readable)])
    check_tables([entry(place, row) for place, row in enumerate(readable)])


def check_letters(sent: list[Message], decoded: list[dict[str, Any]]) -> None:
    for message, row in zip(sent, decoded, strict=True):
        if row["letter"] is not None:
            assert (row["letter"]["key"], row["letter"]["value"]) == message


def check_reasons(rows: list[LoggedRow]) -> None:
    facts = ClusterFacts(RETENTION_MS, {})
    found = {
        one.source_offset for one in infer_reasons(GroupSoFar("g", GroupRows()), rows, 0, facts)
    }
    assert found <= {row.source_offset for row in rows if row.value is None}


def check_tables(log: list[StoredLogEntry]) -> None:
    tables = MirroredTables()
    tables.take(MirroredLog(log))
    for definition in COMPACTED:
        rows = tables.rows.by_table()[definition.name].values()
        assert to_arrow(rows, definition.no_rows().schema).num_rows == len(rows)


def logged(place: int, row: dict[str, Any]) -> LoggedRow:
    names = ("record_type", "key", "value", "topic", "partition")
    return LoggedRow(
        **{name: row[name] for name in names},
        batch_id=0,
        seq=place,
        event_time=place // APPEND,
        reason="mirrored",
        source_partition=0,
        source_offset=place,
    )


def entry(place: int, row: dict[str, Any]) -> StoredLogEntry:
    return StoredLogEntry(0, place, row["key"], row["value"], place // APPEND, "mirrored")
