"""Whole batches are decoded as single messages are, whatever is in them."""

from __future__ import annotations

from itertools import islice
from random import Random

import pyarrow as pa
import pytest

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.mirror.arrow_decoder import decode_batch, decode_batches
from tests.support.message_batches import batch_of, expected
from tests.support.offsets_topic_messages import Message, damaged, recorded

TOPIC_ID = "4ksO1bcLSgCStYJnTlCVLg"
FUZZED, FUZZED_AT_ONCE = 100_000, 10_000
METADATA = ("", "m", "two words", 'a "quote"', "back\\slash", "tab\t", "del\x7f", "ü", "x" * 126)
METADATA += ("x" * 127, "x" * 20)


def commit(offset: int = 42, version: int = 3, partition: int = 0, **fields: object) -> Message:
    key = Key(1, {"group": "billing", "topic": "orders", "partition": partition})
    says = {
        "offset": offset,
        "leaderEpoch": 7,
        "metadata": "",
        "commitTimestamp": 1_700_000_000_000,
        "expireTimestamp": 1_800_000_000_000,
        **fields,
    }
    return Message(*encode_entry(LogEntry(key, RecordValue(version=version, data=says))))


def of_the_bytes(decoded: pa.RecordBatch) -> list[dict[str, object]]:
    others = {"event_time", "source_partition", "source_offset", "seq"}
    rows = decoded.to_pylist()
    return [{name: row[name] for name in row if name not in others} for row in rows]


def check(messages: list[Message]) -> None:
    assert of_the_bytes(decode_batch(batch_of(messages), {})) == [*map(expected, messages)]


def test_a_commit_is_a_row_with_kafkas_json() -> None:
    [row] = decode_batch(batch_of([commit(metadata="m")]), {}).to_pylist()

    assert row["group_id"] == "billing"
    assert row["record_type"] == 1
    assert row["key"] == '{"type":1,"data":{"group":"billing","topic":"orders","partition":0}}'
    assert row["value"] == (
        '{"version":3,"data":{"offset":42,"leaderEpoch":7,"metadata":"m","commitTimestamp":1700000000000}}'
    )
    assert (row["topic"], row["partition"], row["member_id"]) == ("orders", 0, None)
    assert (row["offset"], row["letter"]) == (42, None)


@pytest.mark.parametrize("version", range(5))
@pytest.mark.parametrize("metadata", METADATA)
def test_many_commits_of_one_layout_are_read_as_single_ones(version: int, metadata: str) -> None:
    offsets = (0, 1, -1, 2**63 - 1, -(2**63), 123_456_789)
    check([commit(offsets[n % 6], version, leaderEpoch=n, metadata=metadata) for n in range(40)])


@pytest.mark.parametrize("metadata", METADATA)
def test_a_topic_id_is_read_whatever_stands_before_it(metadata: str) -> None:
    ids = (TOPIC_ID, "A" * 22, "AAAAAAAAAAAAAAAAAAAAAQ", "_" * 21 + "w")
    check([commit(n, 4, metadata=metadata, topicId=ids[n % 4]) for n in range(64)])


def test_messages_of_every_type_and_version_and_damaged_ones() -> None:
    """Of each layout there are enough to be read together."""
    check([message for message, _ in recorded()] * 17)


def test_values_that_end_elsewhere_are_left_to_the_decoder_of_single_messages() -> None:
    """A topic id whose size is announced wrong, bytes behind the last field, two tags, an unknown one."""
    good = commit(5, 4, topicId=TOPIC_ID)
    assert good.value is not None
    tags = good.value[:-18]
    odd = [
        good.value[:24] + b"\x00\x11" + good.value[26:],
        good.value + b"\x00",
        tags[:-1] + b"\x02" + good.value[-18:] + good.value[-18:],
        tags + b"\x05" + good.value[-17:],
        good.value[:14] + b"\x00" + good.value[15:],
        good.value[:14] + b"\x81\x00" + good.value[15:],
    ]
    check([Message(good.key, value) for value in odd for _ in range(20)])


def test_damaged_messages_never_stop_it() -> None:
    """Most keep their length, so that they stand among whole ones of their layout; every fifth is of any type."""
    random = Random(15)  # noqa: S311 - the same damages every time
    commits = [commit(n, 3 + n % 2, n % 3, metadata="m" * (n % 2)) for n in range(8)]
    commits += [commit(n, 4, topicId=TOPIC_ID) for n in range(4)]
    of_any_type = [message for message, verdict in recorded() if "json" in verdict]
    sources = (of_any_type, commits, commits, commits, commits)
    fuzzed = (damaged(random, random.choice(sources[n % 5])) for n in range(FUZZED))
    while messages := list(islice(fuzzed, FUZZED_AT_ONCE)):
        check(messages)


def test_a_message_without_key_is_a_letter_and_its_bytes_are_in_the_log() -> None:
    decoded = decode_batch(batch_of([(None, b"\x00"), commit()]), {}).to_pylist()

    assert decoded[0]["letter"] == {"reason": "key: is null", "key": None, "value": b"\x00"}
    assert (decoded[0]["group_id"], decoded[0]["record_type"]) == ("", -3)
    assert decoded[0]["key"] == '{"type":-3,"data":{"raw":null,"fault":"key: is null"}}'
    assert decoded[0]["value"] == '{"version":0,"data":{"raw":"AA=="}}'
    assert (decoded[0]["seq"], decoded[0]["source_offset"]) == (0, 0)
    assert (decoded[1]["record_type"], decoded[1]["letter"]) == (1, None)


def test_the_row_of_a_letter_names_the_group_where_its_key_could_be_read() -> None:
    """The topic and the partition it does not: it is no commit."""
    [row] = decode_batch(batch_of([(commit().key, b"\x00\x09")]), {}).to_pylist()

    assert (row["group_id"], row["record_type"]) == ("billing", -3)
    assert row["letter"]["reason"] == "OffsetCommitValue: version: 9 is not in 0-4"
    assert (row["topic"], row["partition"], row["offset"]) == (None, None, None)
    assert record_types.decode(row["key"], row["value"]) == (
        commit().key,
        b"\x00\x09",
        "OffsetCommitValue: version: 9 is not in 0-4",
    )


def test_a_tombstone_under_a_damaged_key_stays_one() -> None:
    [row] = decode_batch(batch_of([(b"\x00\x63", None)]), {}).to_pylist()

    assert row["value"] is None
    assert record_types.decode(row["key"], row["value"])[:2] == (b"\x00\x63", None)


def test_an_empty_batch_has_no_rows() -> None:
    assert decode_batch(batch_of([]), {}).num_rows == 0


def test_a_slice_of_a_batch_is_decoded_as_it_is() -> None:
    messages = [commit(n) for n in range(50)]
    decoded = decode_batch(batch_of(messages).slice(7, 30), {}).to_pylist()

    assert [row["offset"] for row in decoded] == list(range(7, 37))


def test_rows_are_counted_by_source_partition_over_the_batches_of_a_task() -> None:
    counts = [(0, 2), (3, 1), (0, 1)]
    batches = [batch_of([commit()] * count, partition) for partition, count in counts]
    decoded = list(decode_batches(iter(batches), None))

    assert [each["seq"].to_pylist() for each in decoded] == [[0, 1], [0], [2]]
    assert [each["source_partition"].to_pylist() for each in decoded] == [[0, 0], [3], [0]]


def test_times_that_no_calendar_shows_are_the_nearest_that_one_does() -> None:
    """Of a record a client may say any time."""
    batch = batch_of([commit()] * 3)
    times = pa.array([-(2**63), 1_700_000_000_000_000, 2**63 - 1], batch.schema.field(4).type)
    rows = decode_batch(batch.set_column(4, "timestamp", times), {}).to_pylist()

    assert [row["event_time"].isoformat() for row in rows] == [
        "0001-01-01T00:00:00+00:00",
        "2023-11-14T22:13:20+00:00",
        "9999-12-31T23:59:59.999000+00:00",
    ]


def test_times_and_places_stay_as_they_are() -> None:
    rows = decode_batch(batch_of([commit()] * 3), {}).to_pylist()

    assert [row["source_offset"] for row in rows] == [0, 1, 2]
    assert [row["event_time"].timestamp() for row in rows] == [0, 1, 2]
