"""A group configuration as a record. Kafka keeps it in its metadata log, so number and layout are our own."""

from __future__ import annotations

from msgspec import Struct, json

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, LogEntry, RecordValue
from group_coordinator.core.model.records import ConfigRecord, Reason


class ConfigKeyData(Struct, frozen=True, gc=False):
    group: str
    name: str


class ConfigData(Struct, frozen=True, gc=False):
    value: str


_decode_key = json.Decoder(Key[ConfigKeyData]).decode
_decode_value = json.Decoder(RecordValue[ConfigData]).decode


def encode(group_id: str, record: ConfigRecord) -> LogEntry:
    key = Key(record_types.GROUP_CONFIG, ConfigKeyData(group_id, record.name))
    return LogEntry(
        key, None if record.value is None else RecordValue(data=ConfigData(record.value))
    )


def decode(key: str, value: str | None, reason: Reason) -> ConfigRecord:
    setting = None if value is None else _decode_value(value).data.value
    return ConfigRecord(_decode_key(key).data.name, setting, reason)
