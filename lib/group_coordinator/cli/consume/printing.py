"""Printing of records: a formatter like the DefaultMessageFormatter of kafka-console-consumer, and a loop until a limit, a timeout or a signal."""

from __future__ import annotations

import os
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import IO, NamedTuple

import click

from group_coordinator.cli.consume.sources import Record, RecordSource

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
_NUMBERS = {"ShortDeserializer": ">h", "IntegerDeserializer": ">i", "LongDeserializer": ">q"}
_TIMESTAMP_TYPES = {0: b"CreateTime:%d", 1: b"LogAppendTime:%d"}

Deserializer = Callable[[bytes], bytes]


class Formatter:
    """Formats records by the properties print.key, key.separator and so on. Raises click.UsageError: a property is unknown."""

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


@contextmanager
def standard_out() -> Iterator[IO[bytes]]:
    """Yield the bytes of standard output; a closed pipe ends the block, as it ends Kafka's tool."""
    out = sys.stdout.buffer
    try:
        yield out
    except BrokenPipeError:
        click.echo("Unable to write to standard out, closing consumer.", err=True)
        # Python writes the rest of the buffer at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class PrintingLimits(NamedTuple):
    """Limits of the output; None: no limit."""

    max_messages: int | None
    timeout_s: float | None
    skips_errors: bool


class Printing:
    """Prints and counts the records of a source."""

    def __init__(
        self,
        source: RecordSource,
        formatter: Formatter,
        limits: PrintingLimits,
        out: IO[bytes],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._source = source
        self._formatter = formatter
        self._limits = limits
        self._out = out
        self._clock = clock
        self.count = 0

    def run(self, stop: Event, most: int) -> None:
        """Print until `stop` or a limit, `most` records of one poll; then print their number. Raises ValueError: a record cannot be printed."""
        try:
            self._run(stop, most)
        finally:
            click.echo(f"Processed a total of {self.count} messages", err=True)

    def _run(self, stop: Event, most: int) -> None:
        heard_s = self._clock()
        while not stop.is_set() and (left := self._left(most)):
            records = self._source.poll(left)
            if records:
                heard_s = self._clock()
            elif self._is_silent_since(heard_s):
                return
            for record in records:
                self._print(record)
            # Flushed after each poll, so that a pipe sees the records at once.
            self._out.flush()

    def _is_silent_since(self, heard_s: float) -> bool:
        timeout_s = self._limits.timeout_s
        return timeout_s is not None and self._clock() - heard_s > timeout_s

    def _left(self, most: int) -> int:
        wanted = self._limits.max_messages
        return most if wanted is None else min(most, wanted - self.count)

    def _print(self, record: object) -> None:
        # As in Kafka's tool, skipped records count too.
        self.count += 1
        try:
            line = self._formatter.line(record)
        except ValueError as error:
            if not self._limits.skips_errors:
                raise
            click.echo(f"Error processing message, skipping this message: {error}", err=True)
        else:
            self._out.write(line)
        self._source.printed(record)
