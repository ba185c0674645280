"""Messages of __consumer_offsets as the lines that replay-events would print, found in their bytes by our codecs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from msgspec import to_builtins

from group_coordinator.codecs import offsets_topic
from group_coordinator.codecs.records import log_entry, record_types
from group_coordinator.core.model.records import GroupRecord, OffsetRecord
from tests.conformance.kafka.real_broker import Message
from tests.conformance.language.lines import Json

_TIMES: Final = ("commitTimestamp", "currentStateTimestamp", "assignmentTimestamp", "timestamp")
_OF_TOPIC_IDS: Final = "metadataHash"
_VERSION_SIZE: Final = 2


def lines_of(
    messages: Sequence[Message], groups: AbstractSet[str], producers: Mapping[int, int]
) -> list[Json]:
    """The records of these groups and of these producers, the latter by what they are called."""
    lines: list[Json] = []
    committed_to: dict[int, str] = {}
    for message in messages:
        producer = producers.get(message.producer_id)
        if message.is_control:
            if producer is not None:
                lines.append(_marker(message, committed_to[producer], producer))
            continue
        group, record = offsets_topic.decode(message.key, message.value)
        if group not in groups:
            continue
        key, written = offsets_topic.encode(group, record)
        assert key == message.key
        assert _same_bytes(written, message.value, record)
        if producer is not None:
            assert isinstance(record, OffsetRecord)
            committed_to[producer] = group
            record = record.replace(producer_id=producer)
        entry = log_entry.encode(group, record)
        value = to_builtins(entry.value)
        if message.value is not None:
            value["version"] = int.from_bytes(message.value[:_VERSION_SIZE])
        lines.append(_line(group, to_builtins(entry.key), value))
    return lines


def _same_bytes(
    ours: bytes | None, kafkas: bytes | None, record: offsets_topic.MessageRecord
) -> bool:
    """Whether both values are the same; Kafka has topics and partitions of consumer groups in the order of maps."""
    if ours is None or kafkas is None or isinstance(record, OffsetRecord | GroupRecord):
        return ours == kafkas
    return sorted(ours) == sorted(kafkas)


def timeless(line: Json) -> Json:
    """Leave out when it was; of a time to expire stays the time until then."""
    kept = {name: value for name, value in line.items() if name != "at"}
    if line["kind"] != "record" or line["value"] is None:
        return kept
    data: dict[str, Any] = dict(line["value"]["data"])
    if "expireTimestamp" in data:
        data["expireTimestamp"] -= data["commitTimestamp"]
    for name in _TIMES:
        if data.get(name, -1) >= 0:
            data[name] = "<time>"
    return kept | {"value": line["value"] | {"data": data}}


def without_topic_ids(line: Json) -> Json:
    """Leave out the hash of topics: told of the same topics under other ids, the others say another one."""
    if line["kind"] != "record" or not (line["value"] or {}).get("data", {}).get(_OF_TOPIC_IDS):
        return line
    data = line["value"]["data"] | {_OF_TOPIC_IDS: "<hash of topics that have other ids>"}
    return line | {"value": line["value"] | {"data": data}}


def _marker(message: Message, group: str, producer: int) -> Json:
    """A control record as our log has it; its key is a version and a type of two bytes each."""
    kind = int.from_bytes(message.key[_VERSION_SIZE:])
    key = {
        "type": record_types.TRANSACTION_MARKER,
        "data": {"group": group, "version": 0, "type": kind},
    }
    value = {"version": 0, "producerId": producer, "data": {"coordinatorEpoch": 0}}
    return _line(group, key, value)


def _line(group: str, key: Json, value: Json | None) -> Json:
    return {"kind": "record", "groupId": group, "key": key, "value": value}
