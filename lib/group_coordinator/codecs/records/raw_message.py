"""A message of a mirrored topic that could not be read, or does not count: its bytes, and what is wrong with them."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct, json

from group_coordinator.codecs.records import record_types
from group_coordinator.codecs.records.record_types import Key, Value


class _KeyData(Struct, frozen=True, gc=False):
    """The bytes of the key, as base64 in JSON, and why the message was not taken."""

    raw: bytes | None
    fault: str


class _ValueData(Struct, frozen=True, gc=False):
    """The bytes of the value."""

    raw: bytes


class RawMessage(NamedTuple):
    """A message as it came; null where it had no key, or no value."""

    key: bytes | None
    value: bytes | None
    fault: str


_encode = json.Encoder().encode
_decode_key = json.Decoder(Key[_KeyData]).decode
_decode_value = json.Decoder(Value[_ValueData]).decode


def encode(message: RawMessage) -> tuple[str, str | None]:
    """Key and value of its row in the log."""
    key = _encode(Key(record_types.RAW_MESSAGE, _KeyData(message.key, message.fault))).decode()
    if message.value is None:
        return key, None
    return key, _encode(Value(data=_ValueData(message.value))).decode()


def decode(key: str, value: str | None) -> RawMessage:
    """The message of a log row."""
    about = _decode_key(key).data
    return RawMessage(
        about.raw, None if value is None else _decode_value(value).data.raw, about.fault
    )
