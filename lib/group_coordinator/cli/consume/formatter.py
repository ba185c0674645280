"""Formatter of records, like the DefaultMessageFormatter of kafka-console-consumer."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

import click

_TEXTS = {
    "key.separator": "\t",
    "line.separator": "\n",
    "headers.separator": ",",
    "null.literal": "null",
}
_FIELDS = ("timestamp", "partition", "offset", "delivery", "epoch", "headers", "key", "value")
"""Fields in the order of the output."""
_DESERIALIZED = ("key.deserializer", "value.deserializer", "headers.deserializer")
_KNOWN = (*(f"print.{field}" for field in _FIELDS), *_TEXTS, *_DESERIALIZED)
_JAVA_PACKAGE = "org.apache.kafka.common.serialization."
_NUMBERS = {
    "ShortDeserializer": ">h",
    "IntegerDeserializer": ">i",
    "LongDeserializer": ">q",
}
_TIMESTAMP_TYPES = {0: b"CreateTime:%d", 1: b"LogAppendTime:%d"}

Deserializer = Callable[[bytes], bytes]
Record = Any
"""Record class of kafka-python."""


class Formatter:
    """Formats records by the properties print.key, key.separator and so on.

    Raises:
        click.UsageError: a property or its value is unknown.
    """

    def __init__(self, properties: Mapping[str, str]) -> None:
        for name in properties.keys() - set(_KNOWN):
            raise click.UsageError(
                f"{name} is not a property of the formatter: give one of {', '.join(_KNOWN)}"
            )
        given = {**_TEXTS, "print.value": "true", **properties}
        self._between, self._end, self._between_headers, self._null = (
            given[name].encode() for name in _TEXTS
        )
        self._key, self._value, self._header = (
            _deserializer(given.get(name, "")) for name in _DESERIALIZED
        )
        printers: Mapping[str, Callable[[Record], bytes]] = {
            "timestamp": _timestamp,
            "partition": lambda record: b"Partition:%d" % record.partition,
            "offset": lambda record: b"Offset:%d" % record.offset,
            # kafka-console-consumer passes its formatter a copy of the record without these two fields.
            "delivery": lambda _: b"Delivery:NOT_PRESENT",
            "epoch": lambda _: b"Epoch:NOT_PRESENT",
            "headers": self._headers,
            "key": lambda record: self._content(record.key, self._key),
            "value": lambda record: self._content(record.value, self._value),
        }
        self._printers = [
            printers[field]
            for field in _FIELDS
            # As Java's Boolean.parseBoolean: all other words are false.
            if given.get(f"print.{field}", "").strip().casefold() == "true"
        ]

    def line(self, record: Record) -> bytes:
        """Line of the record, with a separator between its fields and at its end; empty without fields.

        Raises:
            ValueError: the deserializer cannot read the bytes.
        """
        fields = [print_field(record) for print_field in self._printers]
        return self._between.join(fields) + self._end if fields else b""

    def _headers(self, record: Record) -> bytes:
        headers = [
            name.encode() + b":" + self._content(value, self._header)
            for name, value in record.headers
        ]
        return self._between_headers.join(headers) or b"NO_HEADERS"

    def _content(self, content: bytes | None, deserializer: Deserializer) -> bytes:
        return self._null if content is None else deserializer(content)


def _timestamp(record: Record) -> bytes:
    text = _TIMESTAMP_TYPES.get(record.timestamp_type)
    return b"NO_TIMESTAMP" if text is None else text % record.timestamp


def _deserializer(java_class: str) -> Deserializer:
    name = java_class.strip().removeprefix(_JAVA_PACKAGE)
    if name in {"", "ByteArrayDeserializer"}:
        return bytes
    if name == "StringDeserializer":
        # Java replaces invalid UTF-8 too.
        return lambda content: content.decode(errors="replace").encode()
    if name in _NUMBERS:
        number = struct.Struct(_NUMBERS[name])
        return lambda content: _number(number, content)
    known = ", ".join(["ByteArrayDeserializer", "StringDeserializer", *_NUMBERS])
    raise click.UsageError(f"{java_class} is not a known deserializer: give one of {known}")


def _number(number: struct.Struct, content: bytes) -> bytes:
    if len(content) != number.size:
        raise ValueError(f"{len(content)} bytes are not a number of {number.size} bytes")
    [value] = number.unpack(content)
    return b"%d" % value
