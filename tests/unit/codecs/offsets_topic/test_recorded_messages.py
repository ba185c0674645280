from __future__ import annotations

import pytest

from group_coordinator.codecs.offsets_topic import encode_entry
from group_coordinator.codecs.offsets_topic.schemas import RECORDS
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from tests.conformance.language.lines import Json
from tests.support.offsets_topic_messages import Message, recorded, verdict

RECORDED = list(recorded())
"""A message that Kafka wrote and a damaged one, in turns."""


@pytest.mark.parametrize(
    ("message", "kafkas"),
    RECORDED,
    ids=[f"line {line}" for line in range(1, len(RECORDED) + 1)],
)
def test_our_verdict_is_kafkas(message: Message, kafkas: Json) -> None:
    assert verdict(message) == kafkas


@pytest.mark.parametrize(("message", "kafkas"), RECORDED[::2])
def test_what_kafka_prints_becomes_the_bytes_that_kafka_wrote(
    message: Message, kafkas: Json
) -> None:
    key, value = kafkas["json"]["key"], kafkas["json"]["value"]
    entry = LogEntry(
        Key(key["type"], key["data"]),
        None if value is None else RecordValue(version=value["version"], data=value["data"]),
    )

    assert Message(*encode_entry(entry)) == message


def test_messages_of_every_type_and_version_were_recorded_and_damaged() -> None:
    printed = [kafkas["json"] for _, kafkas in RECORDED if "json" in kafkas]
    faults = {kafkas["fault"] for _, kafkas in RECORDED if "fault" in kafkas}

    assert faults == {"type", "version", "damage"}
    assert {
        (json["key"]["type"], json["value"] and json["value"]["version"]) for json in printed
    } == {
        (record_type, version)
        for record_type, record in RECORDS.items()
        for version in (None, *record.value.versions)
    }
