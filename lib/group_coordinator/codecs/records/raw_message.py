"""A message of a mirrored topic that is unreadable or has no effect: its bytes and the fault."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, json

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, RecordValue


class _KeyData(Struct, frozen=True, gc=False):
    """The bytes of the key, as base64 in JSON, and the fault."""

    raw: bytes | None
    fault: str


class _ValueData(Struct, frozen=True, gc=False):
    """The bytes of the value."""

    raw: bytes


class RawMessage(NamedTuple):
    """An original message. None: it had no key, or no value."""

    key: bytes | None
    value: bytes | None
    fault: str


_encode = json.Encoder().encode
_decode_key = json.Decoder(Key[_KeyData]).decode
_decode_value = json.Decoder(RecordValue[_ValueData]).decode


def encode(message: RawMessage) -> tuple[str, str | None]:
    """Return key and value of the row in the log."""
    key = _encode(Key(record_types.RAW_MESSAGE, _KeyData(message.key, message.fault))).decode()
    if message.value is None:
        return key, None
    return key, _encode(RecordValue(data=_ValueData(message.value))).decode()


def decode(key: str, value: str | None) -> RawMessage:
    """Return the message of a row of the log."""
    about = _decode_key(key).data
    return RawMessage(
        about.raw, None if value is None else _decode_value(value).data.raw, about.fault
    )
