"""Messages of __consumer_offsets that Kafka's own classes read, recorded; how they may be damaged, and what ours makes of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

from msgspec import to_builtins

from group_coordinator.codecs.offsets_topic import (
    DamagedMessageError,
    UnknownRecordTypeError,
    UnknownVersionError,
    decode_entry,
)
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from tests.conformance.language.lines import Json
from tests.support.damaged_bytes import damaged_bytes

RECORDED = Path(__file__).parents[1] / "data" / "offsets_topic.jsonl"


class Message(NamedTuple):
    """The bytes of a message; a value of None is a tombstone."""

    key: bytes
    value: bytes | None

    def in_hex(self) -> dict[str, str | None]:
        return {"key": self.key.hex(), "value": None if self.value is None else self.value.hex()}


def message(line: Json) -> Message:
    """From the hex of a line."""
    value = line["value"]
    return Message(bytes.fromhex(line["key"]), None if value is None else bytes.fromhex(value))


def entry(line: Json) -> LogEntry:
    """From the JSON of a line that says what Kafka is to write."""
    value = line["value"]
    says = None if value is None else RecordValue(version=line["version"], data=value)
    return LogEntry(Key(line["type"], line["key"]), says)


def recorded() -> Iterator[tuple[Message, Json]]:
    """Messages, and Kafka's verdict on each."""
    with RECORDED.open(encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            yield message(line), line["verdict"]


def verdict(sent: Message) -> Json:
    """What our decoder makes of a message: its JSON, or what kind of fault it has."""
    try:
        _, found = decode_entry(sent.key, sent.value)
    except UnknownRecordTypeError:
        return {"fault": "type"}
    except UnknownVersionError:
        return {"fault": "version"}
    except DamagedMessageError:
        return {"fault": "damage"}
    return {"json": {"key": to_builtins(found.key), "value": to_builtins(found.value)}}


def damaged(random: Random, whole: Message) -> Message:
    """The message with bytes cut off, changed, put in or taken out, in its key or in its value."""
    if whole.value is None or random.random() < 0.2:
        return whole._replace(key=damaged_bytes(random, whole.key))
    return whole._replace(value=damaged_bytes(random, whole.value))
